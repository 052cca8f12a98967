// The denoising objective: restore a text from a corrupted copy of it (T5, BART; SPEC 4.5). It is translation from one
// to the other, with other noise in every epoch.
#pragma once

#include "heddle/data/noisy_pairs.hpp"
#include "heddle/training/translate.hpp"

namespace heddle::training {

// The pairs of text on which every model is evaluated with one kind of noise: corrupted as published, always in the
// same way. Throws as NoisyPairs.
data::NoisyPairs evaluation_pairs(const models::SequenceToSequence& model, const data::TokenSource& tokens,
                                  const data::NoiseVocabulary& vocabulary, const data::PairFrames& frames,
                                  data::NoiseKind noise);

struct NoisyTexts {
  data::NoisyPairs train;
  std::optional<data::NoisyPairs> valid;
};

class Denoise : private NoisyTexts, public Translate {
 public:
  // Throws UsageError and DataError for texts and models that cannot work.
  Denoise(models::Model& model, NoisyTexts texts, const data::PairFrames& frames, const data::PairOptions& options,
          const TrainingConfig& config);

  // The documents that the texts are of.
  std::vector<Origin> origins(Index first, Index count) const override;
};

}  // namespace heddle::training

// The denoising objective: restore a text from a corrupted copy of it (T5, BART; SPEC 4.5). It is translation from one
// to the other, with other noise in every epoch.
#pragma once

#include "libcore/data/noisy_pairs.hpp"
#include "libcore/training/pair_objective.hpp"

namespace heddle::training {

// Pairs of corrupted text of which source and target fit into a training window of the model; without a seed those on
// which it is evaluated, always the same. Throws UsageError and DataError for texts and models that cannot work.
data::NoisyPairs noisy_pairs(const models::SequenceToSequence& model, const data::TokenSource& tokens,
                             const data::NoiseVocabulary& vocabulary, const data::PairFrames& frames,
                             const data::NoiseOptions& noise, std::uint64_t seed = 0);

struct NoisyTexts {
  data::NoisyPairs train;
  std::optional<data::NoisyPairs> valid;
};

class Denoise : private NoisyTexts, public PairObjective {
 public:
  // Throws UsageError and DataError for texts and models that cannot work.
  Denoise(models::Model& model, NoisyTexts texts, const data::PairFrames& frames, const data::PairOptions& options,
          const TrainingConfig& config);

  // The documents that the texts are of.
  std::vector<Origin> origins(Index first, Index count) const override;
  std::string note() const override;
};

}  // namespace heddle::training

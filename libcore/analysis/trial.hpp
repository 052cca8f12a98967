// A training run of a model on random data, from which costs are counted and times are measured.
#pragma once

#include <memory>

#include "libcore/data/pair_source.hpp"
#include "libcore/data/token_source.hpp"
#include "libcore/models/model.hpp"
#include "libcore/nn/low_rank_options.hpp"
#include "libcore/training/objective.hpp"
#include "libcore/training/trainer.hpp"

namespace heddle::analysis {

struct TrialShape {
  Index time = 0;  // tokens of a sequence; of pairs, of the source and of the target; 0: the configuration's window
  Index batch_size = 1;  // sequences of a step
  Precision precision = Precision::f32;
  LowRankOptions adapters{};  // if of any rank, they alone are trained
};

// The configuration with windows of `time` tokens. Throws UsageError, which names `time`, for more than it can hold.
models::ModelConfig with_window(models::ModelConfig config, Index time);

// Trains by the model's first objective on AdamW, with weights from the seed.
class Trial {
 public:
  // Throws UsageError as make_model() and Trainer do, and for more than most_tokens in a step.
  Trial(const models::ModelConfig& config, const TrialShape& shape, std::uint64_t seed = 1);

  // Steps read no more tokens than this.
  static constexpr Index most_tokens = Index{1} << 24;

  models::Model& model() const { return *model_; }
  training::Trainer& trainer() { return *trainer_; }
  // The counts of one step.
  training::Counts counts() const;

 private:
  Index batch_size_;
  std::unique_ptr<models::Model> model_;
  std::unique_ptr<data::TokenSource> tokens_;
  std::unique_ptr<data::PairSource> pairs_;
  std::unique_ptr<training::Objective> objective_;
  std::unique_ptr<training::Trainer> trainer_;
};

}  // namespace heddle::analysis

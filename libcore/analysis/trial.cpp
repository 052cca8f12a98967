#include "libcore/analysis/trial.hpp"

#include <algorithm>

#include "libcore/base/strings.hpp"
#include "libcore/nn/parts.hpp"
#include "libcore/training/objectives.hpp"

namespace heddle::analysis {

namespace {

std::vector<TokenId> random_ids(Index count, Index vocab, const RandomStream& stream, std::uint64_t first) {
  std::vector<TokenId> ids(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    ids[i] = static_cast<TokenId>(stream.below(first + i, static_cast<std::uint64_t>(vocab)));
  }
  return ids;
}

// Drawn when they are read.
class RandomTokens : public data::TokenSource {
 public:
  RandomTokens(Index size, Index vocab_size, std::uint64_t seed)
      : size_(size), vocab_size_(vocab_size), stream_(seed, random_site("analysis/trial/text")) {}
  Index size() const override { return size_; }
  Index vocab_size() const override { return vocab_size_; }
  std::string name() const override { return "random tokens"; }
  void read(Index offset, std::span<TokenId> out) const override {
    const std::vector<TokenId> ids =
        random_ids(static_cast<Index>(out.size()), vocab_size_, stream_, static_cast<std::uint64_t>(offset));
    std::ranges::copy(ids, out.begin());
  }

 private:
  Index size_, vocab_size_;
  RandomStream stream_;
};

// So many that each sample of a step can continue one of the step before, a few times.
std::unique_ptr<data::TokenSource> tokens_for(const models::Model& model, Index batch_size, std::uint64_t seed) {
  const Index time = model.tokens().training_length();
  check<UsageError>(batch_size <= Trial::most_tokens / time, "`batch_size` = ", batch_size, ": sequences of ", time,
                    " tokens are more than ", grouped(Trial::most_tokens),
                    " tokens in a step; give fewer, which cost as much per token");
  return std::make_unique<RandomTokens>(4 * batch_size * (time + 1), model.tokens().vocab_size(), seed);
}

// Pairs that are as long as a window with the tokens that begin and end texts. Null for models of single texts.
std::unique_ptr<data::PairSource> pairs_for(const models::Model& model, Index batch_size, std::uint64_t seed) {
  const auto* const translator = model.as<models::SequenceToSequence>();
  if (translator == nullptr) return nullptr;
  const Index length = model.tokens().training_length() - 1, source_vocab = translator->source_vocab_size();
  const RandomStream stream(seed, random_site("analysis/trial/pairs"));
  std::vector<data::TokenPair> pairs;
  std::uint64_t drawn = 0;
  for (Index i = 0; i < batch_size; ++i, drawn += 2 * static_cast<std::uint64_t>(length)) {
    pairs.push_back(
        {random_ids(length, source_vocab, stream, drawn),
         random_ids(length, model.tokens().vocab_size(), stream, drawn + static_cast<std::uint64_t>(length))});
  }
  return std::make_unique<data::PairsInMemory>(std::move(pairs), source_vocab, model.tokens().vocab_size());
}

training::TrainingConfig config_for(const TrialShape& shape, std::uint64_t seed) {
  training::TrainingConfig config;
  config.seed = seed;
  config.training.batch_size = shape.batch_size;
  config.training.precision = shape.precision == Precision::bf16 ? PrecisionChoice::bf16 : PrecisionChoice::f32;
  config.training.learning_rate = 1e-12;  // so that it cannot diverge
  return config;
}

// The rate of all but the adapters is 0.
ParameterSource weights_for(const TrialShape& shape, std::uint64_t seed) {
  const ParameterSource weights(seed);
  if (shape.adapters.lora_rank == 0) return weights;
  const auto rate = [](std::string_view name) {
    return nn::parts::of_parameter(name) == nn::parts::adapters ? 1.0 : 0;
  };
  return with_adapters(weights.trained_at(rate), shape.adapters);
}

}  // namespace

models::ModelConfig with_window(models::ModelConfig config, Index time) {
  if (time == 0) return config;
  models::TokenConfig& tokens = config.tokens();
  tokens.sequence_length = time;
  const std::optional<Index> most = tokens.max_positions();
  check<UsageError>(!most || time <= *most, "`time` = ", time, " is more than the ", most.value_or(0),
                    " positions of the model");
  return config;
}

Trial::Trial(const models::ModelConfig& config, const TrialShape& shape, std::uint64_t seed)
    : batch_size_(shape.batch_size),
      model_(models::make_model(with_window(config, shape.time), weights_for(shape, seed))),
      tokens_(tokens_for(*model_, shape.batch_size, seed)),
      pairs_(pairs_for(*model_, shape.batch_size, seed)) {
  const training::TrainingConfig training = config_for(shape, seed);
  const training::TrainingData data =
      pairs_ ? training::TrainingData{.pairs = pairs_.get()} : training::TrainingData{.text = tokens_.get()};
  objective_ = training::make_objective(training::objective_for(*model_, data.kind()),
                                        {.model = *model_, .train = data, .config = training});
  trainer_ = std::make_unique<training::Trainer>(*objective_, training);
}

training::Counts Trial::counts() const {
  return objective_->batch(0, objective_->samples_per_batch(batch_size_)).counts;
}

}  // namespace heddle::analysis

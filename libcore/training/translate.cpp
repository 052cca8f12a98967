#include "libcore/training/translate.hpp"

#include "libcore/training/objectives.hpp"

namespace heddle::training {

namespace {

Counts counts_of(std::span<const data::FramedPair> pairs) {
  Counts counts{.samples = 1};
  for (const data::FramedPair& pair : pairs) {
    const auto target = static_cast<Index>(pair.target.size());
    counts.units += static_cast<Index>(pair.source.size()) + target - 1;
    counts.targets += target - pair.given;
  }
  return counts;
}

}  // namespace

Translate::Translate(models::Model& model, const data::PairSource& train, const data::PairSource* valid,
                     const data::PairFrames& frames, const data::PairOptions& options, const TrainingConfig& config)
    : model_(model),
      translator_(models::require<models::SequenceToSequence>(model, "the translate objective", "training")),
      groups_(checked_pairs(translator_, train), frames, group_limits(translator_, config.training.batch_size, options),
              config.seed),
      options_(config.training) {
  if (valid == nullptr) return;
  valid_.emplace(
      evaluation_groups(translator_, *valid, frames,
                        group_limits(translator_, config.training.batch_size, {.batch_tokens = options.batch_tokens})));
}

Pass Translate::training_pass() const {
  return {.dropout = model_.config()->dropout, .sample_positions = groups_.longest()};
}

MicroBatch Translate::batch(Index first, Index count) const {
  std::vector<data::FramedPair> pairs;
  for (Index i = 0; i < count; ++i) {
    for (data::FramedPair& pair : groups_.group(first + i)) pairs.push_back(std::move(pair));
  }
  const Counts counts = counts_of(pairs);
  return {counts, [this, pairs = std::move(pairs)](const Pass& pass, const Counts& step) {
            Pass of_pairs = pass;  // the pairs of a step have different random numbers
            of_pairs.first_sample *= groups_.largest();
            return pair_loss(translator_, pairs, of_pairs, static_cast<double>(step.targets), options_.label_smoothing);
          }};
}

std::vector<Origin> Translate::origins(Index first, Index count) const {
  std::vector<Origin> origins;
  for (Index i = 0; i < count; ++i) {
    for (const Index pair : groups_.pairs_of(first + i)) {
      origins.push_back({"pairs of " + groups_.source().name_of(pair), groups_.source().number_in_file(pair)});
    }
  }
  return origins;
}

// As if half of a pair's tokens were of its source, except that only those of the target are predicted.
double Translate::flops_per_unit() const {
  const double source = groups_.mean_source(), target = groups_.mean_target();
  const auto time = static_cast<Index>((source + target) / 2);
  return translator_.training_flops_per_token(time, 2 * target / (source + target)) / 2;
}

std::string Translate::note() const {
  const auto left_out = [](const data::PairGroups& groups) {
    return groups.left_out() == 0 ? std::string()
                                  : concatenate(groups.source().name(), ": ", groups.left_out(), " of ",
                                                groups.source().size(), " pairs are too long and left out");
  };
  const std::string train = left_out(groups_), valid = valid_ ? left_out(*valid_) : "";
  return train + (train.empty() || valid.empty() ? "" : "; ") + valid;
}

std::vector<Metric> Translate::evaluate(const Evaluators& by) const {
  const Evaluation result = training::evaluate(translator_, *valid_, options_.eval_tokens, by);
  return {{"loss", result.nats_per_token()}};
}

namespace {

struct TranslateSettings final : ObjectiveSettings {
  static constexpr const char* kind_name = "translate";
  data::PairOptions pairs;

  std::unique_ptr<Objective> make(const ObjectiveInputs& inputs) const override {
    const auto& model = models::require<models::SequenceToSequence>(inputs.model, "translation", "training");
    const data::PairFrames frames = inputs.tokenizer == nullptr
                                        ? data::PairFrames{{}, {}, model.start_token().value_or(0)}
                                        : pair_frames(model, *inputs.tokenizer, inputs.source_tokenizer);
    return std::make_unique<Translate>(inputs.model, *inputs.train.pairs, inputs.valid.pairs, frames, pairs,
                                       inputs.config);
  }

  ObjectiveEvaluation evaluate(const EvaluationInputs& inputs) const override {
    const auto& model = models::require<models::SequenceToSequence>(inputs.model, "a pairs file", inputs.model_name);
    return evaluate_pairs(inputs, *inputs.data.pairs, pair_frames(model, *inputs.tokenizer, inputs.source_tokenizer));
  }

  Index batch_tokens() const override { return pairs.batch_tokens; }

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    data::PairOptions::visit(self.pairs, visitor);
  }
};

}  // namespace

ObjectiveChoice translate_defaults() {
  return TranslateSettings();
}

}  // namespace heddle::training

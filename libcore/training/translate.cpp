#include "libcore/training/translate.hpp"

#include <limits>

#include "libcore/ops/cross_entropy.hpp"
#include "libcore/ops/gather.hpp"
#include "libcore/training/not_finite.hpp"
#include "libcore/training/objectives.hpp"

namespace heddle::training {

namespace {

const data::PairSource& checked(const models::SequenceToSequence& model, const data::PairSource& pairs) {
  const auto fits = [&pairs](Index of_pairs, Index of_model, const char* side) {
    check<DataError>(of_pairs <= of_model, pairs.name(), ": ", side, " vocabulary of ", of_pairs,
                     " does not match the model's ", of_model, "; encode the pairs with the model's tokenizer");
  };
  fits(pairs.source_vocab_size(), model.source_vocab_size(), "source");
  fits(pairs.target_vocab_size(), model.vocab_size(), "target");
  return pairs;
}

// The rows of a batch that have a target, counted through it, and these targets.
struct Targets {
  std::vector<Index> rows;
  std::vector<TokenId> ids;
};

Targets targets_of(std::span<const data::FramedPair> pairs, Index time) {
  Targets targets;
  Index begin = 0;
  for (const data::FramedPair& pair : pairs) {
    const auto length = static_cast<Index>(pair.target.size());
    for (Index t = pair.given; t < length; ++t) targets.rows.push_back(begin + t - 1);
    targets.ids.insert(targets.ids.end(), pair.target.begin() + pair.given, pair.target.end());
    begin += time;
  }
  return targets;
}

Counts counts_of(std::span<const data::FramedPair> pairs) {
  Counts counts{.samples = 1};
  for (const data::FramedPair& pair : pairs) {
    const auto target = static_cast<Index>(pair.target.size());
    counts.tokens += static_cast<Index>(pair.source.size()) + target - 1;
    counts.targets += target - pair.given;
  }
  return counts;
}

Index most_positions(std::optional<Index> positions) {
  return positions.value_or(std::numeric_limits<Index>::max());
}

data::GroupLimits limits_of(const models::SequenceToSequence& model, const TrainingConfig& config,
                            const data::PairOptions& options) {
  return {.batch_size = config.training.batch_size,
          .options = options,
          .max_source = most_positions(model.max_source_positions()),
          .max_target = most_positions(model.max_positions())};
}

}  // namespace

models::Sequences sequences_of(std::span<const data::FramedPair> pairs) {
  std::vector<models::TokenList> sources, targets;
  for (const data::FramedPair& pair : pairs) {
    sources.emplace_back(pair.source);
    targets.push_back(models::TokenList(pair.target).first(pair.target.size() - 1));
  }
  models::Sequences sequences = models::padded(targets);
  sequences.sources = std::make_shared<const models::Sequences>(models::padded(sources));
  return sequences;
}

Variable translation_loss(const models::SequenceToSequence& model, std::span<const data::FramedPair> pairs,
                          const Pass& pass, double divisor, double label_smoothing) {
  const models::Sequences sequences = sequences_of(pairs);
  const Targets targets = targets_of(pairs, sequences.ids.shape[1]);
  const Variable hidden = ops::gather_rows(model.target_hidden(sequences, pass), targets.rows);
  return model.target_head().loss(hidden, targets.ids, {label_smoothing, divisor});
}

data::PairFrames pair_frames(const models::SequenceToSequence& model, const text::Tokenizer& tokenizer,
                             const text::Tokenizer* source_tokenizer) {
  const data::TextFrame target = data::text_frame(tokenizer, "translation");
  const data::TextFrame source =
      source_tokenizer == nullptr ? target : data::text_frame(*source_tokenizer, "translation");
  return {source, target, model.start_token().value_or(target.end)};
}

data::PairGroups evaluation_groups(const models::SequenceToSequence& model, const data::PairSource& pairs,
                                   const data::PairFrames& frames, const data::GroupLimits& limits) {
  return {checked(model, pairs), frames, limits, 0};
}

Evaluation evaluate(const models::SequenceToSequence& model, const data::PairGroups& groups, Index limit,
                    const std::function<bool()>& stop) {
  Evaluation sum;
  for (Index group = 0; group < groups.groups_per_epoch() && (limit == 0 || sum.tokens < limit) && !stop(); ++group) {
    const std::vector<data::FramedPair> pairs = groups.group(group);
    const models::Sequences sequences = sequences_of(pairs);
    const Targets targets = targets_of(pairs, sequences.ids.shape[1]);
    const Variable hidden = ops::gather_rows(model.target_hidden(sequences), targets.rows);
    const Tensor logits = model.target_head()(hidden).value();
    check_logits(logits);
    for (const double nats : ops::negative_log_likelihoods(logits, targets.ids)) sum.nats += nats;
    sum.tokens += static_cast<Index>(targets.ids.size());
  }
  return sum;
}

Translate::Translate(models::Model& model, const data::PairSource& train, const data::PairSource* valid,
                     const data::PairFrames& frames, const data::PairOptions& options, const TrainingConfig& config)
    : model_(model),
      translator_(models::require<models::SequenceToSequence>(model, "the translate objective", "training")),
      groups_(checked(translator_, train), frames, limits_of(translator_, config, options), config.seed),
      options_(config.training) {
  if (valid == nullptr) return;
  valid_.emplace(evaluation_groups(translator_, *valid, frames,
                                   limits_of(translator_, config, {.batch_tokens = options.batch_tokens})));
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
            return translation_loss(translator_, pairs, of_pairs, static_cast<double>(step.targets),
                                    options_.label_smoothing);
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
double Translate::flops_per_token() const {
  const double source = groups_.mean_source(), target = groups_.mean_target();
  const auto time = static_cast<Index>((source + target) / 2);
  return model_.training_flops_per_token(time, 2 * target / (source + target)) / 2;
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

std::vector<Metric> Translate::evaluate(const std::function<bool()>& stop) const {
  const Evaluation result = training::evaluate(translator_, *valid_, options_.eval_tokens, stop);
  return {{"loss", result.nats_per_token()}};
}

ObjectiveEvaluation evaluate_pairs(const EvaluationInputs& inputs, const data::PairSource& pairs,
                                   const data::PairFrames& frames) {
  refuse_memory(inputs);
  check<UsageError>(inputs.sequence_length == 0, "`sequence_length`: pairs of texts are read whole; leave it out");
  const auto& model =
      models::require<models::SequenceToSequence>(inputs.model, "an evaluation on pairs", inputs.model_name);
  const data::PairGroups groups = evaluation_groups(model, pairs, frames,
                                                    {.batch_size = inputs.batch_size,
                                                     .max_source = most_positions(model.max_source_positions()),
                                                     .max_target = most_positions(model.max_positions())});
  const Evaluation result = evaluate(model, groups, 0, [&inputs, done = Index(0), &groups]() mutable {
    inputs.progress(done++, groups.groups_per_epoch());
    return false;
  });
  return {.tokens = result.tokens,
          .nats = result.nats,
          .covers_text = groups.left_out() == 0,
          .left_out = groups.left_out()};
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
    return evaluate_pairs(inputs, *inputs.data.pairs, pair_frames(model, inputs.tokenizer, inputs.source_tokenizer));
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

#include "libcore/training/pair_loss.hpp"

#include <limits>

#include "libcore/ops/cross_entropy.hpp"
#include "libcore/ops/gather.hpp"
#include "libcore/training/not_finite.hpp"

namespace heddle::training {

namespace {

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

}  // namespace

const data::PairSource& checked_pairs(const PairModel& model, const data::PairSource& pairs) {
  const auto fits = [&pairs](Index of_pairs, Index of_model, const char* side) {
    check<DataError>(of_pairs <= of_model, pairs.name(), ": ", side, " vocabulary of ", of_pairs,
                     " does not match the model's ", of_model, "; encode the pairs with the model's tokenizer");
  };
  fits(pairs.source_vocab_size(), model.source_vocab_size, "source");
  fits(pairs.target_vocab_size(), model.model.vocab_size(), "target");
  return pairs;
}

data::GroupLimits group_limits(const PairModel& model, Index batch_size, const data::PairOptions& options) {
  constexpr Index any = std::numeric_limits<Index>::max();
  return {.batch_size = batch_size,
          .options = options,
          .max_source = model.max_source.value_or(any),
          .max_target = model.model.max_positions().value_or(any)};
}

PairModel::PairModel(const models::SequenceToSequence& of)
    : model(of),
      head(of.target_head()),
      hidden([&of](const models::Sequences& targets, const Pass& pass) { return of.target_hidden(targets, pass); }),
      reads_sources(true),
      source_vocab_size(of.source_vocab_size()),
      max_source(of.max_source_positions()) {}

PairModel::PairModel(const models::TokenLoss& of)
    : model(of),
      head(of.next_token_head()),
      hidden([&of](const models::Sequences& texts, const Pass& pass) { return of.next_hidden(texts, pass); }),
      reads_sources(false),
      source_vocab_size(of.vocab_size()) {}

models::Sequences sequences_of(std::span<const data::FramedPair> pairs, bool reads_sources) {
  std::vector<models::TokenList> sources, targets;
  for (const data::FramedPair& pair : pairs) {
    sources.emplace_back(pair.source);
    targets.push_back(models::TokenList(pair.target).first(pair.target.size() - 1));
  }
  models::Sequences sequences = models::padded(targets);
  if (reads_sources) sequences.sources = std::make_shared<const models::Sequences>(models::padded(sources));
  return sequences;
}

Variable pair_loss(const PairModel& model, std::span<const data::FramedPair> pairs, const Pass& pass, double divisor,
                   double label_smoothing) {
  const models::Sequences sequences = sequences_of(pairs, model.reads_sources);
  const Targets targets = targets_of(pairs, sequences.ids.shape[1]);
  const Variable hidden = ops::gather_rows(model.hidden(sequences, pass), targets.rows);
  return model.head.loss(hidden, targets.ids, {label_smoothing, divisor});
}

data::PairFrames pair_frames(const models::SequenceToSequence& model, const text::Tokenizer& tokenizer,
                             const text::Tokenizer* source_tokenizer) {
  const data::TextFrame target = data::text_frame(tokenizer, "translation");
  const data::TextFrame source =
      source_tokenizer == nullptr ? target : data::text_frame(*source_tokenizer, "translation");
  return {source, target, model.start_token().value_or(target.end)};
}

data::PairGroups evaluation_groups(const PairModel& model, const data::PairSource& pairs,
                                   const data::PairFrames& frames, const data::GroupLimits& limits) {
  return {checked_pairs(model, pairs), frames, limits, 0};
}

Evaluation evaluate(const PairModel& model, const data::PairGroups& groups, Index limit, const Evaluators& by) {
  BatchSum<Evaluation> sum(by);
  Index tokens = 0;
  for (Index group = 0; group < groups.groups_per_epoch() && (limit == 0 || tokens < limit); ++group) {
    const std::vector<data::FramedPair> pairs = groups.group(group);
    const models::Sequences sequences = sequences_of(pairs, model.reads_sources);
    const Targets targets = targets_of(pairs, sequences.ids.shape[1]);
    tokens += static_cast<Index>(targets.ids.size());
    const auto compute = [&] {
      const Variable hidden = ops::gather_rows(model.hidden(sequences, {}), targets.rows);
      const Tensor logits = model.head(hidden).value();
      check_logits(logits);
      Evaluation part{.tokens = static_cast<Index>(targets.ids.size())};
      for (const double nats : ops::negative_log_likelihoods(logits, targets.ids)) part.nats += nats;
      return part;
    };
    if (!sum.add(compute)) break;
  }
  return sum.total();
}

ObjectiveEvaluation evaluate_pairs(const EvaluationInputs& inputs, const PairModel& model,
                                   const data::PairSource& pairs, const data::PairFrames& frames) {
  refuse_other_windows(inputs);
  check<UsageError>(inputs.sequence_length == 0, "`sequence_length`: pairs of texts are read whole; leave it out");
  const data::PairGroups groups = evaluation_groups(model, pairs, frames, group_limits(model, inputs.batch_size));
  const auto progress = [&inputs, done = Index(0), &groups]() mutable {
    inputs.progress(done++, groups.groups_per_epoch());
    return false;
  };
  const Evaluation result = evaluate(model, groups, 0, {inputs.group, progress});
  return {.targets = result.tokens,
          .nats = result.nats,
          .covers_text = groups.left_out() == 0,
          .left_out = groups.left_out()};
}

}  // namespace heddle::training

#include "heddle/training/translate.hpp"

#include <limits>

#include "heddle/ops/cross_entropy.hpp"
#include "heddle/ops/gather.hpp"
#include "heddle/training/not_finite.hpp"
#include "heddle/training/objectives.hpp"

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
    for (std::size_t t = 1; t < pair.target.size(); ++t) targets.rows.push_back(begin + static_cast<Index>(t) - 1);
    targets.ids.insert(targets.ids.end(), pair.target.begin() + 1, pair.target.end());
    begin += time;
  }
  return targets;
}

Counts counts_of(std::span<const data::FramedPair> pairs) {
  Counts counts{.samples = 1};
  for (const data::FramedPair& pair : pairs) {
    const auto target = static_cast<Index>(pair.target.size()) - 1;
    counts.tokens += static_cast<Index>(pair.source.size()) + target;
    counts.targets += target;
  }
  return counts;
}

Index most_positions(std::optional<Index> positions) {
  return positions.value_or(std::numeric_limits<Index>::max());
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

Translate::Translate(models::Model& model, const data::PairSource& train, const data::PairSource* valid,
                     const data::PairFrames& frames, const data::PairOptions& options, const TrainingConfig& config)
    : model_(model),
      translator_(models::require<models::SequenceToSequence>(model, "the translate objective", "training")),
      groups_(checked(translator_, train), frames,
              {.batch_size = config.training.batch_size,
               .options = options,
               .max_source = most_positions(translator_.max_source_positions()),
               .max_target = most_positions(translator_.max_positions())},
              config.seed),
      options_(config.training) {
  if (valid == nullptr) return;
  valid_.emplace(checked(translator_, *valid), frames,
                 data::GroupLimits{.batch_size = config.training.batch_size,
                                   .options = {.batch_tokens = options.batch_tokens},
                                   .max_source = most_positions(translator_.max_source_positions()),
                                   .max_target = most_positions(translator_.max_positions())},
                 config.seed);
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
      origins.push_back({"pairs of " + groups_.source().name(), groups_.source().number_in_file(pair)});
    }
  }
  return origins;
}

// Half of a pair's tokens are of its source.
double Translate::flops_per_token() const {
  return model_.training_flops_per_token(static_cast<Index>(groups_.mean_target()), 1) / 2;
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
  double nats = 0;
  Index tokens = 0;
  for (Index group = 0; group < valid_->groups_per_epoch(); ++group) {
    if (stop()) break;
    if (options_.eval_tokens > 0 && tokens >= options_.eval_tokens) break;
    const std::vector<data::FramedPair> pairs = valid_->in_order(group);
    const models::Sequences sequences = sequences_of(pairs);
    const Targets targets = targets_of(pairs, sequences.ids.shape[1]);
    const Variable hidden = ops::gather_rows(translator_.target_hidden(sequences), targets.rows);
    const Tensor logits = translator_.target_head()(hidden).value();
    check_logits(logits);
    for (const double each : ops::negative_log_likelihoods(logits, targets.ids)) nats += each;
    tokens += static_cast<Index>(targets.ids.size());
  }
  return {{"loss", tokens > 0 ? nats / static_cast<double>(tokens) : 0}};
}

std::unique_ptr<Objective> make_translate_objective(const ObjectiveInputs& inputs) {
  data::PairFrames frames{{std::nullopt, 0}, {std::nullopt, 0}, 0};
  if (inputs.tokenizer != nullptr) {
    const text::Tokenizer* const source = inputs.source_tokenizer;
    frames.target = data::text_frame(*inputs.tokenizer, "translation");
    frames.source = source == nullptr ? frames.target : data::text_frame(*source, "translation");
    frames.start = frames.target.end;
  }
  if (const auto start =
          models::require<models::SequenceToSequence>(inputs.model, "translation", "training").start_token()) {
    frames.start = *start;
  }
  return std::make_unique<Translate>(inputs.model, *inputs.train.pairs, inputs.valid.pairs, frames, inputs.pairs,
                                     inputs.config);
}

}  // namespace heddle::training

#include "libcore/training/pair_objective.hpp"

namespace heddle::training {

namespace {

Counts counts_of_pairs(std::span<const data::FramedPair> pairs) {
  Counts counts{.samples = 1};
  for (const data::FramedPair& pair : pairs) {
    const auto target = static_cast<Index>(pair.target.size());
    counts.units += static_cast<Index>(pair.source.size()) + target - 1;
    counts.targets += target - pair.given;
  }
  return counts;
}

}  // namespace

PairObjective::PairObjective(models::Model& model, const PairModel& reader, const PairData& data,
                             const data::PairOptions& options, const TrainingConfig& config)
    : model_(model),
      reader_(reader),
      groups_(checked_pairs(reader_, data.train), data.frames,
              group_limits(reader_, config.training.batch_size, options), config.seed),
      options_(config.training) {
  if (data.valid == nullptr) return;
  valid_.emplace(
      evaluation_groups(reader_, *data.valid, data.frames,
                        group_limits(reader_, config.training.batch_size, {.batch_tokens = options.batch_tokens})));
}

Pass PairObjective::training_pass() const {
  return {.dropout = model_.config()->dropout, .sample_positions = groups_.longest()};
}

MicroBatch PairObjective::batch(Index first, Index count) const {
  std::vector<data::FramedPair> pairs;
  for (Index i = 0; i < count; ++i) {
    for (data::FramedPair& pair : groups_.group(first + i)) pairs.push_back(std::move(pair));
  }
  const Counts counts = counts_of_pairs(pairs);
  return {counts, [this, pairs = std::move(pairs)](const Pass& pass, const Counts& step) {
            Pass of_pairs = pass;  // the pairs of a step have different random numbers
            of_pairs.first_sample *= groups_.largest();
            return pair_loss(reader_, pairs, of_pairs, static_cast<double>(step.targets), options_.label_smoothing);
          }};
}

std::vector<Origin> PairObjective::origins(Index first, Index count) const {
  std::vector<Origin> origins;
  for (Index i = 0; i < count; ++i) {
    for (const Index pair : groups_.pairs_of(first + i)) {
      origins.push_back({"pairs of " + groups_.source().name_of(pair), groups_.source().number_in_file(pair)});
    }
  }
  return origins;
}

// As if half of a pair's tokens were of its source where it is read apart, except that only those of the target are
// predicted.
double PairObjective::flops_per_unit() const {
  const double source = groups_.mean_source(), target = groups_.mean_target(), predicted = groups_.mean_predicted();
  const double sides = reader_.reads_sources ? 2 : 1;
  const auto time = static_cast<Index>((source + target) / sides);
  return reader_.model.training_flops_per_token(time, sides * predicted / (source + target)) / sides;
}

std::string PairObjective::note() const {
  const auto left_out = [](const data::PairGroups& groups) {
    return groups.left_out() == 0 ? std::string()
                                  : concatenate(groups.source().name(), ": ", groups.left_out(), " of ",
                                                groups.source().size(), " pairs are too long and left out");
  };
  const std::string train = left_out(groups_), valid = valid_ ? left_out(*valid_) : "";
  return train + (train.empty() || valid.empty() ? "" : "; ") + valid;
}

std::vector<Metric> PairObjective::evaluate(const Evaluators& by) const {
  const Evaluation result = training::evaluate(reader_, *valid_, options_.eval_tokens, by);
  return {{"loss", result.nats_per_token()}};
}

}  // namespace heddle::training

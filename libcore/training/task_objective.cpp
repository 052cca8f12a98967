#include "libcore/training/task_objective.hpp"

#include <algorithm>
#include <memory>

#include "libcore/data/permutation.hpp"
#include "libcore/models/task_batch.hpp"
#include "libcore/ops/arithmetic.hpp"
#include "libcore/ops/binary_cross_entropy.hpp"
#include "libcore/ops/cross_entropy.hpp"
#include "libcore/ops/gather.hpp"
#include "libcore/ops/squared_error.hpp"

namespace heddle::training {

namespace {

using models::Answer;
using models::Answered;
using models::Task;
using models::TaskExamples;

// Steps are made of examples of like length, chosen among this many steps' worth of neighbours.
constexpr Index steps_to_sort = 32;

template <class Value, class Of>
std::vector<Value> collect(TaskExamples examples, const Of& of) {
  std::vector<Value> values;
  for (const data::TaskExample* example : examples) values.push_back(of(*example));
  return values;
}

// Scores with those of other positions pushed out of the softmax.
Variable among(const Variable& scores, TaskExamples examples) {
  const Index time = scores.shape()[1];
  const Tensor pushed(scores.shape(), 0);
  Index row = 0;
  for (const data::TaskExample* example : examples) {
    const std::vector<bool> allowed = models::answer_positions(*example, time);
    for (Index t = 0; t < time; ++t) {
      if (!allowed[static_cast<std::size_t>(t)]) pushed[row * time + t] = Real(-1e9);
    }
    ++row;
  }
  return ops::add(scores, Variable(pushed));
}

Variable span_loss(const models::TaskModel& model, TaskExamples examples, const Pass& pass,
                   const ops::CrossEntropy& options) {
  const heads::Span::Scores scores = model.span_scores(models::sequences_of(examples), pass);
  const auto loss = [&](const Variable& of, Index data::TokenSpan::*end) {
    const auto targets = collect<TokenId>(
        examples, [&](const data::TaskExample& example) { return static_cast<TokenId>(example.answer.*end); });
    return ops::cross_entropy(among(of, examples), targets, options);
  };
  return ops::scale(ops::add(loss(scores.start, &data::TokenSpan::first), loss(scores.end, &data::TokenSpan::last)),
                    Real(0.5));
}

std::vector<TokenId> classes_of(TaskExamples examples, Task task) {
  if (answered_by(task) == Answered::whole)
    return collect<TokenId>(examples, [](const auto& example) { return example.label; });
  std::vector<TokenId> tags;
  for (const data::TaskExample* example : examples) tags.insert(tags.end(), example->tags.begin(), example->tags.end());
  return tags;
}

Variable labels_loss(const Variable& logits, TaskExamples examples, double divisor) {
  std::vector<char> has_label;
  for (const data::TaskExample* example : examples) {
    for (const TokenId tag : example->tags) has_label.push_back(tag == 1 ? 1 : 0);
  }
  const double all = divisor > 0 ? divisor : static_cast<double>(examples.size());
  return ops::binary_cross_entropy(logits, has_label, all * static_cast<double>(logits.shape()[-1]));
}

}  // namespace

Index targets_of(const data::TaskExample& example, Task task) {
  return answered_by(task) == Answered::parts ? static_cast<Index>(example.positions.size()) : 1;
}

Variable task_loss(const models::TaskModel& model, TaskExamples examples, const Pass& pass, const TaskLoss& options) {
  const ops::CrossEntropy entropy{options.label_smoothing, options.divisor, options.class_weights};
  const models::TaskConfig& task = model.task();
  if (answer_of(task.task) == Answer::span) return span_loss(model, examples, pass, {.divisor = options.divisor});
  const Variable outputs = models::task_logits(model, examples, pass);
  if (has_classes(task.task)) return ops::cross_entropy(outputs, classes_of(examples, task.task), entropy);
  if (task.has_label_sets()) return labels_loss(outputs, examples, options.divisor);
  const auto targets = collect<double>(
      examples, [&](const data::TaskExample& example) { return (example.value - task.mean) / task.stddev; });
  return ops::squared_error(outputs, targets,
                            options.divisor > 0 ? options.divisor : static_cast<double>(targets.size()));
}

std::vector<double> balanced_weights(std::span<const data::TaskExample> examples, Index classes, Task task) {
  std::vector<double> counts(static_cast<std::size_t>(classes), 0.0);
  double all = 0;
  const auto count = [&](TokenId label) {
    if (label < 0) return;
    counts[static_cast<std::size_t>(label)] += 1;
    all += 1;
  };
  for (const data::TaskExample& example : examples) {
    if (answered_by(task) == Answered::parts) {
      std::for_each(example.tags.begin(), example.tags.end(), count);
    } else {
      count(example.label);
    }
  }
  std::vector<double> weights;
  for (const double n : counts) weights.push_back(n == 0 ? 0 : all / (static_cast<double>(classes) * n));
  return weights;
}

TaskObjective::TaskObjective(models::TaskModel& model, std::vector<data::TaskExample> examples,
                             const TrainingConfig& config, std::vector<double> class_weights, Evaluate evaluate,
                             Better better)
    : model_(model),
      examples_(std::move(examples)),
      config_(config),
      class_weights_(std::move(class_weights)),
      evaluate_(std::move(evaluate)),
      better_(better) {
  check<DataError>(!examples_.empty(), "there is no example to train on");
  for (const data::TaskExample& example : examples_) {
    longest_ = std::max(longest_, example.places());
  }
}

Pass TaskObjective::training_pass() const {
  return {.dropout = model_.body().config()->dropout, .sample_positions = longest_};
}

// A random order, in which neighbours that make up a step are of like length; the steps come in a random order too. It
// does not depend on how a step is cut into micro-batches. Graphs are not padded, and their sizes often go with their
// labels, so that their steps are mixed.
const std::vector<Index>& TaskObjective::order_of(Index epoch) const {
  if (epoch == epoch_) return order_;
  const auto count = static_cast<Index>(examples_.size());
  const data::Permutation shuffled(count, config_.seed, static_cast<std::uint64_t>(epoch));
  order_.clear();
  for (Index i = 0; i < count; ++i) order_.push_back(shuffled(i));
  const auto length = [&](Index i) { return examples_[static_cast<std::size_t>(i)].length(); };
  const Index step = samples_per_batch(config_.training.batch_size) * config_.training.accumulate;
  const Index chunk = step * steps_to_sort;
  const bool sorts = !model_.reads_graphs();
  for (Index begin = 0; sorts && begin < count; begin += chunk) {
    const auto first = order_.begin() + begin, last = order_.begin() + std::min(count, begin + chunk);
    std::stable_sort(first, last, [&](Index a, Index b) { return length(a) < length(b); });
    const Index steps = (last - first) / step;
    const data::Permutation places(std::max<Index>(1, steps), config_.seed ^ static_cast<std::uint64_t>(begin + 1),
                                   static_cast<std::uint64_t>(epoch));
    const std::vector<Index> sorted(first, last);
    for (Index s = 0; s < steps; ++s) {
      std::copy_n(sorted.begin() + places(s) * step, step, first + s * step);
    }
  }
  epoch_ = epoch;
  return order_;
}

data::TaskExample TaskObjective::without_pieces(const data::TaskExample& example, Index sample) const {
  data::TaskExample result = example;
  const RandomStream stream(config_.seed, random_site("piece dropout"), static_cast<std::uint64_t>(sample));
  std::uint64_t position = 0;
  for (TokenId& id : result.sequence.ids) {
    const bool dropped = stream.uniform(position++) < dropout_->rate;
    if (dropped && !dropout_->vocabulary.is_special[static_cast<std::size_t>(id)]) id = dropout_->vocabulary.mask;
  }
  return result;
}

std::vector<TaskObjective::TextExample> TaskObjective::text_examples(
    const std::vector<const data::TaskExample*>& examples, Index first) const {
  std::vector<TextExample> texts;
  for (const data::TaskExample* example : examples) {
    TextExample text{*example, {}};
    std::vector<TokenId>& ids = text.example.sequence.ids;
    if (text_->vocabulary) {
      const auto sample = static_cast<std::uint64_t>(first) + texts.size();
      const RandomStream stream(config_.seed, random_site("auxiliary text"), sample);
      text.predicted = data::mask_tokens(ids, *text_->vocabulary, {}, stream);
    } else {
      for (std::size_t t = 0; t + 1 < ids.size(); ++t) {
        text.predicted.positions.push_back(static_cast<Index>(t));
        text.predicted.targets.push_back(ids[t + 1]);
      }
    }
    texts.push_back(std::move(text));
  }
  return texts;
}

Variable TaskObjective::text_loss(const std::vector<TextExample>& texts, const Pass& pass, const Counts& step) const {
  std::vector<const data::TaskExample*> examples;
  for (const TextExample& text : texts) examples.push_back(&text.example);
  const models::Sequences sequences = models::sequences_of(examples);
  std::vector<Index> rows;
  std::vector<TokenId> targets;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const Index begin = static_cast<Index>(i) * sequences.ids.shape[1];
    for (const Index position : texts[i].predicted.positions) rows.push_back(begin + position);
    targets.insert(targets.end(), texts[i].predicted.targets.begin(), texts[i].predicted.targets.end());
  }
  Pass other = pass;
  other.seed ^= random_site("auxiliary text");  // dropout is not that of the task's own pass
  const auto* const next = text_->vocabulary ? nullptr : model_.body().as<models::TokenLoss>();
  const Variable states =
      next != nullptr ? next->next_hidden(sequences, other) : model_.vectors().hidden(sequences, other);
  const Variable hidden = ops::gather_rows(states, rows);
  const ops::CrossEntropy options{0, static_cast<double>(std::max<Index>(1, step.text_targets)) / text_->weight};
  return token_head().loss(hidden, targets, options);
}

const heads::TokenHead& TaskObjective::token_head() const {
  constexpr std::string_view user = "`auxiliary_weight`, which predicts the examples' texts,", path = "training";
  if (text_->vocabulary) {
    return models::require<models::MaskedPredictor>(model_.body(), user, path).masked_token_head();
  }
  return models::require<models::TokenLoss>(model_.body(), user, path).next_token_head();
}

const data::TaskExample& TaskObjective::example_of(Index sample) const {
  const Index n = samples_per_epoch();
  return examples_[static_cast<std::size_t>(order_of(sample / n)[static_cast<std::size_t>(sample % n)])];
}

std::vector<Origin> TaskObjective::origins(Index first, Index count) const {
  std::vector<Origin> origins;
  for (Index sample = first; sample < first + count; ++sample) {
    origins.push_back({"examples", example_of(sample).source});
  }
  return origins;
}

MicroBatch TaskObjective::batch(Index first, Index count) const {
  const auto changed = std::make_shared<std::vector<data::TaskExample>>();
  if (dropout_) changed->reserve(static_cast<std::size_t>(count));
  std::vector<const data::TaskExample*> chosen;
  MicroBatch result;
  for (Index sample = first; sample < first + count; ++sample) {
    chosen.push_back(&example_of(sample));
    if (dropout_) chosen.back() = &changed->emplace_back(without_pieces(*chosen.back(), sample));
    result.counts += {1, chosen.back()->length(), targets_of(*chosen.back(), model_.task().task)};
  }
  std::vector<TextExample> texts = text_ ? text_examples(chosen, first) : std::vector<TextExample>();
  for (const TextExample& text : texts) {
    result.counts.text_targets += static_cast<Index>(text.predicted.targets.size());
  }
  const bool predicts_text = result.counts.text_targets > 0;
  result.loss = [this, chosen, changed, texts = std::move(texts), predicts_text](const Pass& pass, const Counts& step) {
    const double divisor = static_cast<double>(std::max<Index>(1, step.targets));
    const Variable loss = task_loss(model_, chosen, pass, {divisor, config_.training.label_smoothing, class_weights_});
    return predicts_text ? ops::add(loss, text_loss(texts, pass, step)) : loss;
  };
  return result;
}

double TaskObjective::flops_per_unit() const {
  if (model_.reads_graphs()) return model_.nodes().training_flops_per_node();
  double tokens = 0;
  for (const data::TaskExample& example : examples_) tokens += static_cast<double>(example.length());
  const Index mean = static_cast<Index>(tokens / static_cast<double>(examples_.size()));
  return model_.body().tokens().training_flops_per_token(mean, text_ ? 1 : 0);
}

}  // namespace heddle::training

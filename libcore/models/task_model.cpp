#include "heddle/models/task_model.hpp"

#include <bit>
#include <cstdint>

#include "heddle/ops/gather.hpp"
#include "heddle/ops/pooling.hpp"

namespace heddle::models {

namespace {

Index outputs_of(const TaskConfig& task) {
  if (task.task == Task::regress) return 1;
  const auto classes = static_cast<Index>(task.labels.size());
  check<UsageError>(classes >= 2, "a task needs at least two labels, not ", classes);
  return classes;
}

std::vector<Index> lengths_of(const Sequences& sequences) {
  if (!sequences.lengths.empty()) return sequences.lengths;
  return std::vector<Index>(static_cast<std::size_t>(sequences.ids.shape[0]), sequences.ids.shape[1]);
}

}  // namespace

Pooling resolved(Pooling pooling, const ModelConfig& config) {
  if (pooling != Pooling::automatic) return pooling;
  return config.arch == Architecture::decoder ? Pooling::last : Pooling::first;
}

TaskModel::TaskModel(std::unique_ptr<Model> body, const TaskConfig& task) : body_(std::move(body)), task_(task) {
  task_.pooling = resolved(task.pooling, body_->config());
  check<UsageError>(task_.pooling != Pooling::first || body_->config().arch == Architecture::encoder,
                    "pooling = first: the first token of a decoder has seen nothing of the text; use last or mean");
  if (task.task == Task::lm) return;
  const Index width = body_->config().width;
  const Scope scope(body_->parameters(), "task");
  if (task.task == Task::span) {
    span_.emplace(scope, width);
  } else {
    classifier_.emplace(scope, width, outputs_of(task));
  }
  if (task.naive_bayes == 0) return;
  check<UsageError>(task.task == Task::classify || task.task == Task::pair, "naive Bayes is for classes of texts, not for ",
                    to_text(task.task));
  check<UsageError>(std::has_single_bit(static_cast<std::uint64_t>(task.naive_bayes)), "naive_bayes = ", task.naive_bayes,
                    " is not a power of two");
  naive_bayes_.emplace(scope / "naive_bayes", task.naive_bayes, outputs_of(task));
}

Index TaskModel::network_count() const {
  return parameters().count() - (naive_bayes_ ? naive_bayes_->rows() * naive_bayes_->classes() : 0);
}

Variable TaskModel::pooled(const Sequences& sequences, const Pass& pass) const {
  std::vector<Index> positions = lengths_of(sequences);
  if (task_.pooling == Pooling::mean) return ops::mean_over_time(body_->hidden(sequences, pass), positions);
  for (Index& position : positions) position = task_.pooling == Pooling::first ? 0 : position - 1;
  const Variable hidden = body_->hidden_at(positions, sequences, pass);
  if (task_.pooling == Pooling::first) return body_->summary(hidden);
  return view(hidden, [](const Tensor& t) { return t.reshaped({t.shape()[0], t.shape()[2]}); });
}

Variable TaskModel::of_sequences(const Sequences& sequences, const Pass& pass) const {
  return (*classifier_)(pooled(sequences, pass), pass);
}

Variable TaskModel::of_positions(const Sequences& sequences, const std::vector<Index>& positions,
                                 const Pass& pass) const {
  return classifier_->of_positions(ops::gather_rows(body_->hidden(sequences, pass), positions), positions,
                                   sequences.ids.shape[1], pass);
}

heads::Span::Scores TaskModel::of_spans(const Sequences& sequences, const Pass& pass) const {
  return (*span_)(body_->hidden(sequences, pass), pass);
}

}  // namespace heddle::models

#include "heddle/models/task_model.hpp"

#include "heddle/ops/gather.hpp"
#include "heddle/ops/layer_mix.hpp"
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

Pooling resolved(Pooling pooling, const ContextualVectors& vectors) {
  if (pooling != Pooling::automatic) return pooling;
  return vectors.is_bidirectional() ? Pooling::first : Pooling::last;
}

TaskModel::TaskModel(std::unique_ptr<Model> body, const TaskConfig& task)
    : body_(std::move(body)), vectors_(require<ContextualVectors>(*body_, "a task", "the model")), task_(task) {
  task_.pooling = resolved(task.pooling, vectors_);
  check<UsageError>(task_.pooling != Pooling::first || vectors_.is_bidirectional(),
                    "pooling = first: in a model that reads in one direction the first token's state does not depend "
                    "on the other tokens; use last or mean");
  if (has_own_head(task.task)) return;
  const Index width = vectors_.width();
  const Scope scope(body_->parameters(), "task");
  if (task.layer_mix) {
    mix_scores_ = (scope / "mix").parameter("score", {vectors_.layers() + 1}, Initializer::zeros(), Decay::no);
    mix_scale_ = (scope / "mix").parameter("scale", {1}, Initializer::ones(), Decay::no);
  }
  if (task.task == Task::span) {
    span_.emplace(scope, width);
  } else {
    classifier_.emplace(scope, width, outputs_of(task));
  }
}

Variable TaskModel::hidden(const Sequences& sequences, const Pass& pass) const {
  if (mix_scores_.empty()) return vectors_.hidden(sequences, pass);
  std::vector<Variable> layers;
  vectors_.hidden(sequences, pass, [&](const Variable& layer) { layers.push_back(layer); });
  return ops::layer_mix(layers, mix_scores_, mix_scale_);
}

Variable TaskModel::hidden_at(const std::vector<Index>& positions, const Sequences& sequences, const Pass& pass) const {
  if (mix_scores_.empty()) return vectors_.hidden_at(positions, sequences, pass);
  return ops::gather_positions(hidden(sequences, pass), positions);
}

Variable TaskModel::pooled(const Sequences& sequences, const Pass& pass) const {
  std::vector<Index> positions = lengths_of(sequences);
  if (task_.pooling == Pooling::mean) return ops::mean_over_time(hidden(sequences, pass), positions);
  for (Index& position : positions) position = task_.pooling == Pooling::first ? 0 : position - 1;
  const Variable chosen = hidden_at(positions, sequences, pass);
  if (task_.pooling == Pooling::first) return vectors_.summary(chosen);
  return view(chosen, [](const Tensor& t) { return t.reshaped({t.shape()[0], t.shape()[2]}); });
}

Variable TaskModel::sequence_logits(const Sequences& sequences, const Pass& pass) const {
  return (*classifier_)(pooled(sequences, pass), pass);
}

Variable TaskModel::token_logits(const Sequences& sequences, const std::vector<Index>& positions,
                                 const Pass& pass) const {
  return classifier_->token_logits(ops::gather_rows(hidden(sequences, pass), positions), positions,
                                   sequences.ids.shape[1], pass);
}

heads::Span::Scores TaskModel::span_scores(const Sequences& sequences, const Pass& pass) const {
  return (*span_)(hidden(sequences, pass), pass);
}

}  // namespace heddle::models

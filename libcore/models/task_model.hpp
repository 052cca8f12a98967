// A model with a head for a task (SPEC 4.4); for lm the model's own head. The head sees the last hidden states, or a
// mix of those of all layers, the input of the first one included, h = gamma sum_j softmax(s)_j h_j, which starts as
// their mean with gamma = 1 (Peters et al. 2018; SPEC 5.5).
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "libcore/data/task_examples.hpp"
#include "libcore/heads/classifier.hpp"
#include "libcore/heads/edge_vectors.hpp"
#include "libcore/heads/pair_vectors.hpp"
#include "libcore/models/model.hpp"
#include "libcore/models/task.hpp"

namespace heddle::models {

class TaskModel {
 public:
  // The head's parameters, task/…, and task/mix/score [layers + 1] and task/mix/scale [1], are declared after the
  // body's and come from the same source. Throws UsageError where classes are missing, for a body without vectors of
  // tokens or nodes, which heads for tasks need, and for what graphs do not have: a pooling, a mix of layers, spans.
  TaskModel(std::unique_ptr<Model> body, const TaskConfig& task);

  const Model& body() const { return *body_; }
  Model& body() { return *body_; }
  // The body's vectors. Precondition: the task has a head of its own, and the body reads tokens.
  const ContextualVectors& vectors() const { return *vectors_; }
  // Whether the body reads graphs; it has a vector for each of their nodes.
  bool reads_graphs() const { return nodes_ != nullptr; }
  // The body's vectors. Precondition: reads_graphs().
  const NodeVectors& nodes() const { return *nodes_; }
  const TaskConfig& task() const { return task_; }
  Parameters& parameters() { return body_->parameters(); }
  const Parameters& parameters() const { return body_->parameters(); }

  // For a model that starts from counts: sets its weights, and the head's so that it passes on the hidden states, with
  // the frequencies of the classes in its bias, so that the logits are those of naive Bayes times one factor. Returns
  // false, and does nothing, for other models and tasks. Precondition: labels of classes, or tags, -1 for none.
  bool start_from_counts(std::span<const data::TaskExample> examples);

  // Divides the logits of classes by the temperature instead of that of task(): the head's weights and bias are
  // divided, so that every format of files has it. The most probable class stays. Precondition: a head of classes,
  // whose weights may change, and a temperature above 0.
  void set_temperature(double temperature);

  // multilabel: TaskConfig::thresholds. Throws UsageError for another number of them than labels, unless there are
  // none.
  void set_thresholds(std::vector<double> thresholds);

  // classify, pair, multilabel and regress: a row for each sequence, [batch, classes]
  Variable sequence_logits(const Sequences& sequences, const Pass& pass = {}) const;
  // label: a row for each of these positions, counted through the batch (sequence * time + position), [count, classes]
  Variable token_logits(const Sequences& sequences, const std::vector<Index>& positions, const Pass& pass = {}) const;
  // Logits of graphs, one row per graph, [graphs, classes]
  Variable graph_logits(const data::GraphBatch& graphs, const Pass& pass = {}) const;
  // label: a row for each of these nodes, edges, pairs or labels, of graphs, counted as if each graph had `longest`:
  // graph * longest + node
  Variable part_logits(const data::GraphBatch& graphs, const std::vector<Index>& positions, Index longest,
                       const Pass& pass = {}) const;
  // span: scores of every position, [batch, time]
  heads::Span::Scores span_scores(const Sequences& sequences, const Pass& pass = {}) const;

 private:
  // The same for labels of which a text has any number.
  bool start_from_label_counts(std::span<const data::TaskExample> examples);
  // The head passes on the hidden states, with these in its bias, times the factor.
  void start_head(double factor, const std::vector<double>& log_frequencies);
  // Input of the head: the states of all tokens, or of one per sequence.
  Variable hidden(const Sequences& sequences, const Pass& pass) const;
  Variable hidden_at(const std::vector<Index>& positions, const Sequences& sequences, const Pass& pass) const;
  Variable pooled(const Sequences& sequences, const Pass& pass) const;
  // Vectors of nodes, edges or pairs, counted through the batch, [rows, width].
  Variable part_vectors(const data::GraphBatch& graphs, const std::vector<Index>& rows, const Pass& pass) const;

  std::unique_ptr<Model> body_;
  const ContextualVectors* vectors_ = nullptr;  // null where the model's own head does the task, and of graphs
  const NodeVectors* nodes_ = nullptr;          // set for graphs
  TaskConfig task_;
  Variable mix_scores_, mix_scale_;          // empty without a mix
  std::optional<heads::EdgeVectors> edges_;  // set if edges have classes
  std::optional<heads::PairVectors> pairs_;  // set if pairs of nodes have classes
  std::optional<heads::Classifier> classifier_;
  std::optional<heads::Span> span_;
};

// The labels of the examples, each with its position, 0 for all where a text has any number; none of other tasks.
std::vector<CountedExample> counted_examples(std::span<const data::TaskExample> examples, Task task);

// Pooling::automatic resolved for a model: the first token's state if that depends on all others, else the last one's.
Pooling resolved(Pooling pooling, const ContextualVectors& vectors);

}  // namespace heddle::models

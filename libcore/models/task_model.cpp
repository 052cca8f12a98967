#include "libcore/models/task_model.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "libcore/models/counted_labels.hpp"
#include "libcore/ops/gather.hpp"
#include "libcore/ops/layer_mix.hpp"
#include "libcore/ops/pooling.hpp"

namespace heddle::models {

namespace {

Index outputs_of(const TaskConfig& task) {
  if (answer_of(task.task) == Answer::number) return 1;
  const auto classes = static_cast<Index>(task.labels.size());
  check<UsageError>(classes >= 2, "a task needs at least two labels, not ", classes);
  return classes * std::max<Index>(1, static_cast<Index>(task.columns.size()));
}

// Throws UsageError for what a baseline is made of if it does not fit the labels.
void check_counts(const TaskConfig& task) {
  const auto labels = static_cast<Index>(task.labels.size());
  check<UsageError>(task.label_counts.empty() || static_cast<Index>(task.label_counts.size()) == labels,
                    "`label_counts`: ", task.label_counts.size(), " counts for ", labels, " labels");
  check<UsageError>(task.words.size() == task.word_tags.size(), "`word_tags`: ", task.word_tags.size(), " tags for ",
                    task.words.size(), " words");
  for (const Index tag : task.word_tags) {
    check<UsageError>(tag >= 0 && tag < labels, "`word_tags`: ", tag, " is none of ", labels, " labels");
  }
}

void check_thresholds(const TaskConfig& task) {
  check<UsageError>(task.thresholds.empty() || task.thresholds.size() == task.labels.size(),
                    "`thresholds`: ", task.thresholds.size(), " for ", task.labels.size(), " labels");
  check<UsageError>(std::ranges::all_of(task.thresholds, [](double least) { return least >= 0 && least <= 1; }),
                    "`thresholds`: are probabilities, from 0 to 1");
}

void check_task_of_graphs(const TaskConfig& task) {
  check<UsageError>(task.pooling == Pooling::automatic, "`pooling` = ", to_text(task.pooling),
                    ": is for texts; the architectures of graphs have `readout`");
  check<UsageError>(!task.layer_mix, "`layer_mix`: is for texts");
  check<UsageError>(task.task != Task::pair && !task.has_label_sets() && answer_of(task.task) != Answer::span,
                    "the task ", to_text(task.task), " is for texts; graphs have classify, regress and label");
  check<UsageError>(
      answered_by(task.task) != Answered::parts || task.level != data::GraphLevel::graph || !task.columns.empty(),
      "`columns`: names the labels of a graph, each of which has a class");
}

std::vector<Index> lengths_of(const Sequences& sequences) {
  if (!sequences.lengths.empty()) return sequences.lengths;
  return std::vector<Index>(static_cast<std::size_t>(sequences.ids.shape[0]), sequences.ids.shape[1]);
}

}  // namespace

Pooling resolved(Pooling pooling, const ContextualVectors& vectors) {
  if (pooling != Pooling::automatic) return pooling;
  if (!vectors.is_bidirectional()) return Pooling::last;
  return vectors.has_summary() ? Pooling::first : Pooling::mean;
}

TaskModel::TaskModel(std::unique_ptr<Model> body, const TaskConfig& task) : body_(std::move(body)), task_(task) {
  if (has_own_head(task.task)) return;
  nodes_ = body_->as<NodeVectors>();
  if (nodes_ != nullptr) {
    check_task_of_graphs(task);
  } else {
    vectors_ = &require<ContextualVectors>(*body_, "a task", "the model");
    task_.pooling = resolved(task.pooling, *vectors_);
  }
  check_counts(task);
  check_thresholds(task);
  check<UsageError>(nodes_ != nullptr || task_.pooling != Pooling::first || vectors_->is_bidirectional(),
                    "pooling = first: in a model that reads in one direction the first token's state does not depend "
                    "on the other tokens; use last or mean");
  const Index width = nodes_ != nullptr ? nodes_->width() : vectors_->width();
  const Scope scope(body_->parameters(), "task");
  if (task.layer_mix) {
    mix_scores_ = (scope / "mix").parameter("score", {vectors_->layers() + 1}, Initializer::zeros(), Decay::no);
    mix_scale_ = (scope / "mix").parameter("scale", {1}, Initializer::ones(), Decay::no);
  }
  if (answer_of(task.task) == Answer::span) {
    span_.emplace(scope, width);
  } else {
    if (nodes_ != nullptr) {
      const auto ends = nodes_->features().is_directed ? heads::EdgeEnds::apart : heads::EdgeEnds::alike;
      if (task.level == data::GraphLevel::edge) edges_.emplace(scope / "edge", width, nodes_->edge_width(), ends);
      if (task.level == data::GraphLevel::pair) pairs_.emplace(scope / "pair", width, ends);
    }
    classifier_.emplace(scope, width, outputs_of(task));
  }
}

std::vector<CountedExample> counted_examples(std::span<const data::TaskExample> examples, Task task) {
  std::vector<CountedExample> counted;
  for (const data::TaskExample& example : examples) {
    const TokenList text(example.sequence.ids);
    if (has_label_sets(task) && !example.tags.empty()) counted.push_back({text, 0, 0});
    if (has_classes(task) && answered_by(task) == Answered::whole && example.label >= 0) {
      counted.push_back({text, 0, example.label});
    }
    for (std::size_t i = 0; answered_by(task) == Answered::parts && i < example.tags.size(); ++i) {
      if (example.tags[i] >= 0) counted.push_back({text, example.positions[i], example.tags[i]});
    }
  }
  return counted;
}

void TaskModel::start_head(double factor, const std::vector<double>& log_frequencies) {
  const auto classes = static_cast<Index>(log_frequencies.size());
  const Tensor &weight = parameters().find("task/weight")->value(), &bias = parameters().find("task/bias")->value();
  weight.fill(0);
  for (Index c = 0; c < classes; ++c) {
    weight[c * classes + c] = 1;
    bias[c] = static_cast<Real>(factor * log_frequencies[static_cast<std::size_t>(c)]);
  }
}

bool TaskModel::start_from_label_counts(std::span<const data::TaskExample> examples) {
  auto* const body = dynamic_cast<CountedLabels*>(body_.get());
  if (body == nullptr || task_.pooling != Pooling::first || task_.layer_mix || examples.empty()) return false;
  std::vector<double> counts(task_.labels.size(), 1);
  std::vector<CountedText> texts;
  for (const data::TaskExample& example : examples) {
    texts.push_back({TokenList(example.sequence.ids), {}});
    for (std::size_t label = 0; label < example.tags.size(); ++label) {
      if (example.tags[label] != 1) continue;
      texts.back().labels.push_back(static_cast<Index>(label));
      counts[label] += 1;
    }
  }
  const std::optional<double> factor = body->start_from_label_counts(texts, std::ssize(counts));
  if (!factor) return false;
  for (double& count : counts) count = std::log(count / (static_cast<double>(texts.size()) + 2 - count));
  start_head(*factor, counts);
  return true;
}

bool TaskModel::start_from_counts(std::span<const data::TaskExample> examples) {
  if (task_.has_label_sets()) return start_from_label_counts(examples);
  auto* const body = dynamic_cast<CountedStart*>(body_.get());
  if (body == nullptr || !classifier_ || task_.pooling != Pooling::first || task_.layer_mix) return false;
  const auto classes = static_cast<Index>(task_.labels.size());
  const std::vector<CountedExample> counted = counted_examples(examples, task_.task);
  if (counted.empty()) return false;
  const std::optional<double> factor = body->start_from_counts(counted, classes);
  if (!factor) return false;
  std::vector<double> counts(static_cast<std::size_t>(classes), 1);
  for (const CountedExample& example : counted) counts[static_cast<std::size_t>(example.label)] += 1;
  for (double& count : counts) count = std::log(count / static_cast<double>(counted.size()));
  start_head(*factor, counts);
  return true;
}

void TaskModel::set_temperature(double temperature) {
  const double divisor = temperature / std::exchange(task_.temperature, temperature);
  for (const char* const name : {"task/weight", "task/bias"}) {
    const Tensor& values = parameters().find(name)->value();
    for (Index i = 0; i < values.size(); ++i) values[i] = static_cast<Real>(values[i] / divisor);
  }
}

void TaskModel::set_thresholds(std::vector<double> thresholds) {
  task_.thresholds = std::move(thresholds);
  check_thresholds(task_);
}

Variable TaskModel::hidden(const Sequences& sequences, const Pass& pass) const {
  if (mix_scores_.empty()) return vectors_->hidden(sequences, pass);
  std::vector<Variable> layers;
  vectors_->hidden(sequences, pass, [&](const Variable& layer) { layers.push_back(layer); });
  return ops::layer_mix(layers, mix_scores_, mix_scale_);
}

Variable TaskModel::hidden_at(const std::vector<Index>& positions, const Sequences& sequences, const Pass& pass) const {
  if (mix_scores_.empty()) return vectors_->hidden_at(positions, sequences, pass);
  return ops::gather_positions(hidden(sequences, pass), positions);
}

Variable TaskModel::pooled(const Sequences& sequences, const Pass& pass) const {
  std::vector<Index> positions = lengths_of(sequences);
  if (task_.pooling == Pooling::mean) return ops::mean_over_time(hidden(sequences, pass), positions);
  for (Index& position : positions) position = task_.pooling == Pooling::first ? 0 : position - 1;
  const Variable chosen = hidden_at(positions, sequences, pass);
  if (task_.pooling == Pooling::first) return vectors_->summary(chosen);
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

Variable TaskModel::graph_logits(const data::GraphBatch& graphs, const Pass& pass) const {
  return (*classifier_)(nodes_->graph_vectors(nodes_->node_vectors(graphs, pass), graphs), pass);
}

Variable TaskModel::part_vectors(const data::GraphBatch& graphs, const std::vector<Index>& rows,
                                 const Pass& pass) const {
  const Variable nodes = nodes_->node_vectors(graphs, pass);
  if (edges_) return (*edges_)(nodes, nodes_->edge_vectors(graphs), graphs.edges, rows);
  if (!pairs_) return ops::gather_rows(nodes, rows);
  std::vector<Index> targets, sources;
  for (const Index row : rows) {
    const data::NodePair& pair = graphs.pairs.at(static_cast<std::size_t>(row));
    targets.push_back(pair.target);
    sources.push_back(pair.source);
  }
  return (*pairs_)(nodes, targets, sources);
}

Variable TaskModel::part_logits(const data::GraphBatch& graphs, const std::vector<Index>& positions, Index longest,
                                const Pass& pass) const {
  std::vector<Index> rows;
  if (!task_.columns.empty()) {
    const auto columns = static_cast<Index>(task_.columns.size());
    for (const Index position : positions) rows.push_back(position / longest * columns + position % longest);
    const Variable all = view(graph_logits(graphs, pass), [columns](const Tensor& t) {
      return t.reshaped({t.shape()[0] * columns, t.shape()[1] / columns});
    });
    return ops::gather_rows(all, rows);
  }
  for (const Index position : positions) {
    const auto graph = static_cast<std::size_t>(position / longest);
    const Index node = graphs.starts[graph];  // the first one of its graph
    const Index first = pairs_   ? graphs.pair_starts[graph]
                        : edges_ ? graphs.edges->rows[static_cast<std::size_t>(node)]
                                 : node;
    rows.push_back(first + position % longest);
  }
  return classifier_->token_logits(part_vectors(graphs, rows, pass), positions, longest, pass);
}

heads::Span::Scores TaskModel::span_scores(const Sequences& sequences, const Pass& pass) const {
  return (*span_)(hidden(sequences, pass), pass);
}

}  // namespace heddle::models

// The task of a fine-tuned model, as files and command lines describe it.
#pragma once

#include <string>
#include <vector>

#include "libcore/base/visit.hpp"
#include "libcore/data/graphs.hpp"

namespace heddle::models {

// Unit that has its own answer.
enum class Answered {
  whole,   // a text or two, or a graph; vectors of its parts are pooled
  parts,   // each word, node or edge
  place,   // a question about a text, for whose answer each token has scores as first and as last one
  tokens,  // tokens of the model's own head, so that a file of the task is a model like any other
};

// Form of an answer.
enum class Answer { one_class, labels, number, span, tokens };

enum class Task {
#define HEDDLE_TASK(name, answered, answer, predicts) name,
#include "libcore/models/tasks.def"
#undef HEDDLE_TASK
};

struct TaskKind {
  Task task;
  std::string_view name;
  Answered answered;
  Answer answer;
  std::string_view predicts;
};
inline constexpr TaskKind task_kinds[] = {
#define HEDDLE_TASK(name, answered, answer, predicts) {Task::name, #name, Answered::answered, Answer::answer, predicts},
#include "libcore/models/tasks.def"
#undef HEDDLE_TASK
};
constexpr const TaskKind& kind_of(Task task) {
  return task_kinds[static_cast<std::size_t>(task)];
}
constexpr Answered answered_by(Task task) {
  return kind_of(task).answered;
}
constexpr Answer answer_of(Task task) {
  return kind_of(task).answer;
}

constexpr bool has_own_head(Task task) {
  return answered_by(task) == Answered::tokens;
}
constexpr bool has_classes(Task task) {
  return answer_of(task) == Answer::one_class;
}
// Whether an example has any number of labels, each with a probability of its own.
constexpr bool has_label_sets(Task task) {
  return answer_of(task) == Answer::labels;
}
constexpr bool has_labels(Task task) {
  return has_classes(task) || has_label_sets(task);
}

// The hidden state that represents a whole text.
enum class Pooling {
  automatic,  // encoders: the mean, or the first token with a pooler; decoders: the last
  first,      // [CLS], through the pooler if the model has one (Devlin et al. 2019)
  mean,       // the mean over the text's tokens
  last,       // the last token's (Radford et al. 2018)
};

}  // namespace heddle::models

template <>
struct heddle::Names<heddle::models::Task> {
  static constexpr std::pair<heddle::models::Task, std::string_view> list[] = {
#define HEDDLE_TASK(name, answered, answer, predicts) {heddle::models::Task::name, #name},
#include "libcore/models/tasks.def"
#undef HEDDLE_TASK
  };
};

template <>
struct heddle::Names<heddle::models::Pooling> {
  using Pooling = heddle::models::Pooling;
  static constexpr std::pair<Pooling, std::string_view> list[] = {
      {Pooling::automatic, "auto"}, {Pooling::first, "first"}, {Pooling::mean, "mean"}, {Pooling::last, "last"}};
};

namespace heddle::models {

struct TaskConfig {
  Task task = Task::classify;
  Pooling pooling = Pooling::automatic;
  bool layer_mix = false;
  std::vector<std::string> labels{};  // class names, in order of their ids
  bool two_texts = false;
  bool null_answers = false;          // span: whether there may be no answer
  double temperature = 1;             // classes: divides the head's logits, folded into its weights and bias
  double mean = 0, stddev = 1;        // numbers: the head predicts (number - mean) / stddev
  std::vector<Index> label_counts{};  // counts in the training examples, in order of ids; empty: not known
  std::vector<std::string> words{};   // label: words whose usual tag differs from the majority tag
  std::vector<Index> word_tags{};     // the usual tag of each of these words
  // The smallest 65,536 hashes (unsigned) of the training texts, by which copies are found; empty: unknown.
  std::vector<Index> text_keys{};
  Index left_out = 0;      // records of the training files that could not be used
  bool of_graphs = false;  // whether the examples were graphs, of which a bag reads the parts as words
  data::GraphLevel level = data::GraphLevel::graph;  // graphs: level of the answers
  std::vector<std::string> columns{};                // label, of whole graphs: names of the labels that each has
  // multilabel: the least probability with which a text gets each label, in order of ids; empty: 1/2.
  std::vector<double> thresholds{};
  std::string separator = ";";  // multilabel: of labels in one field of a table (formats::separator_text)
  Index texts = 0;              // multilabel: number of training texts, of which label_counts have each label

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visit_settings(self, visitor);
    visitor(Field("label_counts", "number of training examples, or words, of each class, for the baseline"),
            self.label_counts);
    visitor(Field("words", "label: training words whose most frequent tag is not the most frequent one of all words"),
            self.words);
    visitor(Field("word_tags", "label: the most frequent tag of each of these words"), self.word_tags);
    visitor(Field("text_keys", "hashes of training texts, by which their copies are found"), self.text_keys);
    visitor(Field("left_out", "number of records of the training files that could not be used").range(0),
            self.left_out);
    visitor(
        Field("temperature", "temperature of the probabilities of classes, which the head's weights contain").above(0),
        self.temperature);
    visitor(Field("of_graphs", "whether the examples were graphs"), self.of_graphs);
    visitor(Field("level", "of graphs: what has an answer"), self.level);
    visitor(Field("columns", "label, of whole graphs: names of the labels that each has"), self.columns);
    visitor(Field("thresholds", "multilabel: least probability with which a text gets each label"), self.thresholds);
    visitor(Field("separator", "multilabel: separator of labels in one field"), self.separator);
    visitor(Field("texts", "multilabel: number of training texts, for the baseline").range(0), self.texts);
  }

  // Omits statistics of the training examples.
  template <class Self, class Visitor>
  static void visit_settings(Self& self, Visitor& visitor) {
    visitor(Field("task", "what the model predicts"), self.task);
    visitor(Field("pooling", "hidden state that represents a text"), self.pooling);
    visitor(Field("layer_mix", "whether the head sees a learned mix of all layers, not the last one"), self.layer_mix);
    visitor(Field("labels", "names of the classes"), self.labels);
    visitor(Field("two_texts", "whether examples have two texts"), self.two_texts);
    visitor(Field("null_answers", "span: whether questions may have no answer"), self.null_answers);
    visitor(Field("mean", "regression: mean of the numbers (head output 0)"), self.mean);
    visitor(Field("stddev", "regression: standard deviation of the numbers (head output 1 above the mean)"),
            self.stddev);
  }
  bool has_classes() const { return models::has_classes(task); }
  bool has_label_sets() const { return models::has_label_sets(task); }
  bool has_labels() const { return models::has_labels(task); }
};

// A task, to print it or to compare it, without what is known of the training examples, and of graphs without what
// texts alone have.
struct TaskSettings {
  TaskConfig task;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    if (!self.task.of_graphs) {
      TaskConfig::visit_settings(self.task, visitor);
      if (self.task.has_label_sets()) visitor(Field("thresholds", ""), self.task.thresholds);
      return;
    }
    visitor(Field("task", ""), self.task.task);
    visitor(Field("level", ""), self.task.level);
    if (!self.task.columns.empty()) visitor(Field("columns", ""), self.task.columns);
    visitor(Field("labels", ""), self.task.labels);
    visitor(Field("mean", ""), self.task.mean);
    visitor(Field("stddev", ""), self.task.stddev);
  }
};

}  // namespace heddle::models

// Task and settings of a fine-tuning.
#pragma once

#include <string>
#include <vector>

#include "formats/labelled/labelled_input.hpp"
#include "libcore/base/settings.hpp"
#include "libcore/data/framing.hpp"
#include "libcore/models/task.hpp"
#include "libcore/nn/low_rank_options.hpp"
#include "libcore/text/vocabulary_training.hpp"

namespace heddle {

enum class ClassWeights { none, balanced };
template <>
struct Names<ClassWeights> {
  static constexpr std::pair<ClassWeights, std::string_view> list[] = {{ClassWeights::none, "none"},
                                                                       {ClassWeights::balanced, "auto"}};
};

// A task with its settings, as command lines and files have them: "classify:calibrate=none".
class TaskChoice {
 public:
  TaskChoice(models::Task task = models::Task::classify) : task_(task) {}

  models::Task kind() const { return task_; }
  // Whether the probabilities of classes get a temperature that is fitted on the validation data.
  bool calibrates() const { return calibrates_; }
  // multilabel: what separates labels in a field, one of formats::label_separators.
  const std::string& separator() const { return separator_; }

  // from_text throws UsageError for an unknown name and for settings that the task does not have.
  std::string text() const;
  static TaskChoice from_text(std::string_view text);
  // The tasks with their settings, for help.
  static const std::vector<NameHelp>& described();

 private:
  models::Task task_;
  bool calibrates_ = true;
  std::string separator_ = usual_separator;
  static constexpr const char* usual_separator = ";";
};

// "task=NAME" of each task of which `is` holds.
inline std::vector<std::string> tasks_where(bool (*is)(models::Task)) {
  std::vector<std::string> conditions;
  for (const models::TaskKind& kind : models::task_kinds) {
    if (is(kind.task)) conditions.push_back("task=" + std::string(kind.name));
  }
  return conditions;
}

struct TuningSpec {
  TaskChoice task;
  models::Pooling pooling = models::Pooling::automatic;
  bool layer_mix = false;
  formats::LabelledInput input;
  data::Overlong overlong = data::Overlong::truncate;
  Index folds = 0, fold = 1;
  ClassWeights class_weights = ClassWeights::none;
  std::string metric = "auto", freeze;
  double dropout = -1, auxiliary_weight = 0;
  LowRankOptions adapters;
  text::Marks marks = text::Marks::automatic;

  bool adapts() const { return adapters.lora_rank > 0; }

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("task",
                  "what to learn: a class of a text or pair, any labels, a number, a tag of each word, a span that "
                  "answers, or language modelling")
                .takes("NAME")
                .one_of(names_of<models::Task>())
                .named_in(TaskChoice::described)
                .essential(),
            self.task);
    visitor(Field("metric", "validation metric that decides which model is best; auto: the usual one of the task")
                .needs({"valid", "folds", "ensemble"})
                .takes("NAME"),
            self.metric);
    visitor(Field("folds", "split --train into K folds of equal size").range(2, 10000).word(0, "none").takes("K"),
            self.folds);
    visitor(Field("fold",
                  "fold, from 1, to leave out of training, and to evaluate on unless --valid is given; all: "
                  "cross-validation, with -o for the predictions")
                .needs({"folds"})
                .range(1, 10000)
                .word(0, "all")
                .takes("I"),
            self.fold);
    visitor(Field("overlong", "examples longer than the context: truncate them, report an error, or split them"),
            self.overlong);
    visitor(Field("pooling",
                  "hidden state that represents a text; auto: the mean for encoders, the first token's with a pooler, "
                  "the last one's for decoders")
                .needs(tasks_where([](models::Task of) { return answered_by(of) == models::Answered::whole; })),
            self.pooling);
    visitor(Field("layer_mix", "give the task's layer a learned mix of the hidden states of all layers (ELMo)")
                .needs(tasks_where([](models::Task of) { return !has_own_head(of); })),
            self.layer_mix);
    visitor(Field("class_weights", "weights of the classes in the loss; auto: inverse to their frequency")
                .needs(tasks_where(models::has_classes)),
            self.class_weights);
    visitor(Field("auxiliary_weight",
                  "weight of an additional loss: predicting the texts of the examples, as in pre-training (GPT)")
                .formerly("auxiliary_text")
                .range(0, 100)
                .takes("X"),
            self.auxiliary_weight);
    visitor(Field("dropout", "dropout rate; auto: that of --from, for texts at least 0.1")
                .range(0, 0.99)
                .word(-1, "auto")
                .takes("P"),
            self.dropout);
    visitor(Field("freeze", "parts that are not trained: comma-separated, embeddings, body, or prefixes of names")
                .takes("LIST"),
            self.freeze);
    visitor(Field("marks",
                  "combining marks in a new model's words: keep, remove, or remove those of Latin, Greek and Cyrillic "
                  "letters (auto, european)")
                .needs({"arch"}),
            self.marks);
    visitor(Field("input", "Labelled files"), self.input);
    visitor(Field("adapters", "Low-rank adapters (LoRA)"), self.adapters);
  }
};

}  // namespace heddle

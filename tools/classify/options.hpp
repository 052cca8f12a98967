// The command line of classify.
#pragma once

#include <string>
#include <vector>

#include "libcore/decoding/length_batches.hpp"
#include "tools/cli/answer_precision.hpp"
#include "tools/cli/arguments.hpp"
#include "tools/tasks/task_data.hpp"

namespace heddle {

// Comparison of labels of different lengths.
enum class LabelScore { sum, mean };
template <>
struct Names<LabelScore> {
  static constexpr std::pair<LabelScore, std::string_view> list[] = {{LabelScore::sum, "sum"},
                                                                     {LabelScore::mean, "mean"}};
};

struct ZeroShotOptions {
  std::vector<std::string> labels;
  std::string template_text, neutral;
  LabelScore label_score = LabelScore::sum;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("labels", "comma-separated classes, which a language model scores").takes("LIST").essential(),
            self.labels);
    visitor(Field("template", "the prompt, in which {} stands for the text; the label follows it")
                .takes("TEXT")
                .essential(),
            self.template_text);
    visitor(
        Field("label_score", "compare the log-likelihoods of the labels, or their means per token").needs({"labels"}),
        self.label_score);
    visitor(Field("neutral", "subtract the score that each label has after the prompt with this text, for example N/A")
                .needs({"labels"})
                .takes("TEXT"),
            self.neutral);
  }
};

struct ClassifyOptions {
  std::string base, baseline, output = "-";
  Index top = 1;
  bool raw = false, jsonl = false, evaluate = false, json = false;
  std::string metric = "auto";
  Index folds = 0, fold = 1;
  Index batch_tokens = decoding::usual_batch_tokens;
  PrecisionChoice precision = PrecisionChoice::f32;
  data::Overlong overlong = data::Overlong::truncate;
  Index max_answer_length = 30;
  double threshold = 0;
  double null_threshold = 0;
  formats::LabelledInput input;
  ZeroShotOptions zero_shot;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("base", "base model of an adapter, if it is not in the adapter's directory")
                .not_empty()
                .takes("MODEL")
                .essential(),
            self.base);
    visitor(Field("baseline", "compare with this model, made by finetune, instead of with the most frequent label")
                .needs({"evaluate"})
                .not_empty()
                .takes("MODEL"),
            self.baseline);
    visitor(Field("output",
                  "file for the results; with --evaluate for text, gold label, prediction and probability of each "
                  "example, as NAME.tsv or NAME.jsonl")
                .letter('o')
                .takes("FILE")
                .essential(),
            self.output);
    visitor(Field("top", "print the K most probable labels or answers").range(1, 100000).takes("K").essential(),
            self.top);
    visitor(Field("threshold",
                  "print a label only if its probability is at least P, else an empty one, or null with --jsonl; with "
                  "--evaluate: print the fraction of texts with a label (coverage) and the metrics of these; where "
                  "texts have any number of labels: P instead of each label's own threshold")
                .range(0, 1)
                .takes("P")
                .essential(),
            self.threshold);
    visitor(Field("raw",
                  "tag sentences as they are, one per line: their words are found, and printed with begin, end and tag")
                .essential(),
            self.raw);
    visitor(Field("jsonl", "print one JSON object per text, sentence or question, as -o NAME.jsonl does").essential(),
            self.jsonl);
    visitor(Field("evaluate", "compare with the labels of the file; print metrics").essential(), self.evaluate);
    visitor(Field("json", "print the evaluation as JSON").needs({"evaluate"}).essential(), self.json);
    visitor(Field("metric", "metric to print first, with a confidence interval; auto means the usual one of the task")
                .needs({"evaluate"})
                .takes("NAME"),
            self.metric);
    visitor(Field("folds", "split the file into K folds as finetune does with the same --seed, and use only --fold")
                .needs({"evaluate"})
                .range(2, 10000)
                .word(0, "none")
                .takes("K"),
            self.folds);
    visitor(Field("fold", "number of the fold, from 1").needs({"folds"}).range(1, 10000).takes("I"), self.fold);
    visitor(Field("batch_tokens", "maximum number of tokens in a batch").range(1, 100000000).takes("N"),
            self.batch_tokens);
    visitor(cli::precision_field(), self.precision);
    visitor(
        Field("overlong",
              "texts longer than the context, and questions longer than half of it: truncate them, report an error, or "
              "split them and average the parts")
            .essential(),
        self.overlong);
    visitor(Field("max_answer_length", "maximum number of tokens in an answer")
                .range(1, 100000)
                .formerly("longest_answer")
                .takes("N"),
            self.max_answer_length);
    visitor(Field("null_threshold", "give no answer if the no-answer score exceeds the best answer's by more than X")
                .range(-1e6, 1e6)
                .takes("X"),
            self.null_threshold);
    visitor(Field("input", "Labelled files"), self.input);
    visitor(Field("zero_shot", "Without fine-tuning"), self.zero_shot);
  }
};

// Throws UsageError for options that contradict each other, and for an output that is an input.
void check_usage(const ClassifyOptions& options, const cli::Arguments& arguments);

// Throws UsageError for an option that models of the task do not use.
void refuse_unused(const models::TaskConfig& task, const ClassifyOptions& options, const cli::Arguments& arguments);

// Reading of the task's examples.
TaskInput input_of(const models::TaskConfig& task, const ClassifyOptions& options);

// The threshold of the score of no answer: infinity for a model of questions that all have one, unless it was given.
double null_threshold(const models::TaskConfig& task, const ClassifyOptions& options, const cli::Arguments& arguments);

}  // namespace heddle

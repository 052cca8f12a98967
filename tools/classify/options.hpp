// The command line of classify.
#pragma once

#include <string>
#include <vector>

#include "heddle/data/framing.hpp"
#include "heddle/decoding/best_spans.hpp"
#include "heddle/formats/labelled/labelled_input.hpp"

namespace heddle {

// How labels of different lengths are compared.
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
    visitor(Field("labels", "classes to choose among by asking a language model; apart by commas")
                .takes("LIST")
                .essential(),
            self.labels);
    visitor(
        Field("template", "the prompt, with {} wherever the text goes; the label follows it").takes("TEXT").essential(),
        self.template_text);
    visitor(Field("label_score", "compare the labels' log-likelihoods, or their means over the labels' tokens")
                .needs({"labels"}),
            self.label_score);
    visitor(Field("neutral", "subtract each label's score after the prompt with this for a text, N/A for example")
                .needs({"labels"})
                .takes("TEXT"),
            self.neutral);
  }
};

struct ClassifyOptions {
  std::string base, output = "-";
  Index top = 1;
  bool jsonl = false, evaluate = false, json = false;
  std::string metric;
  Index folds = 0, fold = 0;
  Index batch_tokens = 4096;
  data::Overlong overlong = data::Overlong::error;
  Index max_answer_length = 30;
  double null_threshold = 0;
  formats::LabelledInput input;
  ZeroShotOptions zero_shot;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("base", "the model that an adapter belongs to, where it is not beside the adapter")
                .not_empty()
                .takes("MODEL")
                .essential(),
            self.base);
    visitor(Field("output", "where the results go").letter('o').takes("FILE").essential(), self.output);
    visitor(Field("top", "the K most likely labels or answers").range(1, 100000).takes("K").essential(), self.top);
    visitor(Field("jsonl", "a JSON object a text, sentence or question").essential(), self.jsonl);
    visitor(
        Field("evaluate", "compare with the labels that the file has, and tell how well the model does").essential(),
        self.evaluate);
    visitor(Field("json", "the evaluation as JSON").needs({"evaluate"}).essential(), self.json);
    visitor(Field("metric", "the figure to name first").needs({"evaluate"}).takes("NAME"), self.metric);
    visitor(Field("folds",
                  "of this many equal parts of the file, as finetune cuts it (same --seed), use "
                  "only --fold")
                .needs({"evaluate"})
                .range(2, 10000)
                .word(0, "none")
                .takes("K"),
            self.folds);
    visitor(Field("fold", "the part, from 0").needs({"folds"}).range(0, 9999).takes("I"), self.fold);
    visitor(Field("batch_tokens", "most tokens in a batch").range(1, 100000000).takes("N"), self.batch_tokens);
    visitor(Field("overlong",
                  "texts longer than the context, and questions longer than half of it: an error, cut them, or (not "
                  "questions, nor with --labels) split them and let the parts vote")
                .essential(),
            self.overlong);
    visitor(
        Field("max_answer_length", "most tokens of an answer").range(1, 100000).formerly("longest_answer").takes("N"),
        self.max_answer_length);
    visitor(Field("null_threshold", "give no answer where that scores better by more than this").takes("X"),
            self.null_threshold);
    visitor(Field("input", "Labelled files"), self.input);
    visitor(Field("zero_shot", "Without fine-tuning"), self.zero_shot);
  }
};

}  // namespace heddle

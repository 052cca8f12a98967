// Contributions of the words of a text to a model's answer, for inspect explain.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "libcore/analysis/contributions.hpp"
#include "tools/lines/input_texts.hpp"

namespace heddle {

enum class ExplainBy { automatic, leave_out, gradient, integrated };
template <>
struct Names<ExplainBy> {
  static constexpr std::pair<ExplainBy, std::string_view> list[] = {{ExplainBy::automatic, "auto"},
                                                                    {ExplainBy::leave_out, "leave-out"},
                                                                    {ExplainBy::gradient, "gradient"},
                                                                    {ExplainBy::integrated, "integrated"}};
};

// A word of a text, or of the second text of a pair.
struct ExplainedWord {
  std::string gap, text;  // the text before the word, and the word
  bool is_second = false;
};

// One answer: the class of a text, the tag of a word, a token.
struct ExplainedAnswer {
  std::string name;                     // of the class, tag or token; "number" of a regression
  Index place = 0;                      // number of the tagged word, or of the token in its text, from 1; 0: the text
  std::string of{};                     // the tagged word
  std::optional<double> probability{};  // not of a number
  analysis::Contributions contributions{};
};

struct Explanation {
  std::string target{};  // translations only
  std::vector<ExplainedWord> words;
  std::string end{};  // the text after the last word
  std::vector<ExplainedAnswer> answers;
};

struct ExplainWanted {
  ExplainBy method = ExplainBy::automatic;
  std::string label;  // a class; "all"; or empty: the most probable one
  Index place = 0;    // number of the word or token; 0: all
};

// A model that explains texts.
struct Explainer {
  std::string method;  // "exact", "leave-out", "gradient", "integrated"
  std::string value;   // what contributions add up to: "logit", "number", "log-probability"
  bool reads_lines;    // whether texts are lines, which may have two halves
  std::function<Explanation(const InputText& text)> explain;
};

// A fine-tuned model that labels texts or words or predicts numbers, a model that predicts next tokens, or one that
// translates: texts of pairs have a tab between them, and a translation's is SOURCE, or SOURCE, tab, TARGET. Throws
// DataError for other models, UsageError for classes that are not there and for what the model has no use for.
Explainer explainer(const std::string& path, const std::string& base, const ExplainWanted& wanted);

}  // namespace heddle

// Answers at the end of worked steps: where they begin, what most of several texts say, and how many are right.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/arguments.hpp"
#include "tools/cli/streams.hpp"

namespace heddle {

// Text after the last `mark`, trimmed; all of the text if the mark is empty. Nothing if the text has no mark, or ends
// with it.
std::optional<std::string> answer_in(std::string_view text, std::string_view mark);

// The answer that most texts give, and what part of all texts that is; of equally many the first. "" and 0 where no
// text has an answer. Source: Wang et al. 2023, "Self-consistency improves chain of thought reasoning".
struct Vote {
  std::string answer;
  double share = 0;
};
Vote vote(std::span<const std::optional<std::string>> answers);

// generate --evaluate with a model that continues texts: how many answers are those of a file, line by line.
class AnswerEvaluation {
 public:
  // Throws DataError where the file cannot be read.
  AnswerEvaluation(const std::string& path, std::string mark) : input_(path), mark_(std::move(mark)) {}

  // The answer to the next prompt; nothing where the text has none.
  void add(const Vote& vote);
  // Throws DataError where there is not a line for each prompt, or no prompt.
  void write(std::ostream& out, bool json);

 private:
  cli::Input input_;
  std::string mark_;
  cli::LineReader lines_{input_};
  std::vector<double> right_;  // 1 or 0
  Index prompts_ = 0, without_ = 0;
  double shares_ = 0;
};

}  // namespace heddle

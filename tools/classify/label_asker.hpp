// Classes without fine-tuning: a language model is asked which label follows a prompt with the text.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "libcore/data/task_examples.hpp"
#include "libcore/decoding/zero_shot.hpp"
#include "tools/classify/options.hpp"
#include "tools/lines/length_limit.hpp"
#include "tools/tasks/task_data.hpp"

namespace heddle {

class LabelAsker {
 public:
  // With a neutral text, each label's score after the prompt with that text is subtracted. The arguments must outlive
  // this object. Throws UsageError if there are fewer than two labels or the template has no {}.
  LabelAsker(const models::TokenLoss& model, const text::Tokenizer& tokenizer, const ClassifyOptions& options,
             const std::optional<std::string>& neutral);

  // The probability of each label for each text: [texts][labels]. Throws DataError, "FILE:LINE: …", for a prompt that
  // does not fit the context, unless --overlong truncates it.
  std::vector<std::vector<double>> operator()(const TaskData& data);

  // Truncated prompts lose their beginning.
  const LengthLimit& limit() const { return limit_; }

 private:
  decoding::Tokens prompt(const std::string& text, const std::string& where);
  std::vector<std::vector<double>> scores(const std::vector<decoding::Tokens>& prompts) const;

  const models::TokenLoss& model_;
  const text::Tokenizer& tokenizer_;
  const ClassifyOptions& options_;
  std::vector<std::variant<TokenId, std::string>> template_;  // cut where it spells special tokens
  std::vector<decoding::Tokens> labels_;
  Index room_;                 // of a prompt, in tokens
  std::vector<double> prior_;  // of each label
  LengthLimit limit_;
};

}  // namespace heddle

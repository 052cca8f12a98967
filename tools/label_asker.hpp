// Classes without fine-tuning: a language model is asked which label follows a prompt with the text.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "classify_options.hpp"
#include "heddle/decoding/zero_shot.hpp"
#include "heddle/formats/load_model.hpp"
#include "task_data.hpp"

namespace heddle {

class LabelAsker {
 public:
  // With a neutral text, each label's score after the prompt with that is subtracted. Throws UsageError where there are
  // fewer than two labels, or the template has no place for the text.
  LabelAsker(const formats::LoadedDecoder& loaded, const ZeroShotOptions& options,
             const std::optional<std::string>& neutral, Index batch_tokens);

  // The probability of each label for each text: [texts][labels].
  std::vector<std::vector<double>> operator()(const TaskData& data) const;

 private:
  decoding::Tokens prompt(const std::string& text, const std::string& where) const;
  std::vector<std::vector<double>> scores(const std::vector<decoding::Tokens>& prompts) const;

  const formats::LoadedDecoder& loaded_;
  const ZeroShotOptions& options_;
  Index batch_tokens_;
  std::vector<decoding::Tokens> labels_;
  std::vector<double> prior_;  // of each label
};

}  // namespace heddle

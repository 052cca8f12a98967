// generate: continues texts.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "heddle/cli/arguments.hpp"
#include "heddle/cli/streams.hpp"
#include "heddle/models/roles.hpp"
#include "tools/generate/continuation.hpp"
#include "tools/generate/options.hpp"

namespace heddle {

class TextContinuer {
 public:
  // All must stay. Throws UsageError for options that are for filling in blanks, or do not fit the model.
  TextContinuer(const models::Generator& model, const text::Tokenizer& tokenizer, const GenerateOptions& options,
                const cli::Arguments& arguments);

  // One text with its continuation, as it is; each piece goes out as soon as it is certain. Several are lines.
  void one();
  // A line out for each line in, or as many as texts are wanted for each.
  void lines(const std::string& file);

 private:
  struct Prompt {
    std::string text;
    std::vector<TokenId> ids;
  };
  struct Answer {
    Continuation text;
    std::optional<double> score{};  // of a beam search
  };
  // Told of a text that has become longer, or is finished.
  using Watcher = std::function<void(const Continuation&)>;

  Prompt make(const std::string& text, const std::string& where);
  std::vector<TokenId> encode(const std::string& prompt, const std::string& where) const;
  // As many for each prompt as are wanted.
  std::vector<Answer> answers(const std::vector<Prompt>& prompts, const Watcher& watch);
  std::vector<Answer> drawn(const std::vector<std::vector<TokenId>>& prompts, const Watcher& watch) const;
  std::vector<Answer> searched(const std::vector<std::vector<TokenId>>& prompts) const;
  std::string line(const Prompt& prompt, const Answer& answer, Index number) const;
  void write(const std::vector<Prompt>& prompts);
  // Writes a text as it is made, through `spelled`.
  void stream(const Prompt& prompt, const std::function<std::string(std::string_view)>& spelled);
  void finish();

  const models::Generator& model_;
  const text::Tokenizer& tokenizer_;
  const GenerateOptions& options_;
  const cli::Arguments& arguments_;
  const Index wanted_;  // texts for each prompt
  const DType cache_;
  cli::Output output_;
  Index done_ = 0, truncated_ = 0;
};

}  // namespace heddle

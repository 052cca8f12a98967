// generate: continues texts.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "heddle/cli/arguments.hpp"
#include "heddle/models/roles.hpp"
#include "tools/generate/continuation.hpp"
#include "tools/generate/options.hpp"
#include "tools/lines/length_limit.hpp"
#include "tools/lines/text_reader.hpp"

namespace heddle {

class TextContinuer {
 public:
  // The arguments must outlive this object. Throws UsageError for options for filling in blanks, and for options that
  // do not fit the model.
  TextContinuer(const models::Generator& model, const text::Tokenizer& tokenizer, const GenerateOptions& options,
                const cli::Arguments& arguments, std::ostream& out);

  struct Prompt {
    std::string text;
    std::vector<TokenId> ids;
  };
  Index batch_size() const { return options_.stream ? 1 : options_.batch_size; }
  Prompt make(const InputText& input);
  // One line per prompt, or one per text if several are generated for each prompt.
  void answer(const std::vector<Prompt>& prompts);
  // One prompt with its continuation; with --stream, each piece is printed as soon as it is final. Several texts are
  // printed one per line.
  void answer_one(const Prompt& prompt);
  void report() const { limit_.report(arguments_); }

 private:
  struct Answer {
    Continuation text;
    std::optional<double> score{};  // of a beam search
  };
  // Called when a text has become longer or is finished.
  using Watcher = std::function<void(const Continuation&)>;

  std::vector<TokenId> encode(const InputText& prompt) const;
  // All texts of each prompt.
  std::vector<Answer> answers(const std::vector<Prompt>& prompts, const Watcher& watch);
  std::vector<Answer> drawn(const std::vector<std::vector<TokenId>>& prompts, const Watcher& watch) const;
  std::vector<Answer> searched(const std::vector<std::vector<TokenId>>& prompts) const;
  std::string line(const Prompt& prompt, const Answer& answer, Index number) const;
  // Writes a text while it is generated, through `spelled`.
  void stream(const Prompt& prompt, const std::function<std::string(std::string_view)>& spelled);

  const models::Generator& model_;
  const text::Tokenizer& tokenizer_;
  const GenerateOptions& options_;
  const cli::Arguments& arguments_;
  const Index wanted_;  // texts for each prompt
  const DType cache_;
  std::ostream& out_;
  LengthLimit limit_;
  Index done_ = 0;  // prompts
};

}  // namespace heddle

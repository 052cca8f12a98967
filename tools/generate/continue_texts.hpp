// generate: continues texts.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/cli/arguments.hpp"
#include "tools/generate/text_search.hpp"
#include "tools/generate/worked_answers.hpp"
#include "tools/lines/input_texts.hpp"
#include "tools/lines/length_limit.hpp"

namespace heddle {

class TextContinuer {
 public:
  // Throws UsageError for options for filling in blanks.
  static void refuse_others(const cli::Arguments& arguments);
  // The arguments must outlive this object. Throws UsageError for options that do not fit the model.
  TextContinuer(const models::Generator& model, const text::Tokenizer& tokenizer, const GenerateOptions& options,
                const cli::Arguments& arguments, std::ostream& out);

  struct Prompt {
    std::string text;
    std::vector<TokenId> ids;
  };
  Index batch_size() const { return options_.stream ? 1 : options_.lines_at_once(16); }
  Prompt make(const InputText& input);
  // One line per prompt, or one per text if several are generated for each prompt.
  void answer(const std::vector<Prompt>& prompts);
  // The answers at the ends of the texts (--answer-after), of each prompt.
  std::vector<Vote> votes(const std::vector<Prompt>& prompts);
  // One prompt with its continuation; with --stream, each piece is printed as soon as it is final. Several texts are
  // printed one per line.
  void answer_one(const Prompt& prompt);
  void report() const;

 private:
  std::vector<TokenId> encode(const InputText& prompt) const;
  std::vector<TextSearch::Answer> answers(
      const std::vector<Prompt>& prompts, const TextSearch::Watcher& watch = [](const Continuation&) {});
  std::string line(const Prompt& prompt, const TextSearch::Answer& answer, Index number) const;
  std::string line(const Prompt& prompt, const Vote& vote) const;
  // Writes a text while it is generated, through `spelled`.
  void stream(const Prompt& prompt, const std::function<std::string(std::string_view)>& spelled);

  const models::Generator& model_;
  const text::Tokenizer& tokenizer_;
  const GenerateOptions& options_;
  const cli::Arguments& arguments_;
  std::ostream& out_;
  TextSearch search_;
  LengthLimit limit_;
  Index without_answer_ = 0;
};

}  // namespace heddle

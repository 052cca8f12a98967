// The texts that a search or sampling finds after prompts.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "libcore/models/roles.hpp"
#include "tools/cli/arguments.hpp"
#include "tools/generate/continuation.hpp"
#include "tools/generate/options.hpp"

namespace heddle {

struct SearchInputs {
  std::vector<std::vector<TokenId>> prompts;
  std::vector<std::vector<TokenId>> sources{};  // source of each prompt, for models that read a source text; else empty
  std::vector<Index> max_tokens{};              // limit for each prompt
};

class TextSearch {
 public:
  // `place` is that of the texts; `end` ends one. The arguments must outlive this object. Throws UsageError for options
  // that do not fit the model.
  TextSearch(const models::Generator& model, const text::Tokenizer& tokenizer, text::TextPlace place,
             std::optional<TokenId> end, const GenerateOptions& options, const cli::Arguments& arguments);

  struct Answer {
    Continuation text;
    std::optional<double> score{};  // score in a beam search
  };
  // Called when a text has become longer or is finished.
  using Watcher = std::function<void(const Continuation&)>;

  Index wanted() const { return wanted_; }  // texts for each prompt
  bool is_beam() const { return options_.search.beam > 0; }
  // A text of no token.
  Continuation nothing() const { return {tokenizer_, place_, options_.stop, options_.constraints.min_tokens}; }
  // All texts of each prompt. Ranks divide the prompts (parallel::Divided); each watches its own.
  std::vector<Answer> answers(
      const SearchInputs& inputs, const Watcher& watch = [](const Continuation&) {});
  // An answer as JSON, `number` of those for its prompt; `filled`: the prompt with its blanks filled, if it has any.
  std::string json_line_of(const std::string& prompt, const Answer& answer, Index number,
                           const std::optional<std::string>& filled = {}) const;

 private:
  // The tokens of a text, and its score.
  struct Found {
    std::vector<decoding::Choice> tokens;
    double score = 0;
    auto parts() { return std::tie(tokens, score); }
    auto parts() const { return std::tie(tokens, score); }
  };
  // Puts them at texts[prompt * wanted()] and so on; prompts count from `first`.
  void draw(const SearchInputs& inputs, Index first, const Watcher& watch, std::span<Found> texts) const;
  void search(const SearchInputs& inputs, Index first, std::span<Found> texts) const;
  Answer answer_of(const Found& text) const;

  const models::Generator& model_;
  const text::Tokenizer& tokenizer_;
  text::TextPlace place_;
  std::optional<TokenId> end_;
  const GenerateOptions& options_;
  const cli::Arguments& arguments_;
  const Index wanted_;
  const Index vocab_size_;  // vocabulary of generated tokens
  const DType cache_;
  Index done_ = 0;  // prompts
};

}  // namespace heddle

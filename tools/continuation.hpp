// A prompt and what the model adds to it, as text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heddle/decoding/sampling.hpp"
#include "heddle/text/tokenizer.hpp"

namespace heddle {

class Continuation {
 public:
  Continuation(const text::Tokenizer& tokenizer, std::string prompt, std::vector<TokenId> prompt_ids,
               const std::vector<std::string>& stops);

  const std::vector<TokenId>& prompt_ids() const { return prompt_ids_; }

  // Takes a token. False when the text has come to a stop string; the text then ends before it.
  bool add(const decoding::Choice& token);
  // No token will follow: nothing is held back any longer.
  void finish();

  // The text that became certain with the last call of add() or finish(). The beginning of what may become a stop string
  // is held back until it is clear.
  std::string_view fresh_text() const { return std::string_view(text_).substr(fresh_begin_, certain_ - fresh_begin_); }

  // Prompt and text in one line: backslash, newline and carriage return are written \\, \n and \r.
  std::string line() const;
  // {"prompt": …, "text": …, "ids": […], "log_likelihood": …}; bytes that are not UTF-8 become U+FFFD.
  std::string json() const;

 private:
  std::size_t find_stop() const;

  text::Tokenizer tokenizer_;
  std::string prompt_, text_;
  std::vector<TokenId> prompt_ids_, ids_;
  std::vector<std::string> stops_;
  std::size_t longest_stop_ = 0;
  double log_likelihood_ = 0;
  bool stopped_ = false;
  std::size_t fresh_begin_ = 0, certain_ = 0;
};

}  // namespace heddle

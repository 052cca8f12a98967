// The text that a model adds to a prompt.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/decoding/sampling.hpp"
#include "libcore/text/tokenizer.hpp"

namespace heddle {

class Continuation {
 public:
  // `place`: where the text is, after a prompt or at the beginning. Stop strings are searched for after the first
  // min_tokens tokens. They must outlive this object.
  Continuation(const text::Tokenizer& tokenizer, text::TextPlace place, const std::vector<std::string>& stops,
               Index min_tokens = 0);

  // Adds a token. Returns false if the text contains a stop string now; it then ends before the stop string.
  bool add(const decoding::Choice& token);
  // No token will follow: text that was held back becomes final.
  void finish();

  // The text that became final with the last call of add() or finish(). A possible beginning of a stop string is held
  // back until it is decided.
  std::string_view fresh_text() const { return std::string_view(text_).substr(fresh_begin_, certain_ - fresh_begin_); }

  const std::string& text() const { return text_; }
  const std::vector<TokenId>& ids() const { return ids_; }
  // {"prompt": …, "text": …, "ids": […], "log_likelihood": …, "log_probabilities": […]}
  nlohmann::ordered_json json(const std::string& prompt) const;

 private:
  std::size_t find_stop() const;

  text::Tokenizer tokenizer_;
  text::TextPlace place_;
  const std::vector<std::string>& stops_;
  std::size_t longest_stop_ = 0, min_tokens_;
  std::string text_;
  std::vector<TokenId> ids_;
  std::vector<double> log_probabilities_;
  bool stopped_ = false;
  std::size_t fresh_begin_ = 0, certain_ = 0;
};

}  // namespace heddle

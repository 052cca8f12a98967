#include "continuation.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "escaped.hpp"

namespace heddle {

Continuation::Continuation(const text::Tokenizer& tokenizer, std::string prompt, std::vector<TokenId> prompt_ids,
                           const std::vector<std::string>& stops)
    : tokenizer_(tokenizer), prompt_(std::move(prompt)), prompt_ids_(std::move(prompt_ids)) {
  for (const std::string& stop : stops) {
    check<UsageError>(!stop.empty(), "--stop: the text is empty");
    stops_.push_back(stop);
    longest_stop_ = std::max(longest_stop_, stop.size());
  }
}

// Where the first stop string begins; npos for none. Text that was certain before cannot begin one.
std::size_t Continuation::find_stop() const {
  std::size_t first = std::string::npos;
  for (const std::string& stop : stops_) first = std::min(first, text_.find(stop, certain_));
  return first;
}

bool Continuation::add(const decoding::Choice& token) {
  ids_.push_back(token.id);
  log_likelihood_ += token.log_probability;
  tokenizer_.decode(token.id, text_, text::TextPlace::inside);
  fresh_begin_ = certain_;
  if (const std::size_t stop = find_stop(); stop != std::string::npos) {
    text_.resize(stop);
    stopped_ = true;
  }
  const std::size_t held = stopped_ || longest_stop_ == 0 ? 0 : longest_stop_ - 1;
  certain_ = std::max(certain_, text_.size() - std::min(text_.size(), held));
  return !stopped_;
}

void Continuation::finish() {
  fresh_begin_ = certain_;
  certain_ = text_.size();
}

std::string Continuation::line() const { return escaped(prompt_) + escaped(text_); }

std::string Continuation::json() const {
  const nlohmann::ordered_json object{
      {"prompt", prompt_}, {"text", text_}, {"ids", ids_}, {"log_likelihood", log_likelihood_}};
  return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace heddle

#include "tools/generate/continuation.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

namespace heddle {

Continuation::Continuation(const text::Tokenizer& tokenizer, text::TextPlace place,
                           const std::vector<std::string>& stops, Index min_tokens)
    : tokenizer_(tokenizer), place_(place), stops_(stops), min_tokens_(static_cast<std::size_t>(min_tokens)) {
  for (const std::string& stop : stops_) longest_stop_ = std::max(longest_stop_, stop.size());
}

// Start of the first stop string; npos for none. Text that was already returned cannot begin one.
std::size_t Continuation::find_stop() const {
  std::size_t first = std::string::npos;
  for (const std::string& stop : stops_) first = std::min(first, text_.find(stop, certain_));
  return first;
}

bool Continuation::add(const decoding::Choice& token) {
  ids_.push_back(token.id);
  log_probabilities_.push_back(token.log_probability);
  tokenizer_.decode(token.id, text_, text_.empty() ? place_ : text::TextPlace::inside);
  fresh_begin_ = certain_;
  const bool may_stop = ids_.size() > min_tokens_;
  if (const std::size_t stop = may_stop ? find_stop() : std::string::npos; stop != std::string::npos) {
    text_.resize(stop);
    stopped_ = true;
  }
  const std::size_t held = stopped_ || !may_stop || longest_stop_ == 0 ? 0 : longest_stop_ - 1;
  certain_ = std::max(certain_, text_.size() - std::min(text_.size(), held));
  return !stopped_;
}

void Continuation::finish() {
  fresh_begin_ = certain_;
  certain_ = text_.size();
}

nlohmann::ordered_json Continuation::json(const std::string& prompt) const {
  return {{"prompt", prompt},
          {"text", text_},
          {"ids", ids_},
          {"log_likelihood", std::accumulate(log_probabilities_.begin(), log_probabilities_.end(), 0.0)},
          {"log_probabilities", log_probabilities_}};
}

}  // namespace heddle

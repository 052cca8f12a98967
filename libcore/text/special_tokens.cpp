#include "heddle/text/special_tokens.hpp"

#include <algorithm>
#include <utility>

namespace heddle::text {

SpecialTokens::SpecialTokens(std::vector<Token> tokens) : tokens_(std::move(tokens)) {
  std::ranges::stable_sort(tokens_, std::greater<>{}, [](const Token& token) { return token.text.size(); });
  for (const Token& token : tokens_) {
    begins_[static_cast<unsigned char>(token.text[0])] = true;
    only_first_ = tokens_.front().text[0];
    has_only_first_ = has_only_first_ && token.text[0] == only_first_;
  }
}

const SpecialTokens::Token* SpecialTokens::match_at(std::string_view text, std::size_t position) const {
  for (const Token& token : tokens_) {
    if (text.substr(position, token.text.size()) == token.text) return &token;
  }
  return nullptr;
}

std::optional<SpecialTokens::Match> SpecialTokens::find(std::string_view text, std::size_t from) const {
  if (tokens_.empty()) return std::nullopt;
  for (std::size_t at = from; at < text.size(); ++at) {
    if (has_only_first_) {
      at = text.find(only_first_, at);
      if (at == std::string_view::npos) return std::nullopt;
    }
    if (!begins_[static_cast<unsigned char>(text[at])]) continue;
    if (const Token* token = match_at(text, at)) return Match{at, at + token->text.size(), token->id};
  }
  return std::nullopt;
}

bool SpecialTokens::spans(std::string_view text, std::size_t position) const {
  const std::size_t first = position - std::min(position, longest());
  for (std::size_t at = first; at < position; ++at) {
    if (!begins_[static_cast<unsigned char>(text[at])]) continue;
    const Token* token = match_at(text, at);
    if (token != nullptr && at + token->text.size() > position) return true;
  }
  return false;
}

}  // namespace heddle::text

#include "libcore/text/special_tokens.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "libcore/text/code_points.hpp"
#include "libcore/text/unicode.hpp"

namespace heddle::text {

namespace {

std::size_t pair_of(char first, char second) {
  return static_cast<std::size_t>(static_cast<unsigned char>(first)) << 8 | static_cast<unsigned char>(second);
}

bool is_space(const Character& character) {
  return classify(character.code) == CharacterClass::space;
}

}  // namespace

SpecialTokens::SpecialTokens(std::vector<Token> tokens) : tokens_(std::move(tokens)) {
  std::ranges::stable_sort(tokens_, [](const Token& a, const Token& b) {
    return a.text.size() != b.text.size() ? a.text.size() > b.text.size() : a.text < b.text;
  });
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    if (i == 0 || tokens_[i].text.size() != tokens_[i - 1].text.size()) of_length_.push_back(i);
  }
  of_length_.push_back(tokens_.size());
  for (const Token& token : tokens_) {
    if (token.text.size() == 1) {
      begins_.set(static_cast<unsigned char>(token.text[0]));
    } else {
      begins_with_two_.set(pair_of(token.text[0], token.text[1]));
    }
    only_first_ = tokens_.front().text[0];
    has_only_first_ = has_only_first_ && token.text[0] == only_first_;
    strips_ = strips_ || token.strip_left || token.strip_right;
    single_words_ = single_words_ || token.single_word;
  }
}

bool SpecialTokens::may_begin(std::string_view text, std::size_t position) const {
  return begins_[static_cast<unsigned char>(text[position])] ||
         (position + 1 < text.size() && begins_with_two_[pair_of(text[position], text[position + 1])]);
}

const SpecialTokens::Token* SpecialTokens::match_at(std::string_view text, std::size_t position) const {
  if (!may_begin(text, position)) return nullptr;
  for (std::size_t i = 0; i + 1 < of_length_.size(); ++i) {
    const auto begin = tokens_.begin() + static_cast<std::ptrdiff_t>(of_length_[i]),
               end = tokens_.begin() + static_cast<std::ptrdiff_t>(of_length_[i + 1]);
    const std::string_view here = text.substr(position, begin->text.size());
    const auto found = std::ranges::lower_bound(begin, end, here, {}, &Token::text);
    if (found != end && found->text == here) return &*found;
  }
  return nullptr;
}

bool SpecialTokens::stands_alone(const Token& token, std::string_view text, std::size_t at) {
  const std::size_t end = at + token.text.size();
  return (at == 0 || !word_characters().contains(decode_before(text, at).code)) &&
         (end == text.size() || !word_characters().contains(decode(text, end).code));
}

SpecialTokens::Match SpecialTokens::place_of(const Token& token, std::string_view text, std::size_t from,
                                             std::size_t at) const {
  Match match{at, at + token.text.size(), token.id};
  while (token.strip_left && match.begin > from) {
    const Character before = decode_before(text, match.begin);
    if (!is_space(before)) break;
    match.begin -= std::min(before.length, match.begin - from);
  }
  while (token.strip_right && match.end < text.size()) {
    const Character next = decode(text, match.end);
    if (!is_space(next)) break;
    match.end += next.length;
  }
  return match;
}

std::optional<SpecialTokens::Match> SpecialTokens::find(std::string_view text, std::size_t from) const {
  if (tokens_.empty()) return std::nullopt;
  for (std::size_t at = from; at < text.size(); ++at) {
    if (has_only_first_) {
      at = text.find(only_first_, at);
      if (at == std::string_view::npos) return std::nullopt;
    }
    const Token* token = match_at(text, at);
    if (token == nullptr) continue;
    if (!token->single_word || stands_alone(*token, text, at)) return place_of(*token, text, from, at);
    at += token->text.size() - 1;
  }
  return std::nullopt;
}

bool SpecialTokens::spans(std::string_view text, std::size_t position) const {
  if (strips_ && (is_space(decode_before(text, position)) || is_space(decode(text, position)))) return true;
  const std::size_t first = position - std::min(position, longest());
  const std::size_t last = single_words_ ? position + 1 : position;
  for (std::size_t at = first; at < last; ++at) {
    const Token* token = match_at(text, at);
    if (token == nullptr) continue;
    const std::size_t end = at + token->text.size();
    if ((at < position && end > position) || (token->single_word && end >= position)) return true;
  }
  return false;
}

bool SpecialTokens::may_span(std::string_view text, std::size_t position) const {
  const Character left = decode_before(text, position), right = decode(text, position);
  if (strips_ && (is_space(left) || is_space(right))) return true;
  const std::string_view before = text.substr(position - left.length, left.length),
                         after = text.substr(position, right.length),
                         both = text.substr(position - left.length, left.length + right.length);
  return std::ranges::any_of(tokens_, [&](const Token& token) {
    return token.text.find(both) != token.text.npos ||
           (token.single_word && (token.text.ends_with(before) || token.text.starts_with(after)));
  });
}

}  // namespace heddle::text

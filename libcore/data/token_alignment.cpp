#include "libcore/data/token_alignment.hpp"

#include "libcore/base/strings.hpp"
#include "libcore/text/unicode.hpp"

namespace heddle::data {

namespace {

bool is_space(const text::Character& character) {
  return text::classify(character.code) == text::CharacterClass::space;
}

}  // namespace

AlignedWords align_words(const text::Tokenizer& tokenizer, std::span<const std::string> words) {
  const std::string line = join({words.begin(), words.end()}, " ");
  AlignedWords aligned;
  aligned.first_token.assign(words.size(), -1);
  std::size_t word = 0, begin = 0;  // the word that is being looked for, and where it begins
  aligned.ids = tokenizer.encode(line, text::SpecialText::plain);
  tokenizer.locate(line, aligned.ids, text::SpecialText::plain, [&](const text::LocatedToken& token) {
    while (word < words.size() && begin + words[word].size() <= token.begin) begin += words[word++].size() + 1;
    const bool inside = word < words.size() && token.end > begin;
    const auto place = static_cast<Index>(aligned.word_of.size());
    if (inside && aligned.first_token[word] < 0) aligned.first_token[word] = place;
    aligned.word_of.push_back(inside ? static_cast<Index>(word) : -1);
  });
  return aligned;
}

std::optional<TokenSpan> tokens_of(std::span<const text::LocatedToken> tokens, const TextSpan& span) {
  std::optional<TokenSpan> found;
  for (std::size_t i = 0; i < tokens.size() && tokens[i].begin < span.end; ++i) {
    if (tokens[i].end <= span.begin) continue;
    const auto place = static_cast<Index>(i);
    found = TokenSpan{found ? found->first : place, place};
  }
  return found;
}

TextSpan text_of(std::string_view text, std::span<const text::LocatedToken> tokens, const TokenSpan& span) {
  TextSpan result{tokens[static_cast<std::size_t>(span.first)].begin, tokens[static_cast<std::size_t>(span.last)].end};
  while (!text::is_character_boundary(text, result.begin)) --result.begin;
  while (!text::is_character_boundary(text, result.end)) ++result.end;
  while (result.begin < result.end) {
    const text::Character first = text::decode(text, result.begin);
    if (!is_space(first)) break;
    result.begin += first.length;
  }
  while (result.begin < result.end) {
    const text::Character last = text::decode_before(text, result.end);
    if (!is_space(last)) break;
    result.end -= last.length;
  }
  return result;
}

}  // namespace heddle::data

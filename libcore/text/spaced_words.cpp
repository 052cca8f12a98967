#include "libcore/text/spaced_words.hpp"

#include "libcore/base/base64.hpp"
#include "libcore/base/error.hpp"
#include "libcore/text/basic_words.hpp"
#include "libcore/text/spelling.hpp"
#include "libcore/text/unicode.hpp"

namespace heddle::text {

namespace {

// SentencePiece has no space in U+0085, though Unicode has.
bool is_sentencepiece_space(char32_t code) {
  constexpr char32_t next_line = 0x85;
  return classify(code) == CharacterClass::space && code != next_line;
}

}  // namespace

SpacedWords::SpacedWords(const TokenizerModel& model) : only_spaces_(model.only_spaces) {
  std::string map;
  for (const std::string& part : model.charsmap) {
    const std::optional<std::string> bytes = from_base64(part);
    check<DataError>(bytes.has_value(), "the tokenizer's charsmap is not base64");
    map += *bytes;
  }
  if (!map.empty()) charsmap_ = std::make_unique<const Charsmap>(map);
  for (const char blank : ascii_blanks) {
    std::string normalised(1, blank);
    if (only_spaces_ && charsmap_) {
      normalised.clear();
      charsmap_->apply({&blank, 1}, normalised);
    }
    if (!only_spaces_ || normalised == " ") separators_ += blank;
  }
}

// SentencePiece removes spaces from the end of a text, also those that are spelled U+2581.
std::string_view SpacedWords::without_end(std::string_view text) const {
  if (!only_spaces_) return text;
  for (;;) {
    if (!text.empty() && separates(text.back())) {
      text.remove_suffix(1);
    } else if (text.ends_with(space_mark)) {
      text.remove_suffix(space_mark.size());
    } else {
      return text;
    }
  }
}

void SpacedWords::for_each_word(std::string_view part, Scratch& scratch, const Take& take) const {
  scratch.normalised.clear();
  if (charsmap_) {
    charsmap_->apply(part, scratch.normalised);
  } else {
    scratch.normalised = part;
  }
  only_spaces_ ? words_by_spaces(scratch.normalised, scratch.word, take)
               : words_by_white_space(scratch.normalised, scratch.word, take);
}

// The part has no blanks of ASCII: normalisation may bring some, and marks of spaces stand for them.
void SpacedWords::words_by_white_space(std::string_view normalised, std::string& word, const Take& take) const {
  for (std::size_t at = 0; at < normalised.size();) {
    word = ' ';
    const std::size_t begin = at;
    while (at < normalised.size()) {
      const Character character = decode(normalised, at);
      const std::string_view raw = normalised.substr(at, character.length);
      if (is_sentencepiece_space(character.code) || (raw == space_mark && at > begin)) break;
      if (raw != space_mark) word += raw;
      at += character.length;
    }
    if (at > begin) take(word);
    if (at < normalised.size() && !normalised.substr(at).starts_with(space_mark)) at += decode(normalised, at).length;
  }
}

// A mark is a space that stays, whatever is beside it; of the others those between words become one.
void SpacedWords::words_by_spaces(std::string_view normalised, std::string& word, const Take& take) const {
  word = ' ';
  bool is_mark = false;  // whether the space that the word begins with was one
  const auto finish = [&] {
    if (word.size() > 1 || is_mark) take(word);
    word = ' ';
    is_mark = false;
  };
  for (std::size_t at = 0; at < normalised.size();) {
    const std::string_view rest = normalised.substr(at);
    if (rest.front() == ' ') {
      finish();
      ++at;
    } else if (rest.starts_with(space_mark)) {
      take(word);
      word = ' ';
      is_mark = true;
      at += space_mark.size();
    } else {
      word += rest.front();
      ++at;
    }
  }
  finish();
}

bool SpacedWords::is_boundary(std::string_view text, std::size_t position) const {
  if (!only_spaces_) return is_basic_boundary(text, position);
  if (lines_are_apart()) return text[position - 1] == '\n';
  return separates(text[position]) && !separates(text[position - 1]) && !text.substr(0, position).ends_with(space_mark);
}

bool SpacedWords::maps_all_white_space() const {
  if (!only_spaces_) return true;
  std::string character, normalised;
  for (char32_t code = 0; code < detail::unicode_table_end; ++code) {
    if (!is_sentencepiece_space(code) || code == ' ') continue;
    character.clear();
    normalised.clear();
    append_utf8(character, code);
    if (!charsmap_) return false;
    charsmap_->apply(character, normalised);
    const bool is_removed = normalised.empty() && (code >= 0x80 || !is_ascii_blank(static_cast<char>(code)));
    if (normalised != " " && !is_removed) return false;
  }
  return true;
}

}  // namespace heddle::text

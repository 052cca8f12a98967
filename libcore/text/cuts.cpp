#include "libcore/text/cuts.hpp"

#include <algorithm>

#include "libcore/base/error.hpp"
#include "libcore/text/basic_words.hpp"
#include "libcore/text/spelling.hpp"
#include "libcore/text/unicode.hpp"

namespace heddle::text {

namespace {

bool is_digit(char byte) {
  return byte >= '0' && byte <= '9';
}

bool is_byte_digit(char letter) {
  const auto byte = static_cast<unsigned char>(letter);
  return is_digit(letter) || byte == 0xB2 || byte == 0xB3 || byte == 0xB9 || (byte >= 0xBC && byte <= 0xBE);
}

std::size_t punctuation_end(std::string_view text, std::size_t begin) {
  Character character = decode(text, begin);
  const bool kind = is_punctuation(character.code);
  while ((begin += character.length) < text.size()) {
    character = decode(text, begin);
    if (is_punctuation(character.code) != kind) break;
  }
  return begin;
}

std::size_t byte_digits_end(std::string_view text, std::size_t begin) {
  const bool kind = is_byte_digit(text[begin]);
  while (begin < text.size() && is_byte_digit(text[begin]) == kind) ++begin;
  return begin;
}

bool is_triple(std::string_view text, std::size_t at) {
  return text.size() - at >= 3 && std::ranges::all_of(text.substr(at, 3), is_digit);
}

std::size_t triple_end(std::string_view text, std::size_t begin) {
  if (is_triple(text, begin)) return begin + 3;
  while (begin < text.size() && !is_triple(text, begin)) ++begin;
  return begin;
}

Cut cut_of(const std::string& name) {
  for (const auto& [cut, text] : Names<Cut>::list) {
    if (name == text) return cut;
  }
  throw DataError(
      concatenate("the tokenizer splits text by ", quoted(name), ", which this version of heddle does not support"));
}

}  // namespace

Cuts::Cuts(const std::vector<std::string>& names) {
  std::ranges::transform(names, std::back_inserter(cuts_), cut_of);
  if (cuts_.empty()) cuts_.push_back(Cut::gpt2);
}

std::size_t Cuts::word_end(Cut cut, std::string_view text, std::size_t begin) {
  switch (cut) {
    case Cut::gpt2:
      return pretoken_end(text, begin);
    case Cut::punctuation:
      return punctuation_end(text, begin);
    case Cut::byte_digits:
      return byte_digits_end(text, begin);
    case Cut::digit_triples:
      return triple_end(text, begin);
  }
  return text.size();
}

// Digits and punctuation are never cut off by GPT-2's boundaries otherwise than by their own.
bool Cuts::is_boundary(std::string_view text, std::size_t position) const {
  return std::ranges::find(cuts_, Cut::gpt2) != cuts_.end() && is_pretoken_boundary(text, position);
}

}  // namespace heddle::text

#include "libcore/metrics/bleu_words.hpp"

#include <algorithm>
#include <vector>

#include "libcore/metrics/white_space.hpp"
#include "libcore/text/code_points.hpp"

namespace heddle::metrics {

namespace {

bool is_digit(char letter) {
  return letter >= '0' && letter <= '9';
}

bool is_stop(char letter) {
  return letter == '.' || letter == ',';
}

// ASCII punctuation except the apostrophe, the comma, the hyphen and the full stop.
bool is_separate(char letter) {
  return (letter > ' ' && letter < '\'') || (letter >= '(' && letter <= '+') || letter == '/' ||
         (letter >= ':' && letter <= '@') || (letter >= '[' && letter <= '`') || (letter >= '{' && letter <= '~');
}

std::string replaced(std::string_view text, std::string_view pattern, std::string_view by) {
  std::string result;
  for (std::size_t at = text.find(pattern); at != text.npos; at = text.find(pattern)) {
    result.append(text.substr(0, at)).append(by);
    text.remove_prefix(at + pattern.size());
  }
  return result.append(text);
}

// A place in a text at which spaces are added: around the first or the second of two bytes.
enum class Around { first, second };

// Adds spaces around one of two adjacent bytes that both fit; the next two are looked for after them. Characters that
// are not ASCII fit as their bytes do.
template <class First, class Second>
std::string spaced(std::string_view text, const First& first, const Second& second, Around around) {
  std::string result;
  std::size_t i = 0;
  while (i < text.size()) {
    const char one = text[i++];
    if (i == text.size() || !first(one) || !second(text[i])) {
      result += one;
      continue;
    }
    const char other = text[i++];
    if (around == Around::first) {
      result.append({' ', one, ' ', other});
    } else {
      result.append({one, ' ', other, ' '});
    }
  }
  return result;
}

bool is_of_unspaced_script(char32_t c) {
  constexpr std::pair<char32_t, char32_t> scripts[] = {{0xE00, 0xFFF},   {0x1000, 0x109F}, {0x1780, 0x17FF},
                                                       {0x2E80, 0x312F}, {0x31A0, 0x31FF}, {0x3400, 0x9FFF},
                                                       {0xF900, 0xFAFF}, {0xFF66, 0xFF9F}, {0x20000, 0x3FFFF}};
  return std::ranges::any_of(scripts, [&](const auto& range) { return c >= range.first && c <= range.second; });
}

// The words of a line, with a space between them.
std::string joined_words(std::string_view line) {
  std::string words;
  for_each_unit(line, true, [&](std::size_t begin, std::size_t end) {
    if (!words.empty()) words += ' ';
    words.append(line, begin, end - begin);
  });
  return words;
}

// ASCII punctuation is separated.
std::string with_separate_punctuation(std::string_view text) {
  std::string separated;
  for (const char letter : text) {
    if (is_separate(letter)) {
      separated.append({' ', letter, ' '});
    } else {
      separated += letter;
    }
  }
  const auto is_other = [](char letter) { return !is_digit(letter); };
  separated = spaced(separated, is_other, is_stop, Around::second);
  separated = spaced(separated, is_stop, is_other, Around::first);
  separated = spaced(
      separated, is_digit, [](char letter) { return letter == '-'; }, Around::second);
  return separated;
}

std::string words_of_13a(std::string_view line) {
  std::string text = replaced(line, "<skipped>", "");
  for (const auto& [entity, character] :
       {std::pair("&quot;", "\""), std::pair("&amp;", "&"), std::pair("&lt;", "<"), std::pair("&gt;", ">")}) {
    text = replaced(text, entity, character);
  }
  return joined_words(with_separate_punctuation(" " + text + " "));
}

// ---- intl ----

struct CodeSets {
  text::CodePoints numbers = *text::category("N"), punctuation = *text::category("P"), symbols = *text::category("S");
};
const CodeSets& code_sets() {
  static const CodeSets sets;
  return sets;
}

std::vector<char32_t> codes_of(std::string_view line) {
  std::vector<char32_t> codes;
  for (std::size_t at = 0; at < line.size();) {
    const text::Character character = text::decode(line, at);
    codes.push_back(character.code);
    at += character.length;
  }
  return codes;
}

// As spaced() for bytes.
template <class First, class Second>
std::vector<char32_t> spaced(const std::vector<char32_t>& codes, const First& first, const Second& second,
                             Around around) {
  std::vector<char32_t> result;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const bool fits = i + 1 < codes.size() && first(codes[i]) && second(codes[i + 1]);
    if (!fits) {
      result.push_back(codes[i]);
    } else if (around == Around::first) {
      result.insert(result.end(), {U' ', codes[i], U' ', codes[i + 1]});
      ++i;
    } else {
      result.insert(result.end(), {codes[i], U' ', codes[i + 1], U' '});
      ++i;
    }
  }
  return result;
}

std::string words_of_intl(std::string_view line) {
  const CodeSets& sets = code_sets();
  const auto is_no_number = [&](char32_t code) { return !sets.numbers.contains(code); };
  const auto is_punctuation = [&](char32_t code) { return sets.punctuation.contains(code); };
  std::vector<char32_t> codes = spaced(codes_of(line), is_no_number, is_punctuation, Around::second);
  codes = spaced(codes, is_punctuation, is_no_number, Around::first);
  std::string separated;
  for (const char32_t code : codes) {
    const bool is_symbol = sets.symbols.contains(code);
    if (is_symbol) separated += ' ';
    text::append_utf8(separated, code == text::invalid_character ? 0xFFFD : code);
    if (is_symbol) separated += ' ';
  }
  return joined_words(separated);
}

// ---- char, zh ----

std::string words_of_characters(std::string_view line) {
  std::string words;
  for_each_unit(line, false, [&](std::size_t begin, std::size_t end) {
    if (!words.empty()) words += ' ';
    words.append(line, begin, end - begin);
  });
  return words;
}

// The ranges that sacrebleu's program comes to: two of its limits beyond U+FFFF are read as U+2000 to U+2A6D, and as
// U+2F81 to U+2FA1.
bool is_chinese(char32_t code) {
  constexpr std::pair<char32_t, char32_t> ranges[] = {
      {0x2001, 0x2A6D}, {0x2E80, 0x2EFF}, {0x2F00, 0x2FDF}, {0x2FF0, 0x303F}, {0x3100, 0x312F}, {0x31A0, 0x31BF},
      {0x31C0, 0x31EF}, {0x3200, 0x33FF}, {0x3400, 0x4DB5}, {0x4E00, 0x9FBB}, {0xF900, 0xFA2D}, {0xFA30, 0xFA6A},
      {0xFA70, 0xFAD9}, {0xFE10, 0xFE1F}, {0xFE30, 0xFE4F}, {0xFF00, 0xFFEF}};
  return std::ranges::any_of(ranges, [&](const auto& range) { return code >= range.first && code <= range.second; });
}

std::string words_of_zh(std::string_view line) {
  std::string separated;
  std::size_t begin = line.size(), end = 0;  // range without white space at both ends
  for_each_unit(line, true, [&](std::size_t from, std::size_t to) {
    begin = std::min(begin, from);
    end = to;
  });
  for (std::size_t at = begin; at < end;) {
    const text::Character character = text::decode(line, at);
    const bool is_word = is_chinese(character.code);
    if (is_word) separated += ' ';
    separated += line.substr(at, character.length);
    if (is_word) separated += ' ';
    at += character.length;
  }
  return joined_words(with_separate_punctuation(separated));
}

}  // namespace

std::string bleu_words(BleuWords kind, std::string_view line) {
  switch (kind) {
    case BleuWords::intl:
      return words_of_intl(line);
    case BleuWords::characters:
      return words_of_characters(line);
    case BleuWords::zh:
      return words_of_zh(line);
    case BleuWords::v13a:
      break;
  }
  return words_of_13a(line);
}

bool is_unspaced(std::string_view line) {
  Index letters = 0, unspaced = 0;
  for (std::size_t at = 0; at < line.size();) {
    const text::Character character = text::decode(line, at);
    at += character.length;
    if (text::classify(character.code) != text::CharacterClass::letter) continue;
    ++letters;
    unspaced += is_of_unspaced_script(character.code) ? 1 : 0;
  }
  return 2 * unspaced > letters;
}

}  // namespace heddle::metrics

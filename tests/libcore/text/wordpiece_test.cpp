#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/text/basic_words.hpp"
#include "libcore/text/samples.hpp"
#include "libcore/text/tokenizer.hpp"
#include "libcore/text/unicode.hpp"

using namespace heddle;
using namespace heddle::text;

namespace {

std::vector<std::string> words(std::string_view text, const BasicWords& options = {}) {
  std::vector<std::string> result;
  for_each_basic_word(text, options, [&](std::string_view word) { result.emplace_back(word); });
  return result;
}

using Words = std::vector<std::string>;

TokenizerModel wordpiece(std::vector<std::string> pieces) {
  TokenizerModel model;
  model.kind = TokenizerKind::wordpiece;
  model.pieces = std::move(pieces);
  model.pieces.insert(model.pieces.begin(), "[UNK]");
  model.special_tokens = {0};
  model.unknown = 0;
  return model;
}

// The definition, tried from every end.
std::vector<TokenId> longest_matches(const Tokenizer& tokenizer, const std::string& word) {
  std::vector<TokenId> ids;
  for (std::size_t begin = 0; begin < word.size();) {
    std::size_t end = word.size();
    std::optional<TokenId> id;
    for (; end > begin && !id; --end) {
      id = tokenizer.id_of((begin > 0 ? "##" : "") + word.substr(begin, end - begin));
      if (id) break;
    }
    if (!id) return {*tokenizer.unknown()};
    ids.push_back(*id);
    begin = end;
  }
  return ids;
}

}  // namespace

TEST_CASE("basic words: white space, punctuation, Chinese characters") {
  CHECK(words("Hello,  world!\n") == Words{"hello", ",", "world", "!"});
  CHECK(words("a\tb\r\nc") == Words{"a", "b", "c"});
  CHECK(words("it's $5+3") == Words{"it", "'", "s", "$", "5", "+", "3"});
  CHECK(words("ab\u751f\u6d3bcd") == Words{"ab", "\u751f", "\u6d3b", "cd"});
  CHECK(words("a\u2026b \u00abc\u00bb") == Words{"a", "\u2026", "b", "\u00ab", "c", "\u00bb"});
  CHECK(words("a\u00a0b\u3000c") == Words{"a", "b", "c"});
  CHECK(words("").empty());
  CHECK(words(" \n\t ").empty());
}

TEST_CASE("basic words: Chinese characters are those of the published list, to the ends of its ranges") {
  const auto check_cut = [](char32_t code, bool alone) {
    CAPTURE(static_cast<std::uint32_t>(code));
    std::string character;
    append_utf8(character, code);
    const Words expected = alone ? Words{"a", character, "b"} : Words{"a" + character + "b"};
    CHECK(words("a" + character + "b", {.lowercase = false, .strip_accents = false}) == expected);
  };
  // The first and the last character of each range that Unicode 13 has.
  const std::u32string_view chinese =
      U"\u3400\u4DBF\u4E00\u9FFC\uF900\uFAD9\U00020000\U0002A6DD\U0002A700\U0002B734\U0002B740\U0002B81D"
      U"\U0002B820\U0002CEA1\U0002F800\U0002FA1D";
  for (const char32_t code : chinese) check_cut(code, true);
  // Neighbours, and other letters of East Asia.
  const std::u32string_view others = U"\u33FF\u4DC0\uA000\uFB00\U0002CEB0\U0002EBE0\U00030000\u3007\u3042\uAC00";
  for (const char32_t code : others) check_cut(code, false);
}

TEST_CASE("basic words: case and accents") {
  CHECK(words("F\u00fchrer \u00c9T\u00c9") == Words{"fuhrer", "ete"});
  CHECK(words("F\u00fchrer", {.lowercase = true, .strip_accents = false}) == Words{"f\u00fchrer"});
  CHECK(words("F\u00fchrer", {.lowercase = false, .strip_accents = false}) == Words{"F\u00fchrer"});
  CHECK(words("e\u0301 \u0391\u0392") == Words{"e", "\u03b1\u03b2"});
}

TEST_CASE("basic words: control characters and damaged text vanish") {
  CHECK(words(std::string_view("a\0b\x01"
                               "c\xff"
                               "d\u00ad"
                               "e\ufffd"
                               "f",
                               14)) == Words{"abcdef"});
}

TEST_CASE("wordpiece: the longest piece first") {
  const Tokenizer tokenizer(wordpiece({"un", "##aff", "##able", "##a", "una", "aff", "#"}));
  CHECK(tokenizer.encode("unaffable") == std::vector<TokenId>{0});
  const Tokenizer classic(wordpiece({"un", "##aff", "##able"}));
  CHECK(classic.encode("unaffable un") == std::vector<TokenId>{1, 2, 3, 1});
  CHECK(classic.decode(classic.encode("unaffable un")) == "unaffable un");
  CHECK(classic.encode("unaffablex") == std::vector<TokenId>{0});
  CHECK(classic.encode("") == std::vector<TokenId>{});
}

TEST_CASE("wordpiece: the mark of a continuation is not text") {
  const Tokenizer tokenizer(wordpiece({"a", "#", "##b"}));
  CHECK(tokenizer.encode("ac") == std::vector<TokenId>{0});
  CHECK(tokenizer.encode("#b") == std::vector<TokenId>{2, 0});
  CHECK(tokenizer.encode("ab") == std::vector<TokenId>{1, 3});
}

TEST_CASE("wordpiece: words of more than 100 characters are unknown") {
  const Tokenizer tokenizer(wordpiece({"a", "##a"}));
  CHECK(tokenizer.encode(std::string(100, 'a')).size() == 100);
  CHECK(tokenizer.encode(std::string(101, 'a')) == std::vector<TokenId>{0});
  // Of characters, not of bytes.
  const Tokenizer wide(wordpiece({"\u4e2d", "##\u03b1", "\u03b1"}));
  std::string alphas;
  for (int i = 0; i < 100; ++i) alphas += "\u03b1";
  CHECK(wide.encode(alphas).size() == 100);
  CHECK(wide.encode(alphas + "\u03b1") == std::vector<TokenId>{0});
}

TEST_CASE("wordpiece: equals the definition on random vocabularies") {
  Draws draws(1);
  for (int vocabulary = 0; vocabulary < 50; ++vocabulary) {
    std::vector<std::string> pieces;
    for (int i = 0; i < 12; ++i) {
      const std::string piece = (draws.below(2) == 0 ? "##" : "") + draws.word(3);
      if (std::find(pieces.begin(), pieces.end(), piece) == pieces.end()) pieces.push_back(piece);
    }
    const Tokenizer tokenizer(wordpiece(pieces));
    for (int i = 0; i < 100; ++i) {
      const std::string word = draws.word(8);
      CAPTURE(word);
      CHECK(tokenizer.encode(word) == longest_matches(tokenizer, word));
    }
  }
}

#include <doctest/doctest.h>
#include <utf8proc.h>

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

TEST_CASE("basic words: the roles of ASCII are those of its categories, and of symbols as of punctuation") {
  for (char32_t code = 0; code < 0x80; ++code) {
    CAPTURE(code);
    const utf8proc_category_t kind = utf8proc_category(static_cast<utf8proc_int32_t>(code));
    BasicRole role = BasicRole::part;
    if (kind >= UTF8PROC_CATEGORY_PC && kind <= UTF8PROC_CATEGORY_SO) role = BasicRole::alone;
    if (kind == UTF8PROC_CATEGORY_CC) role = BasicRole::dropped;
    if (code == ' ' || code == '\t' || code == '\n' || code == '\r') role = BasicRole::space;
    CHECK(basic_role(code) == role);
  }
}

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

// Expectations are Python's: unicodedata.normalize, re.sub and str.lower.
TEST_CASE("basic words: accents of Latin, Greek and Cyrillic alone") {
  const BasicWords european{.european_accents = true};
  CHECK(words("F\u00fchrer \u00c9T\u00c9 e\u0301 \u1ec7") == Words{"fuhrer", "ete", "e", "e"});
  CHECK(words("\u0386\u03c1\u03b7\u03c2 \u0419\u043e\u0434", european) ==
        Words{"\u03b1\u03c1\u03b7\u03c2", "\u0438\u043e\u0434"});
  CHECK(words("E\u0301T\u00c9 \u1ec6x\u0323\u0302", european) == Words{"ete", "ex"});
  for (const std::string kept :
       {"\u30d1\u30f3\u30c0", "\u0915\u0941\u0932", "\u0e19\u0e49\u0e33", "\u09ac\u09bf\u09a8\u09cd\u09a6\u09c1",
        "\u0639\u0650\u0644\u0652\u0645", "\u05e9\u05b8\u05dc\u05d5\u05b9\u05dd", "\ud55c\uae00", "5\u0338"}) {
    CAPTURE(kept);
    CHECK(words(kept, european) == Words{kept});
  }
  // Spellings that are canonically equivalent are one word.
  CHECK(words("\u30cf\u309a", european) == Words{"\u30d1"});
  CHECK(words("\u1112\u1161\u11ab", european) == Words{"\ud55c"});
  CHECK(words("\u0958", european) == Words{"\u0915\u093c"});
  CHECK(words("\u05e9\u05b8\u05c1", european) == words("\u05e9\u05c1\u05b8", european));
}

TEST_CASE("basic words: European letters are those whose names say so") {
  // First and last letters of blocks, and their neighbours.
  const std::u32string_view yes =
      U"Az\u00e9\u024f\u0250\u02af\u1e00\u1eff\u2c60\ua722\ua7ca\uab30\ufb01\uff21\uff5a"
      U"\u0370\u03a9\u03ff\u1f00\u1ffc\u2126\u0400\u04ff\u052f\u1c80\ua640";
  for (const char32_t code : yes) CHECK(is_european(code));
  const std::u32string_view no =
      U"0 \u00d7\u00f7\u03e2\u03ef\u0531\u05d0\u0627\u0905\u0e01\u10a0\u13a0\u2c80\u3042\u30d1\u4e00\uac00";
  for (const char32_t code : no) CHECK_FALSE(is_european(code));
}

TEST_CASE("basic words: lower case as Unicode's SpecialCasing") {
  const BasicWords unicode{.strip_accents = false, .final_sigma = true};
  CHECK(words("\u039f\u0394\u039f\u03a3 \u03a3 \u03a3\u0391\u03a3.", unicode) ==
        Words{"\u03bf\u03b4\u03bf\u03c2", "\u03c3", "\u03c3\u03b1\u03c2", "."});
  CHECK(words("\u0130stanbul", unicode) == Words{"i\u0307stanbul"});
  CHECK(words("\u0130stanbul", {.european_accents = true}) == Words{"istanbul"});
  CHECK(words("\u039f\u0394\u039f\u03a3", {}) == Words{"\u03bf\u03b4\u03bf\u03c3"});
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
  // Counts characters, not bytes.
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

#include "libcore/text/unicode.hpp"
#include "libcore/text/letter_case.hpp"

#include <doctest/doctest.h>

#include <map>

#include "libcore/base/strings.hpp"
#include "libcore/text/samples.hpp"
#include "libcore/text/unicode/facts.hpp"

using namespace heddle;
using namespace heddle::text;

TEST_CASE("unicode: every code point is written and read back") {
  for (char32_t code = 0; code < 0x110000; ++code) {
    if (code >= 0xD800 && code < 0xE000) continue;
    std::string text;
    append_utf8(text, code);
    const Character character = decode(text, 0);
    if (character.code != code || character.length != text.size() || !is_utf8(text)) FAIL("code point " << code);
  }
}

TEST_CASE("unicode: what is not well-formed is taken byte by byte") {
  for (const std::string bytes :
       {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc3", "\xc3(", "\xe0\x80\x80", "\xed\xa0\x80", "\xe3\x80",
        "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff"}) {
    CAPTURE(bytes);
    CHECK(decode(bytes, 0).code == invalid_character);
    CHECK(decode(bytes, 0).length == 1);
  }
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const std::string bytes = tricky_text(3, seed);
    bool valid = true;
    for (std::size_t at = 0; at < bytes.size(); at += decode(bytes, at).length) {
      valid = valid && decode(bytes, at).code != invalid_character;
    }
    CHECK(valid == is_utf8(bytes));
  }
}

TEST_CASE("unicode: boundaries and the character before one") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const std::string text = seed % 2 == 0 ? tricky_text(40, seed) : random_bytes(100, seed);
    std::map<std::size_t, char32_t> ends;
    for (std::size_t at = 0; at < text.size();) {
      const Character character = decode(text, at);
      at += character.length;
      ends[at] = character.code;
    }
    for (std::size_t at = 1; at <= text.size(); ++at) {
      REQUIRE(is_character_boundary(text, at) == ends.contains(at));
      if (ends.contains(at)) REQUIRE(decode_before(text, at).code == ends[at]);
    }
  }
}

TEST_CASE("unicode: characters are counted and found") {
  const std::string text =
      "a\u00e9\u20ac\U0001F600\xff"
      "b";
  CHECK(count_characters(text) == 6);
  CHECK(count_characters("") == 0);
  const std::vector<std::size_t> offsets = {0, 1, 3, 6, 10, 11, 12};
  for (std::size_t i = 0; i < offsets.size(); ++i) CHECK(offset_of_character(text, i) == offsets[i]);
  CHECK(offset_of_character(text, 7) == std::string::npos);
}

TEST_CASE("unicode: classes of known characters, and how many there are of each") {
  const auto check_class = [](CharacterClass expected, std::u32string_view codes) {
    for (const char32_t code : codes) {
      CAPTURE(static_cast<std::uint32_t>(code));
      CHECK(classify(code) == expected);
    }
  };
  check_class(CharacterClass::letter,
              U"azAZ\u00AA\u00B5\u00DF\u0131\u03A9\u0416\u05D0\u0E01\u3042\u4E2D\uAC00\U00020000");
  check_class(CharacterClass::letter, U"\u1C89\uA7CB\U000105C0\U00016D43\U0002EBF0");  // added in Unicode 15.1 and 16
  check_class(CharacterClass::number, U"09\u00B2\u00BD\u0663\u2167\u3007\U0001D7D8");
  check_class(CharacterClass::space, U"\t\n\v\f\r \u0085\u00A0\u1680\u2003\u2028\u202F\u205F\u3000");
  check_class(CharacterClass::other, U"!_'\u001C\u00AD\u0301\u200B\u20AC\uFEFF\uFFFD\U0001F600\U000E0100\U0010FFFF");
  CHECK(classify(0) == CharacterClass::other);
  CHECK(classify(invalid_character) == CharacterClass::other);
  std::map<CharacterClass, int> counts;
  for (char32_t code = 0; code < 0x110000; ++code) ++counts[classify(code)];
  CHECK(counts[CharacterClass::letter] == 141028);
  CHECK(counts[CharacterClass::number] == 1911);
  CHECK(counts[CharacterClass::space] == 25);
}

TEST_CASE("unicode: every character of Unicode 15, at the ends of ranges too, has the class that another engine has") {
  REQUIRE(facts::classes().size() == 286785);
  for (const auto& [code, expected] : facts::classes()) {
    if (classify(code) != expected) FAIL_CHECK("code point " << static_cast<std::uint32_t>(code));
  }
  // Surrogates are no characters, and nothing lies beyond the last plane.
  for (const char32_t code : {0xD7FFu + 1, 0xDFFFu, 0x10FFFFu + 1}) CHECK(classify(code) == CharacterClass::other);
}

// Expectations are those of Python's str.lower().
TEST_CASE("lower case: simple mappings, İ, and the final sigma") {
  CHECK(in_lower_case("ABC xyz 1") == "abc xyz 1");
  CHECK(in_lower_case("\u00c9\u0416\u0531\u10a0\u1e9e") == "\u00e9\u0436\u0561\u2d00\u00df");
  CHECK(in_lower_case("\u0130") == "i\u0307");
  CHECK(in_lower_case("\u039f\u0394\u039f\u03a3") == "\u03bf\u03b4\u03bf\u03c2");
  CHECK(in_lower_case("\u03a3") == "\u03c3");
  CHECK(in_lower_case("\u03a3\u0391\u03a3") == "\u03c3\u03b1\u03c2");
  CHECK(in_lower_case("\u0391\u03a3\u0391 \u0391\u03a3") == "\u03b1\u03c3\u03b1 \u03b1\u03c2");
  CHECK(in_lower_case("\u0391\u03a3'\u0391") == "\u03b1\u03c3'\u03b1");
  CHECK(in_lower_case("\u0391\u03a3-\u0391") == "\u03b1\u03c2-\u03b1");
  CHECK(in_lower_case("\u0391\u0301\u03a3\u0301") == "\u03b1\u0301\u03c2\u0301");
  CHECK(in_lower_case("1\u03a3") == "1\u03c3");
  CHECK(in_lower_case("\u0391\u03a3\xff\u0391") == "\u03b1\u03c2\xff\u03b1");
}

TEST_CASE("white space: blank texts and the ends of others, by Unicode's White_Space") {
  for (const std::string blank : {"", " ", "\t\r\n\v\f", "\u0085\u00a0\u1680\u2003\u2028\u202f\u205f\u3000"}) {
    CHECK(is_blank(blank));
    CHECK(stripped(blank + "a b" + blank) == "a b");
  }
  for (const std::string text : {"a", "\u200b", "\ufeff", "\xff", "\xe3\x80", "\x01"}) {
    CHECK_FALSE(is_blank(text));
    CHECK(stripped(" " + text + "\u3000") == text);
  }
}

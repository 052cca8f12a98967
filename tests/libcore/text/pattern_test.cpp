// Regular expressions, against the standard library's where both have a feature, and known values of the others.
#include "libcore/text/pattern.hpp"

#include <doctest/doctest.h>

#include <random>
#include <regex>

#include "libcore/base/error.hpp"
#include "libcore/text/split.hpp"
#include "libcore/text/unicode.hpp"

using namespace heddle;
using namespace heddle::text;

namespace {

std::vector<std::string> matches(const std::string& expression, const std::string& text) {
  std::vector<std::string> found;
  for_each_span(Pattern(expression), text, [&](const PatternSpan& span) {
    if (span.is_match) found.push_back(text.substr(span.begin, span.end - span.begin));
  });
  return found;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("pattern: the match that the expression prefers is found, as by trying one way after the other") {
  std::mt19937 random(7);
  const auto pick = [&](std::size_t count) { return std::uniform_int_distribution<std::size_t>(0, count - 1)(random); };
  const std::vector<std::string> atoms{"a", "b", "[ab]", "[^a]", "c", "(?:a|ab)", "(?:bc|b)", "(?:a(?:b|c)?)"};
  const std::vector<std::string> counts{"", "", "+", "*", "?", "+?", "*?", "??", "{2}", "{1,2}", "{2,}"};
  for (int round = 0; round < 500; ++round) {
    std::string expression;
    for (std::size_t part = 0, parts = 1 + pick(4); part < parts; ++part) {
      expression += atoms[pick(atoms.size())] + counts[pick(counts.size())];
      if (pick(5) == 0) expression += pick(2) == 0 ? "(?!c)" : "(?=[ab])";
      if (pick(6) == 0) expression += "|";
    }
    std::string text;
    for (std::size_t i = 0, size = pick(12); i < size; ++i) text += "abcd"[pick(4)];
    const std::regex standard(expression);
    if (std::regex_match("", standard) || expression.ends_with('|') || expression.find("||") != expression.npos)
      continue;
    const bool may_be_empty = [&] {
      try {
        Pattern{expression};
        return false;
      } catch (const DataError&) {
        return true;
      }
    }();
    if (may_be_empty) continue;
    Texts expected;
    for (auto at = std::sregex_iterator(text.begin(), text.end(), standard); at != std::sregex_iterator(); ++at) {
      expected.push_back(at->str());
    }
    CAPTURE(expression);
    CAPTURE(text);
    CHECK(matches(expression, text) == expected);
  }
}

TEST_CASE("pattern: Oniguruma's own syntax") {
  CHECK(matches("a{1,2}+", "aaaa") == Texts{"aaaa"});  // a quantifier of a quantifier
  CHECK(matches("a?+a", "aa") == Texts{"aa"});
  CHECK(matches("a++a|b", "aab") == Texts{"b"});
  CHECK(matches("a{,2}b", "aaab b") == Texts{"aab", "b"});
  CHECK(matches("(?i:'s)|x", "'S'\u017F") == Texts{"'S", "'\u017F"});
  CHECK(matches("(?i:k)|(?i:S)", "kK\u212As\u017Fx") == Texts{"k", "K", "\u212A", "s", "\u017F"});
  CHECK(matches("a(?i)b|C", "aBc b C") == Texts{"aB", "c", "C"});
  CHECK(matches("[a-z&&[^aeiou]]+", "abc de") == Texts{"bc", "d"});
  CHECK(matches("[a[bc]d]+", "abcde") == Texts{"abcd"});
  CHECK(matches("[]a-]+", "a]-b") == Texts{"a]-"});
  CHECK(matches("\\p{^L}+|\\P{L}", "a1b2") == Texts{"1", "2"});
  CHECK(matches("\\x{41}|\\u00e9|\\x42", "AB\u00e9") == Texts{"A", "B", "\u00e9"});
  CHECK(matches(".+", "a\nb") == Texts{"a", "b"});
  CHECK(matches("\\s+$", "a  \n b  ") == Texts{"  ", "  "});
  CHECK(matches("\\s+\\z", "a  \n b  ") == Texts{"  "});
  CHECK(matches("\\w+", "a\u0301\u00b2x_\u200d\u2177") == Texts{"a\u0301\u00b2x_", "\u2177"});
  CHECK(matches("[^\\s]+", "a\xFF b") == Texts{"a\xFF", "b"});
  for (const char* refused : {"(?<=a)b", "(?>a)", "\\bx", "[[:alpha:]]", "^a", "a**", "(a|b)*+c", "\\1a", "a\\Z", "[a",
                              "(a", "a)", "\\p{Greek}", "(?i)\u00e9", "a{999}", "x|", "(a?)+", "a(?=bc)", "\xFF"}) {
    CAPTURE(refused);
    CHECK_THROWS_AS(Pattern{refused}, DataError);
  }
}

TEST_CASE("pattern: categories are those of the classes of characters") {
  const Pattern letters("\\p{L}"), numbers("\\p{N}"), spaces("\\s");
  for (char32_t code = 1; code < 0x20000; ++code) {
    const CharacterClass kind = classify(code);
    REQUIRE(letters.always_takes(code) == (kind == CharacterClass::letter));
    REQUIRE(numbers.always_takes(code) == (kind == CharacterClass::number));
    REQUIRE(spaces.always_takes(code) == (kind == CharacterClass::space));
  }
}

TEST_CASE("pattern: the text of an expression stands for itself") {
  const std::string text = "a.b*[c]{2}\\(d)|^$+?-&&\t\u00e9";
  CHECK(matches(expression_of(text), "x" + text + "y") == Texts{text});
}

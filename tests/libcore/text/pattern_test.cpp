// Regular expressions, against the standard library's where both have a feature, and known values of the others.
#include "libcore/text/pattern.hpp"

#include <doctest/doctest.h>

#include <random>
#include <regex>

#include "libcore/base/error.hpp"
#include "libcore/text/code_points.hpp"
#include "libcore/text/samples.hpp"
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

// Where no match spans two characters, the text may be cut between them; and characters that are always taken, or never
// read, are.
void check_neighbours(const std::string& expression, const std::string& text) {
  const Pattern pattern(expression);
  const Texts whole = matches(expression, text);
  for (std::size_t at = 1; at < text.size(); ++at) {
    if (pattern.spans(static_cast<char32_t>(text[at - 1]), static_cast<char32_t>(text[at]))) continue;
    Texts parts = matches(expression, text.substr(0, at));
    std::ranges::copy(matches(expression, text.substr(at)), std::back_inserter(parts));
    CAPTURE(at);
    CHECK(parts == whole);
  }
  for_each_span(pattern, text, [&](const PatternSpan& span) {
    for (std::size_t at = span.begin; at < span.end; ++at) {
      const auto code = static_cast<char32_t>(text[at]);
      CAPTURE(at);
      CHECK((span.is_match ? pattern.may_read(code) : !pattern.always_takes(code)));
    }
  });
}

using Stretches = std::vector<std::pair<std::size_t, std::size_t>>;

Stretches stretches_of(const Split& split, const std::string& text) {
  Stretches found;
  split.for_each(text, [&](std::size_t begin, std::size_t end) { found.emplace_back(begin, end); });
  return found;
}

// Each span is a piece, but for those that join the span before them.
Stretches expected_stretches(const std::string& expression, Matches treatment, bool inverted, const std::string& text) {
  std::vector<PatternSpan> spans;
  for_each_span(Pattern(expression), text, [&](const PatternSpan& span) { spans.push_back(span); });
  Stretches expected;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const bool is_match = spans[i].is_match != inverted, follows_match = i > 0 && spans[i - 1].is_match != inverted;
    if (treatment == Matches::removed && is_match) continue;
    const bool joins = i > 0 && ((treatment == Matches::contiguous && is_match == follows_match) ||
                                 (treatment == Matches::with_previous && is_match && !follows_match) ||
                                 (treatment == Matches::with_next && !is_match && follows_match));
    if (joins) {
      expected.back().second = spans[i].end;
    } else {
      expected.emplace_back(spans[i].begin, spans[i].end);
    }
  }
  return expected;
}

}  // namespace

TEST_CASE("pattern: the match that the expression prefers is found, as by trying one way after the other") {
  std::mt19937 random(7);
  const auto pick = [&](std::size_t count) { return std::uniform_int_distribution<std::size_t>(0, count - 1)(random); };
  const std::vector<std::string> atoms{"a",
                                       "b",
                                       "[ab]",
                                       "[^a]",
                                       "c",
                                       "(?:a|ab)",
                                       "(?:bc|b)",
                                       "(?:a(?:b|c)?)",
                                       "(?:a|ab?"
                                       "?)",
                                       "(?:b|[ab]+?)",
                                       "(?:c|[bc]a*?)"};
  const std::vector<std::string> counts{"", "", "+", "*", "?", "+?", "*?", "??", "{2}", "{1,2}", "{2,}"};
  for (int round = 0; round < 800; ++round) {
    std::string expression;
    for (std::size_t part = 0, parts = 1 + pick(4); part < parts; ++part) {
      expression += atoms[pick(atoms.size())] + counts[pick(counts.size())];
      if (pick(5) == 0) expression += std::vector<std::string>{"(?!c)", "(?=[ab])", "(?=b|$)", "(?!a|$)"}[pick(4)];
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
    check_neighbours(expression, text);
  }
}

TEST_CASE("pattern: letters of words are those of Latin-1 that are letters, numbers or parts of them") {
  const Pattern words("\\w"), others("\\W");
  const std::vector<char32_t> single{0xAA, 0xB2, 0xB3, 0xB5, 0xB9, 0xBA, 0xBC, 0xBD, 0xBE};
  for (char32_t code = 0x80; code < 0x100; ++code) {
    const bool is_letter = code >= 0xC0 && code != 0xD7 && code != 0xF7;
    CAPTURE(static_cast<int>(code));
    CHECK(words.always_takes(code) == (is_letter || std::ranges::find(single, code) != single.end()));
    CHECK(others.always_takes(code) != words.always_takes(code));
  }
}

TEST_CASE("split: every treatment of matches, inverted or not, and where its texts may be cut") {
  const std::vector<std::string> expressions{"a", "a+", "ab|b", "[ab]+?c", "a(?!b)", "a+(?!b)|c", "\\s+(?!\\S)|\\s+"};
  for (const std::string& expression : expressions) {
    for (const auto& [treatment, name] : Names<Matches>::list) {
      for (const bool inverted : {false, true}) {
        CAPTURE(expression);
        CAPTURE(name);
        CAPTURE(inverted);
        const Split split(expression, treatment, inverted);
        for (std::uint64_t seed = 0; seed < 40; ++seed) {
          const std::string text = random_text({"a", "a", "b", "c", "d", " "}, 1 + seed % 12, seed);
          CAPTURE(text);
          const Stretches whole = stretches_of(split, text);
          REQUIRE(whole == expected_stretches(expression, treatment, inverted, text));
          for (std::size_t at = 1; at < text.size(); ++at) {
            const Side side = split.side(decode_before(text, at).code, decode(text, at).code);
            if (side == Side::together) continue;
            CAPTURE(at);
            // The same but for the cut, which is in the whole text, too, where the split says so.
            Stretches parts = stretches_of(split, text.substr(0, at)), cut;
            for (const auto& [begin, end] : stretches_of(split, text.substr(at)))
              parts.emplace_back(begin + at, end + at);
            for (const auto& [begin, end] : whole) {
              if (begin < at) cut.emplace_back(begin, std::min(at, end));
              if (end > at) cut.emplace_back(std::max(at, begin), end);
            }
            CHECK(parts == cut);
            CHECK((side != Side::cut || cut == whole));
          }
        }
      }
    }
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
  CHECK(matches("\\x{1}|\\x{10FFFF}|\\x{01F600}", "\x01\U0010FFFF\U0001F600") ==
        Texts{"\x01", "\U0010FFFF", "\U0001F600"});
  CHECK(matches("a(?=b|$)", "aaba") == Texts{"a", "a"});
  CHECK(matches("a(?!b|$)", "aaba") == Texts{"a"});
  CHECK(matches(".+", "a\nb") == Texts{"a", "b"});
  CHECK(matches("\\s+$", "a  \n b  ") == Texts{"  ", "  "});
  CHECK(matches("\\s+\\z", "a  \n b  ") == Texts{"  "});
  CHECK(matches("\\w+", "a\u0301\u00b2x_\u200d\u2177") == Texts{"a\u0301\u00b2x_", "\u2177"});
  CHECK(matches("[^\\s]+", "a\xFF b") == Texts{"a\xFF", "b"});
  for (const char* refused : {"(?<=a)b",       "(?>a)",      "\\bx",   "[[:alpha:]]", "^a",    "a**",
                              "(a|b)*+c",      "\\1a",       "a\\Z",   "[a",          "(a",    "a)",
                              "\\p{Greek}",    "(?i)\u00e9", "a{999}", "x|",          "(a?)+", "a(?=bc)",
                              "\\x{0010FFFF}", "\\x{}",      "\xFF"}) {
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

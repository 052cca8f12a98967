#include "libcore/text/pretokenizer.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "libcore/text/samples.hpp"
#include "libcore/text/split.hpp"
#include "libcore/text/unicode.hpp"
#include "libcore/text/unicode/facts.hpp"

using namespace heddle::text;

namespace {

std::vector<std::string> pretokens(std::string_view text, LetterMarks marks = LetterMarks::apart) {
  std::vector<std::string> tokens;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = pretoken_end(text, begin, marks);
    tokens.emplace_back(text.substr(begin, end - begin));
    begin = end;
  }
  return tokens;
}

// A character of UTF-8 by the table of well-formed byte sequences of the Unicode standard (3-7): how many bytes it has,
// 0 where the bytes at the position are none.
std::size_t well_formed_length(std::string_view text, std::size_t at) {
  struct Form {
    unsigned first, last;             // range of the first byte
    unsigned second_from, second_to;  // range of the second byte; later ones are 80 to BF
    std::size_t length;
  };
  static const std::vector<Form> forms{
      {0x00, 0x7F, 0, 0, 1},       {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
      {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
      {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4}};
  const auto byte = [&](std::size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(text[at + i])); };
  for (const Form& form : forms) {
    if (byte(0) < form.first || byte(0) > form.last) continue;
    if (at + form.length > text.size()) return 0;
    for (std::size_t i = 1; i < form.length; ++i) {
      const unsigned from = i == 1 ? form.second_from : 0x80, to = i == 1 ? form.second_to : 0xBF;
      if (byte(i) < from || byte(i) > to) return 0;
    }
    return form.length;
  }
  return 0;
}

// Decodes its bytes by arithmetic on their values.
char32_t code_of(std::string_view bytes) {
  if (bytes.size() == 1) return static_cast<unsigned char>(bytes[0]);
  char32_t code = static_cast<unsigned char>(bytes[0]) % (bytes.size() == 2 ? 32 : bytes.size() == 3 ? 16 : 8);
  for (const char byte : bytes.substr(1)) code = code * 64 + static_cast<unsigned char>(byte) % 64;
  return code;
}

// The regular expression by the letter: alternatives in order, each greedy, on decoded characters. Nothing of it is the
// product's: neither how bytes become characters nor of which class these are.
class Oracle {
 public:
  explicit Oracle(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t length = well_formed_length(text, at);
      const std::string bytes(text.substr(at, std::max<std::size_t>(1, length)));
      const auto known = length == 0 ? facts::classes().end() : facts::classes().find(code_of(bytes));
      characters_.push_back({bytes, known == facts::classes().end() ? CharacterClass::other : known->second});
      at += bytes.size();
    }
  }

  std::vector<std::string> pretokens() const {
    std::vector<std::string> tokens;
    for (std::size_t begin = 0; begin < characters_.size();) {
      const std::size_t end = match(begin);
      tokens.emplace_back();
      for (; begin < end; ++begin) tokens.back() += characters_[begin].bytes;
    }
    return tokens;
  }

 private:
  struct Item {
    std::string bytes;
    CharacterClass kind;
  };

  std::size_t run(std::size_t begin, CharacterClass kind) const {
    while (begin < characters_.size() && characters_[begin].kind == kind) ++begin;
    return begin;
  }

  std::size_t match(std::size_t begin) const {
    for (const std::string contraction : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"}) {
      std::string here;
      for (std::size_t i = begin; i < characters_.size() && i < begin + contraction.size(); ++i) {
        here += characters_[i].bytes;
      }
      if (here == contraction) return begin + contraction.size();
    }
    for (const CharacterClass kind : {CharacterClass::letter, CharacterClass::number, CharacterClass::other}) {
      const std::size_t first = begin + (characters_[begin].bytes == " " ? 1 : 0);
      if (const std::size_t end = run(first, kind); end > first) return end;
    }
    const std::size_t end = run(begin, CharacterClass::space);
    return end < characters_.size() && end - begin > 1 ? end - 1 : end;
  }

  std::vector<Item> characters_;
};

}  // namespace

TEST_CASE("pretokenizer: known cuts") {
  using Tokens = std::vector<std::string>;
  CHECK(pretokens("") == Tokens{});
  CHECK(pretokens("Hello world") == Tokens{"Hello", " world"});
  CHECK(pretokens("I'll say it's 42km, don't") ==
        Tokens{"I", "'ll", " say", " it", "'s", " 42", "km", ",", " don", "'t"});
  CHECK(pretokens("a  b \n c  ") == Tokens{"a", " ", " b", " \n", " c", "  "});
  CHECK(pretokens("a\nb\n\n") == Tokens{"a", "\n", "b", "\n\n"});
  CHECK(pretokens("'still ''s 's") == Tokens{"'s", "till", " ''", "s", " '", "s"});
  CHECK(pretokens("caf\xc3\xa9!?1\xc2\xbd") == Tokens{"caf\xc3\xa9", "!?", "1\xc2\xbd"});
  CHECK(pretokens("x\xc2\xa0y") == Tokens{"x", "\xc2\xa0", "y"});
  CHECK(pretokens("x \xff\xfey") == Tokens{"x", " \xff\xfe", "y"});
}

TEST_CASE("pretokenizer: cuts texts where another engine of regular expressions cuts them") {
  const auto texts = facts::pretokens();
  REQUIRE(texts.size() == 60);
  for (const auto& expected : texts) {
    std::string text;
    for (const std::string& token : expected) text += token;
    CHECK(pretokens(text) == expected);
    CHECK(Oracle(text).pretokens() == expected);
  }
}

TEST_CASE("pretokenizer: equals the regular expression on tricky text and on random bytes") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    const std::string text = seed % 3 == 0 ? random_bytes(300, seed) : tricky_text(200, seed);
    REQUIRE(pretokens(text) == Oracle(text).pretokens());
  }
}

TEST_CASE("pretokenizer: at a boundary both parts are cut as the whole is, whatever stands further away") {
  std::size_t found = 0, cuts = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    const std::string text = seed % 3 == 0 ? random_bytes(100, seed) : tricky_text(60, seed);
    const std::vector<std::string> whole = pretokens(text);
    cuts += whole.size();
    for (std::size_t at = 1; at < text.size(); ++at) {
      const std::size_t from = at - std::min<std::size_t>(at, 4), to = std::min(text.size(), at + 4);
      const bool boundary = is_pretoken_boundary(text, at);
      if (to < text.size()) REQUIRE(is_pretoken_boundary(text.substr(from, to - from), at - from) == boundary);
      if (!boundary) continue;
      ++found;
      std::vector<std::string> parts = pretokens(text.substr(0, at));
      std::ranges::copy(pretokens(text.substr(at)), std::back_inserter(parts));
      REQUIRE(parts == whole);
    }
  }
  CHECK(found > cuts / 2);
}

TEST_CASE("pretokenizer: marks that are joined to letters stay in words, and nothing else changes") {
  using Tokens = std::vector<std::string>;
  const auto joined = [](std::string_view text) { return pretokens(text, LetterMarks::joined); };
  CHECK(joined("हिन्दी में") == Tokens{"हिन्दी", " में"});
  CHECK(joined("หนึ่ง שָׁלוֹם e\u0301a") == Tokens{"หนึ่ง", " שָׁלוֹם", " e\u0301a"});
  CHECK(joined("\u2764\uFE0F a 1\u20E3 \u0301b") == Tokens{"\u2764\uFE0F", " a", " 1", "\u20E3", " \u0301", "b"});
  CHECK(joined(english) == pretokens(english));
  const Split by_expression(R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}[\p{L}\p{M}]*| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)",
                            Matches::isolated, false);
  std::size_t found = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    const std::string text = seed % 3 == 0 ? random_bytes(100, seed) : tricky_text(60, seed);
    const Tokens whole = joined(text);
    Tokens expected;
    by_expression.for_each(
        text, [&](std::size_t begin, std::size_t end) { expected.push_back(text.substr(begin, end - begin)); });
    REQUIRE(whole == expected);
    for (std::size_t at = 1; at < text.size(); ++at) {
      if (!is_pretoken_boundary(text, at, LetterMarks::joined)) continue;
      ++found;
      Tokens parts = joined(text.substr(0, at));
      std::ranges::copy(joined(text.substr(at)), std::back_inserter(parts));
      REQUIRE(parts == whole);
    }
  }
  CHECK(found > 1000);
}

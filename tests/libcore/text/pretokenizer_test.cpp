#include "heddle/text/pretokenizer.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "heddle/text/unicode.hpp"
#include "libcore/text/samples.hpp"

using namespace heddle::text;

namespace {

std::vector<std::string> pretokens(std::string_view text) {
  std::vector<std::string> tokens;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = pretoken_end(text, begin);
    tokens.emplace_back(text.substr(begin, end - begin));
    begin = end;
  }
  return tokens;
}

// The regular expression by the letter: alternatives in order, each greedy, on decoded characters.
class Oracle {
 public:
  explicit Oracle(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
      const Character character = decode(text, at);
      characters_.push_back({std::string(text.substr(at, character.length)), classify(character.code)});
      at += character.length;
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

// Tables of strings beside plain comparisons, on random strings of few letters: many share their beginnings, some are
// others' beginnings, some come twice, and none is in order.
#include <doctest/doctest.h>

#include <map>
#include <set>

#include "libcore/base/random.hpp"
#include "libcore/text/piece_trie.hpp"
#include "libcore/text/special_tokens.hpp"
#include "libcore/text/string_table.hpp"

using namespace heddle;
using namespace heddle::text;

namespace lookup_tests {

namespace {

// Bytes at both ends of what a byte can be, among others.
constexpr std::string_view letters("ab\x01\x7f\x80\xff", 6);

class Strings {
 public:
  explicit Strings(std::uint64_t seed) : stream_(seed, random_site("strings")) {}
  std::string next(std::size_t most) {
    std::string text(1 + below(most), 'a');
    for (char& byte : text) byte = letters[below(letters.size())];
    return text;
  }
  std::size_t below(std::size_t most) { return static_cast<std::size_t>(stream_.below(number_++, most)); }

 private:
  RandomStream stream_;
  std::uint64_t number_ = 0;
};

}  // namespace

TEST_CASE("piece trie: all pieces that a text begins with, the shortest first, as comparisons find them") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    Strings strings(seed);
    std::map<std::string, TokenId> pieces;
    for (TokenId number = 0; number < static_cast<TokenId>(1 + 40 * seed); ++number) {
      pieces.emplace(strings.next(1 + seed % 7), number);
    }
    std::vector<PieceTrie::Piece> shuffled;
    for (const auto& [piece, number] : pieces) {
      shuffled.insert(shuffled.begin() + static_cast<std::ptrdiff_t>(strings.below(shuffled.size() + 1)),
                      {piece, number});
    }
    const PieceTrie trie(shuffled);
    std::size_t longest = 0;
    for (const auto& [piece, number] : pieces) longest = std::max(longest, piece.size());
    CHECK(trie.longest() == longest);
    const std::string text = strings.next(300);
    for (std::size_t begin = 0; begin <= text.size(); ++begin) {
      std::vector<std::pair<std::size_t, TokenId>> found, expected;
      trie.for_each_prefix(text, begin,
                           [&](std::size_t length, TokenId number) { found.emplace_back(length, number); });
      for (std::size_t length = 1; begin + length <= text.size() && length <= longest; ++length) {
        const auto piece = pieces.find(text.substr(begin, length));
        if (piece != pieces.end()) expected.emplace_back(length, piece->second);
      }
      CHECK(found == expected);
    }
  }
}

TEST_CASE("special tokens: from left to right the longest at each place, among tokens that begin and overlap alike") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    Strings strings(seed);
    std::set<std::string> texts;
    for (std::size_t i = 0; i < 1 + seed % 12; ++i) texts.insert(strings.next(4));
    std::vector<SpecialTokens::Token> tokens;
    for (const std::string& text : texts) {
      tokens.insert(tokens.begin() + static_cast<std::ptrdiff_t>(strings.below(tokens.size() + 1)),
                    {text, static_cast<TokenId>(tokens.size())});
    }
    const SpecialTokens special(tokens);
    const std::string text = strings.next(60);
    // The length of the longest token at each place; 0: none.
    const auto longest_at = [&](std::size_t at) {
      std::size_t longest = 0;
      for (const auto& token : tokens) {
        if (text.substr(at).starts_with(token.text)) longest = std::max(longest, token.text.size());
      }
      return longest;
    };
    for (std::size_t from = 0; from <= text.size(); ++from) {
      std::size_t at = from;
      while (at < text.size() && longest_at(at) == 0) ++at;
      const auto found = special.find(text, from);
      REQUIRE(found.has_value() == (at < text.size()));
      if (!found) continue;
      CHECK(found->begin == at);
      CHECK(found->end == at + longest_at(at));
      const std::string name = text.substr(at, longest_at(at));
      CHECK(std::ranges::find(tokens, name, &SpecialTokens::Token::text)->id == found->id);
    }
    for (std::size_t position = 0; position <= text.size(); ++position) {
      bool spans = false;
      for (std::size_t at = 0; at < position; ++at) spans = spans || at + longest_at(at) > position;
      CHECK(special.spans(text, position) == spans);
    }
  }
}

TEST_CASE("string table: numbers in the order in which strings came, through all of its growth") {
  Strings strings(5);
  StringTable table;
  std::map<std::string, std::size_t> expected;
  std::vector<std::string> in_order;
  for (int i = 0; i < 3000; ++i) {
    const std::string text = i == 700 ? "" : strings.next(6);
    CHECK(table.find(text).has_value() == expected.contains(text));
    const auto [at, is_new] = expected.emplace(text, expected.size());
    if (is_new) in_order.push_back(text);
    const StringTable::Added added = table.add(text);
    CHECK(added.index == at->second);
    CHECK(added.is_new == is_new);
  }
  CHECK(table.size() == in_order.size());
  for (std::size_t i = 0; i < in_order.size(); ++i) {
    CHECK(table[i] == in_order[i]);
    CHECK(table.find(in_order[i]) == i);
  }
}

}  // namespace lookup_tests

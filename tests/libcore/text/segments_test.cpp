// Tokenizers as SentencePiece's files have them: segments apart from the vocabulary, merging by scores, spaces.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "libcore/base/base64.hpp"
#include "libcore/text/charsmap.hpp"
#include "libcore/text/samples.hpp"
#include "libcore/text/tokenizer.hpp"
#include "libcore/text/viterbi.hpp"

using namespace heddle;
using namespace heddle::text;

namespace {

using Ids = std::vector<TokenId>;

TokenizerModel model_of(TokenizerKind kind, const std::vector<std::pair<std::string, double>>& pieces) {
  TokenizerModel model;
  model.kind = kind;
  model.pieces = {"<unk>"};
  model.scores = {0};
  model.special_tokens = {0};
  model.unknown = 0;
  model.spaced_words = model.only_spaces = true;
  for (const auto& [piece, score] : pieces) {
    model.pieces.push_back(piece);
    model.scores.push_back(score);
  }
  return model;
}

const std::vector<std::pair<std::string, double>> few{{"\u2581", -2}, {"\u2581a", -1},    {"a", -2.5},
                                                      {"b", -3},      {"\u2581ab", -1.5}, {"ba", -4}};

// Merges pair after pair: the highest score, then the leftmost.
std::vector<std::string> merged(const TokenizerModel& model, std::vector<std::string> parts) {
  const auto score = [&](const std::string& text) {
    const auto found = std::ranges::find(model.pieces, text);
    return found == model.pieces.end() ? -1e9 : model.scores[static_cast<std::size_t>(found - model.pieces.begin())];
  };
  for (;;) {
    double best = -1e9;
    std::size_t where = 0;
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
      if (score(parts[i] + parts[i + 1]) <= best) continue;
      best = score(parts[i] + parts[i + 1]);
      where = i;
    }
    if (best == -1e9) return parts;
    parts[where] += parts[where + 1];
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(where) + 1);
  }
}

// A map that makes line ends spaces, with more units of its trie: their places and values.
std::string map_of_line_ends(const std::vector<std::pair<std::size_t, std::uint32_t>>& more) {
  constexpr std::uint32_t has_value = 0x100, value = 1u << 31;
  std::vector<std::uint32_t> units(256);
  units['\n'] = '\n' | has_value | 1 << 10;
  units['\n' ^ 1] = value;  // the first replacement
  for (const auto& [place, unit] : more) units[place] = unit;
  std::string map;
  const auto append = [&](std::uint32_t number) {
    for (int i = 0; i < 4; ++i) map += static_cast<char>(number >> 8 * i & 255);
  };
  append(static_cast<std::uint32_t>(4 * units.size()));
  for (const std::uint32_t unit : units) append(unit);
  return map + " " + '\0';
}

}  // namespace

TEST_CASE("segments: text is cut into them, and each has the id of its spelling in the vocabulary") {
  for (const TokenizerKind kind : {TokenizerKind::unigram, TokenizerKind::char_bpe}) {
    TokenizerModel model = model_of(kind, few);
    model.segments.assign(model.pieces.begin() + 1, model.pieces.end());
    model.scores.erase(model.scores.begin());
    // Another order, without "b", and with pieces of the other side.
    model.pieces = {"\u2581ab", "<unk>", "\u2581xx", "\u2581", "a", "xy", "\u2581a", "ba"};
    model.special_tokens = {1};
    model.unknown = 1;
    const Tokenizer tokenizer(model);
    CHECK(tokenizer.encode("a ab") == Ids{6, 0});
    CHECK(tokenizer.encode("bb") == Ids{3, 1, 1});     // a segment without an id is not joined with others
    CHECK(tokenizer.encode("axyza") == Ids{6, 1, 4});  // but characters without a segment are,
    CHECK(tokenizer.encode("axya") == Ids{6, 5, 4});   // and may be spelled as a piece is
    CHECK(tokenizer.encode("xx") == Ids{3, 1});        // not "▁xx": the space is a segment
    CHECK(tokenizer.decode(Ids{2, 0}) == "xx ab");
    model.segments.push_back("a");
    model.scores.push_back(-1);
    CHECK_THROWS_WITH_AS(Tokenizer{model}, "segment 6 of the tokenizer, 'a', is there twice", DataError);
    model.segments.back() = "a b";
    CHECK_THROWS_AS(Tokenizer{model}, DataError);
    model.segments.pop_back();
    CHECK_THROWS_WITH_AS(Tokenizer{model}, doctest::Contains("of 6 segments with 7 scores"), DataError);
  }
}

TEST_CASE("char-bpe by scores: the pairs that a plain loop merges, also long words and characters without a piece") {
  Draws draws(5);
  for (int round = 0; round < 60; ++round) {
    TokenizerModel model = model_of(TokenizerKind::char_bpe, {{"a", -20}, {"b", -21}, {"\u2581", -22}});
    if (round % 3 > 0) model.pieces.push_back("c"), model.scores.push_back(-23);
    for (int i = 0; i < 25; ++i) {
      const std::string piece = draws.word(4);
      if (piece.size() < 2 || std::ranges::find(model.pieces, piece) != model.pieces.end()) continue;
      model.pieces.push_back(piece);
      model.scores.push_back(round % 2 == 0 ? -static_cast<double>(i) : -static_cast<double>(i / 4));
    }
    const Tokenizer tokenizer(model);
    for (int i = 0; i < 40; ++i) {
      const std::string word = draws.word(i == 0 ? 300 : 20);
      std::vector<std::string> parts{"\u2581"};
      for (const char letter : word) parts.emplace_back(1, letter);
      Ids expected;
      bool was_unknown = false;
      for (const std::string& part : merged(model, parts)) {
        const auto id = tokenizer.id_of(part);
        if (id || !was_unknown) expected.push_back(id.value_or(0));
        was_unknown = !id;
      }
      CAPTURE(word);
      CHECK(tokenizer.encode(word) == expected);
    }
  }
}

TEST_CASE("only spaces: other white space is text, marks are spaces, none at the end") {
  std::vector<std::pair<std::string, double>> pieces = few;
  pieces.insert(pieces.end(), {{"\\n", -5}, {"\\xE2\\x80\\x83", -5}});
  const Tokenizer tokenizer(model_of(TokenizerKind::unigram, pieces));
  const Ids a{2}, b{1, 4};
  CHECK(tokenizer.encode("  a   a ") == Ids{2, 2});
  CHECK(tokenizer.encode("a\na") == Ids{2, 7, 3});
  CHECK(tokenizer.encode("a\u2003a") == Ids{2, 8, 3});
  CHECK(tokenizer.encode("a\u2581a") == Ids{2, 2});
  CHECK(tokenizer.encode("\u2581a") == Ids{1, 2});
  CHECK(tokenizer.encode("a \u2581 a") == Ids{2, 1, 1, 2});
  CHECK(tokenizer.encode("a\u2581 \u2581 ") == a);
  CHECK(tokenizer.encode("\u2581").empty());
  CHECK(tokenizer.encode("b") == b);
}

TEST_CASE("charsmap: units that no key leads to do not matter; spaces within keys are refused") {
  std::string normalised;
  Charsmap(map_of_line_ends({{20, ' '}})).apply("a\nb", normalised);
  CHECK(normalised == "a b");
  CHECK_THROWS_AS(Charsmap(map_of_line_ends({{'a', 'a' | 128 << 10}, {'a' ^ 128 ^ ' ', ' '}})), DataError);
  CHECK_NOTHROW(Charsmap(map_of_line_ends({{'a', 'a' | 128 << 10}, {'a' ^ 128 ^ 'b', 'b'}})));
}

TEST_CASE("charsmap: cycles and endless replacements are refused") {
  CHECK_THROWS_WITH_AS(Charsmap(map_of_line_ends({{'a', 'a' | 128 << 10}, {128, 'a' | 'a' << 10}})),
                       "the tokenizer's charsmap has keys of more than 256 bytes", DataError);
  CHECK_NOTHROW(Charsmap(map_of_line_ends({}) + std::string(256, 'x') + '\0'));
  CHECK_THROWS_WITH_AS(Charsmap(map_of_line_ends({}) + std::string(257, 'x') + '\0'),
                       doctest::Contains("a replacement of 257 bytes"), DataError);
}

TEST_CASE("unigram of single precision: which of equally probable ways is found depends on the sum before them") {
  const std::vector<double> scores{-4.3, -6.9};
  const PieceTrie trie({{"f", 0}, {"ff", 1}});
  std::vector<LastPiece> ways;
  int longer_first = 0;
  for (int i = 0; i < 100; ++i) {
    const float before = -static_cast<float>(i) * 1.37F;
    find_best_pieces_rounded("fff", trie, scores, -20, before, ways);
    // The way of the shorter piece first is kept in single precision, and the other one is compared with that.
    const auto after_one = static_cast<float>(before + scores[0]), after_two = static_cast<float>(before + scores[1]);
    const bool other = after_two + scores[0] > static_cast<double>(static_cast<float>(after_one + scores[1]));
    CHECK(ways[3].begin == (other ? 2 : 1));
    longer_first += other ? 1 : 0;
  }
  CHECK(longer_first > 10);
  CHECK(longer_first < 90);
}

TEST_CASE("only spaces: text may be split where the tokenizer says") {
  for (const TokenizerKind kind : {TokenizerKind::unigram, TokenizerKind::char_bpe}) {
    TokenizerModel model = model_of(kind, few);
    CHECK(Tokenizer(model).is_boundary("a a", 1) == (kind == TokenizerKind::char_bpe));
    model.charsmap = {to_base64(map_of_line_ends({}))};
    const Tokenizer tokenizer(model);
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const std::string text = random_text({"a", "ab", "b", " ", "  ", "\u2581", "\n", "\u00e9"}, 60, seed);
      int boundaries = 0;
      for (std::size_t at = 1; at < text.size(); ++at) {
        if (!tokenizer.is_boundary(text, at)) continue;
        Ids parts = tokenizer.encode(text.substr(0, at));
        tokenizer.encode(text.substr(at), parts);
        CAPTURE(text);
        CAPTURE(at);
        CHECK(parts == tokenizer.encode(text));
        ++boundaries;
      }
      CHECK(boundaries > 0);
    }
  }
}

TEST_CASE("only spaces: tokens with offsets are those without, line after line") {
  // Ties between segmentations are broken by the sum before them, within this line alone.
  for (const TokenizerKind kind : {TokenizerKind::unigram, TokenizerKind::char_bpe}) {
    TokenizerModel model = model_of(kind, {{"\u2581", -2}, {"f", -4.3}, {"ff", -6.9}});
    model.charsmap = {to_base64(map_of_line_ends({}))};
    const Tokenizer tokenizer(model);
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      const std::string text = random_text({"f", "fff", "ff fff", " ", "\n", "fffff\n"}, 60, seed);
      Ids located;
      for (const LocatedToken& token : tokenizer.encode_with_offsets(text)) located.push_back(token.id);
      CAPTURE(text);
      CHECK(located == tokenizer.encode(text));
    }
  }
}

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "libcore/text/samples.hpp"
#include "libcore/text/tokenizer.hpp"

using namespace heddle;
using namespace heddle::text;

namespace {

TokenizerModel unigram(const std::vector<std::pair<std::string, double>>& pieces) {
  TokenizerModel model;
  model.kind = TokenizerKind::unigram;
  model.pieces = {"<unk>"};
  model.scores = {0};
  model.special_tokens = {0};
  model.unknown = 0;
  for (const auto& [piece, score] : pieces) {
    model.pieces.push_back(piece);
    model.scores.push_back(score);
  }
  return model;
}

std::vector<std::string> pieces_of(const Tokenizer& tokenizer, const std::string& text) {
  std::vector<std::string> pieces;
  for (const TokenId id : tokenizer.encode(text)) pieces.push_back(tokenizer.piece(id));
  return pieces;
}

using Pieces = std::vector<std::string>;

// The largest sum of scores over all ways to write the word as pieces, each tried.
double best_score(const Tokenizer& tokenizer, const std::string& word, std::size_t begin = 0) {
  if (begin == word.size()) return 0;
  double best = -std::numeric_limits<double>::infinity();
  for (std::size_t end = begin + 1; end <= word.size(); ++end) {
    const auto id = tokenizer.id_of(word.substr(begin, end - begin));
    if (!id) continue;
    best = std::max(best, tokenizer.model().scores[static_cast<std::size_t>(*id)] + best_score(tokenizer, word, end));
  }
  return best;
}

}  // namespace

TEST_CASE("unigram: the best of all ways to write random words") {
  Draws draws(3);
  for (int vocabulary = 0; vocabulary < 50; ++vocabulary) {
    std::vector<std::pair<std::string, double>> pieces{{"a", -3}, {"b", -4}, {"c", -5}};
    for (int i = 0; i < 15; ++i) {
      const std::string piece = draws.word(4);
      const auto is_same = [&](const auto& other) { return other.first == piece; };
      if (std::ranges::none_of(pieces, is_same)) pieces.emplace_back(piece, -draws.uniform() * 10);
    }
    const Tokenizer tokenizer(unigram(pieces));
    for (int i = 0; i < 100; ++i) {
      const std::string word = draws.word(12);
      double score = 0;
      const std::vector<TokenId> ids = tokenizer.encode(word);
      for (const TokenId id : ids) score += tokenizer.model().scores[static_cast<std::size_t>(id)];
      CAPTURE(word);
      CHECK(tokenizer.decode(ids) == word);
      CHECK(score == doctest::Approx(best_score(tokenizer, word)));
    }
  }
}

TEST_CASE("unigram: unknown characters in a row are one token") {
  const Tokenizer tokenizer(unigram({{"a", -1}, {"\u2581b", -2}, {"\u00e9", -3}}));
  CHECK(pieces_of(tokenizer, "axya\u00e9 bz") == Pieces{"a", "<unk>", "a", "\u00e9", "\u2581b", "<unk>"});
  CHECK_THROWS_WITH_AS(tokenizer.encode("a\n\xff"), "2:1: invalid UTF-8, and the tokenizer has no byte pieces",
                       TextError);
}

TEST_CASE("unigram: bytes stand for unknown characters, and every text comes back") {
  TokenizerModel model = unigram({{"\u2581the", -1}, {"the", -2}, {"\u2581", -3}, {"a", -3}});
  constexpr char digits[] = "0123456789ABCDEF";
  for (int byte = 0; byte < 256; ++byte) {
    model.pieces.push_back(std::string("<0x") + digits[byte >> 4] + digits[byte & 15] + '>');
    model.scores.push_back(-20);
  }
  model.byte_fallback = true;
  const Tokenizer tokenizer(model);
  CHECK(pieces_of(tokenizer, "the\u00e9 the") == Pieces{"the", "<0xC3>", "<0xA9>", "\u2581the"});
  CHECK(pieces_of(tokenizer, "<0x41>").size() == 6);
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const std::string text =
        (seed % 2 == 0 ? random_bytes(300, seed) : tricky_text(300, seed)) + " the \u2581 a\u2581the <0x41>";
    CHECK(tokenizer.decode(tokenizer.encode(text)) == text);
  }
}

TEST_CASE("unigram: U+0085 is no space between words, as SentencePiece has it; U+2003 is one") {
  TokenizerModel model = unigram({{"\u2581a", -1}, {"\u2581b", -1}, {"b", -2}, {"\u2581", -4}});
  model.spaced_words = true;
  const Tokenizer tokenizer(model);
  CHECK(pieces_of(tokenizer, "a\u0085b") == Pieces{"\u2581a", "<unk>", "b"});
  CHECK(pieces_of(tokenizer, "a\u2003b") == Pieces{"\u2581a", "\u2581b"});
}

TEST_CASE("unigram: words with spaces before them") {
  TokenizerModel model = unigram({{"\u2581", -2}, {"\u2581a", -1}, {"a", -2}, {"b", -3}});
  model.spaced_words = true;
  const Tokenizer tokenizer(model);
  CHECK(pieces_of(tokenizer, "a  ab\n\u3000ba ") == Pieces{"\u2581a", "\u2581a", "b", "\u2581", "b", "a"});
  CHECK(pieces_of(tokenizer, "a\u2581a\u2581\u2581a") == Pieces{"\u2581a", "\u2581a", "\u2581", "\u2581a"});
  CHECK(pieces_of(tokenizer, "\u2581a") == Pieces{"\u2581a"});
  CHECK(tokenizer.decode(tokenizer.encode(" a ab  a")) == "a ab a");
}

TEST_CASE("char-bpe: merged characters, a space before the text, bytes for what is unknown") {
  TokenizerModel model;
  model.kind = TokenizerKind::char_bpe;
  model.byte_fallback = model.prefix_space = true;
  constexpr char digits[] = "0123456789ABCDEF";
  for (int byte = 0; byte < 256; ++byte) {
    model.pieces.push_back(std::string("<0x") + digits[byte >> 4] + digits[byte & 15] + '>');
  }
  model.pieces.insert(model.pieces.end(), {"\u2581", "a", "b", "\u2581a", "ab", "\u2581\u2581"});
  model.merges = {256, 257, 257, 258, 256, 256};
  const Tokenizer tokenizer(model);
  CHECK(pieces_of(tokenizer, "ab ab") == Pieces{"\u2581a", "b", "\u2581a", "b"});
  CHECK(pieces_of(tokenizer, "  b") == Pieces{"\u2581\u2581", "\u2581", "b"});
  CHECK(pieces_of(tokenizer, "bab\n") == Pieces{"\u2581", "b", "ab", "<0x0A>"});
  const std::string words = "ab ab b";
  std::vector<std::string> places;
  for (const LocatedToken& token : tokenizer.encode_with_offsets(words)) {
    places.push_back(words.substr(token.begin, token.end - token.begin));
  }
  CHECK(places == std::vector<std::string>{"a", "b", " a", "b", " ", "b"});
  for (const std::string text : {"ab a", " a\n b", "\u00e9\xff b", ""}) {
    CHECK(tokenizer.decode(tokenizer.encode(text)) == text);
  }
  model.merges.insert(model.merges.end(), {258, 256});  // joins what stands before a space with the space
  model.pieces.push_back("b\u2581");
  CHECK(pieces_of(Tokenizer(model), "b b") == Pieces{"\u2581", "b\u2581", "b"});
}

TEST_CASE("special tokens: white space beside them, and added tokens that are text") {
  TokenizerModel model = train("the cat", {.vocab_size = 258, .special_tokens = {"<m>"}});
  const auto special = static_cast<TokenId>(model.special_tokens[0]);
  model.strip_left = {special};
  model.pieces.push_back("  ");
  model.added_tokens = {static_cast<Index>(model.pieces.size()) - 1};
  const auto blanks = static_cast<TokenId>(model.added_tokens[0]);
  const Tokenizer tokenizer(model);
  CHECK(tokenizer.encode("a \n<m> b") == std::vector<TokenId>{'a', special, ' ', 'b'});
  CHECK(tokenizer.encode("a   b") == std::vector<TokenId>{'a', blanks, ' ', 'b'});
  CHECK(tokenizer.encode("  b<m>", SpecialText::plain) == std::vector<TokenId>{blanks, 'b', '<', 'm', '>'});
  CHECK(tokenizer.decode(tokenizer.encode("a    b")) == "a    b");
  CHECK_FALSE(tokenizer.is_special(blanks));
}

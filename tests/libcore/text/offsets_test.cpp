#include "libcore/text/offsets.hpp"

#include <doctest/doctest.h>

#include <string>

#include "libcore/base/random.hpp"
#include "libcore/text/basic_words.hpp"
#include "libcore/text/spelling.hpp"
#include "libcore/text/tokenizer.hpp"

using namespace heddle;
using namespace heddle::text;
using namespace std::string_literals;

namespace {

Tokenizer tokenizer_of(TokenizerKind kind, const std::vector<std::string>& pieces, bool has_unknown = true) {
  TokenizerModel model;
  model.kind = kind;
  model.lowercase = model.strip_accents = true;
  if (has_unknown) model.pieces.push_back("[UNK]");
  for (const std::string& piece : pieces) model.pieces.push_back(spell(kind, piece));
  if (has_unknown) {
    model.special_tokens = {0};
    model.unknown = 0;
  }
  return Tokenizer(model);
}

// What the text has at the places of its tokens.
std::vector<std::string> slices(const Tokenizer& tokenizer, const std::string& text) {
  std::vector<std::string> result;
  for (const LocatedToken& token : tokenizer.encode_with_offsets(text)) {
    result.push_back(text.substr(token.begin, token.end - token.begin));
  }
  return result;
}

std::vector<TokenId> ids_of(const std::vector<LocatedToken>& tokens) {
  std::vector<TokenId> ids;
  for (const LocatedToken& token : tokens) ids.push_back(token.id);
  return ids;
}

// A text of letters with and without accents, of other alphabets, marks, spaces, control characters and damaged bytes.
std::string random_text(const RandomStream& random, std::uint64_t length) {
  const std::vector<std::string> parts = {"a",      "B",      "\u00c4", "\u00e9", "e\u0301", "\u0301", "\u0416",
                                          "\u4e2d", "\ud55c", ".",      "\u2014", " ",       "\n",     "\u00a0",
                                          "\u00ad", "\x01",   "\xff",   "\u0130", "[UNK]",   "#"};
  std::string text;
  for (std::uint64_t i = 0; i < length; ++i) text += parts[random.below(i + 1, parts.size())];
  return text;
}

using Slices = std::vector<std::string>;

}  // namespace

TEST_CASE("offsets: wordpiece finds words as they were written") {
  const Tokenizer tokenizer = tokenizer_of(TokenizerKind::wordpiece, {"un", "##aff", "##able", "cafe", ".", "\u4e2d"});
  CHECK(slices(tokenizer, "  Un\u00e4ffable  CAF\u00c9.") == Slices{"Un", "\u00e4ff", "able", "CAF\u00c9", "."});
  // An accent of its own belongs to its letter; an invisible character inside a word to nothing, or what is around it.
  CHECK(slices(tokenizer, "cafe\u0301 un\u00ad\u00e4ffable") == Slices{"cafe\u0301", "un", "\u00e4ff", "able"});
  CHECK(slices(tokenizer,
               "ca\x01"
               "fe.\u0301") == Slices{"ca\x01"
                                      "fe",
                                      "."});
  CHECK(slices(tokenizer, "nothing un [UNK]\u4e2dun") == Slices{"nothing", "un", "[UNK]", "\u4e2d", "un"});
  CHECK(slices(tokenizer, "").empty());
}

TEST_CASE("offsets: pieces of one character share it") {
  const Tokenizer tokenizer = tokenizer_of(TokenizerKind::wordpiece, {"\u1112", "##\u1161", "##\u11ab"});
  const std::vector<LocatedToken> tokens = tokenizer.encode_with_offsets(" \ud55c");
  REQUIRE(tokens.size() == 3);
  for (const LocatedToken& token : tokens) {
    CHECK(token.begin == 1);
    CHECK(token.end == 4);
  }
}

TEST_CASE("offsets: marks that are kept are found with their letters, those that are removed belong to them") {
  TokenizerModel model = tokenizer_of(TokenizerKind::wordpiece, {"e", "##x", "\u30d1", "\u0915", "##\u0941"}).model();
  model.european_accents = true;
  const Tokenizer tokenizer(model);
  CHECK(slices(tokenizer, "e\u0301\u0323X \u1ec6x") == Slices{"e\u0301\u0323", "X", "\u1ec6", "x"});
  CHECK(slices(tokenizer, "\u30cf\u309a \u30d1") == Slices{"\u30cf\u309a", "\u30d1"});
  CHECK(slices(tokenizer, "\u0915\u0941") == Slices{"\u0915", "\u0941"});
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const std::string text = random_text(RandomStream(seed, 1), 20);
    CHECK(ids_of(tokenizer.encode_with_offsets(text)) == tokenizer.encode(text));
  }
}

TEST_CASE("offsets: wordpiece of a slice is the piece, on random text") {
  Slices pieces = {"a", "##a", "b", "##b", "e", "##e", "##\u0436", "##ab", "i", "##i", ".", "\u2014", "ae", "#"};
  const Tokenizer tokenizer = tokenizer_of(TokenizerKind::wordpiece, pieces);
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const RandomStream random(seed, 1);
    const std::string text = random_text(random, random.below(0, 30));
    const std::vector<LocatedToken> tokens = tokenizer.encode_with_offsets(text);
    CHECK(ids_of(tokens) == tokenizer.encode(text));
    std::size_t end = 0;
    for (const LocatedToken& token : tokens) {
      CHECK(token.begin >= end);
      CHECK(token.end > token.begin);
      end = token.end;
      if (tokenizer.is_special(token.id)) continue;
      std::string word;
      for_each_basic_word(text.substr(token.begin, token.end - token.begin), {},
                          [&](std::string_view part) { word += part; });
      CHECK((word == tokenizer.bytes(token.id) || "##" + word == tokenizer.bytes(token.id)));
    }
  }
}

TEST_CASE("offsets: tokens of the other kinds cover the text") {
  std::vector<std::string> all_bytes;
  for (int byte = 0; byte < 256; ++byte) all_bytes.emplace_back(1, static_cast<char>(byte));
  const std::vector<Tokenizer> tokenizers = {tokenizer_of(TokenizerKind::byte, all_bytes, false),
                                             tokenizer_of(TokenizerKind::bpe, all_bytes, false),
                                             tokenizer_of(TokenizerKind::character, {"a", "\u00e9", " "}),
                                             tokenizer_of(TokenizerKind::word, {"a", " a", "."})};
  for (const Tokenizer& tokenizer : tokenizers) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      const RandomStream random(seed, 2);
      std::string text = random_text(random, random.below(0, 30));
      std::erase_if(text, [](char byte) { return byte == '\xff'; });
      const std::vector<LocatedToken> tokens = tokenizer.encode_with_offsets(text);
      CHECK(ids_of(tokens) == tokenizer.encode(text));
      std::size_t end = 0;
      for (const LocatedToken& token : tokens) {
        CHECK(token.begin == end);
        end = token.end;
        if (!tokenizer.is_special(token.id))
          CHECK(text.substr(token.begin, end - token.begin) == tokenizer.bytes(token.id));
      }
      CHECK(end == text.size());
    }
  }
}

TEST_CASE("offsets: unknown characters and words") {
  CHECK(slices(tokenizer_of(TokenizerKind::character, {"a"}), "a\u00e9a") == Slices{"a", "\u00e9", "a"});
  CHECK(slices(tokenizer_of(TokenizerKind::word, {"a"}), "a bc!") == Slices{"a", " bc", "!"});
  CHECK_THROWS_AS(tokenizer_of(TokenizerKind::character, {"a"}, false).encode_with_offsets("ab"), TextError);
}

TEST_CASE("offsets: special tokens, where they are asked for") {
  const Tokenizer tokenizer = tokenizer_of(TokenizerKind::character, {"a", "[", "]", "U", "N", "K"});
  CHECK(slices(tokenizer, "a[UNK]a") == Slices{"a", "[UNK]", "a"});
  CHECK(tokenizer.encode_with_offsets("a[UNK]a", SpecialText::plain).size() == 7);
}

TEST_CASE("offsets: a space set before the text, and ids of another text") {
  TokenizerModel model;
  model.kind = TokenizerKind::word;
  model.pieces = {"\\sa", "b"};
  const Vocabulary vocabulary(model);
  const std::vector<TokenId> ids = {0, 1};
  std::size_t count = 0;
  const auto located = [&](std::string_view text) {
    std::vector<LocatedToken> tokens;
    count = locate_tokens(vocabulary, text, ids, [&](const LocatedToken& token) { tokens.push_back(token); });
    return tokens;
  };
  const std::vector<LocatedToken> tokens = located("ab");
  REQUIRE(tokens.size() == 2);
  CHECK(tokens[0].end == 1);
  CHECK(tokens[1].end == 2);
  CHECK(count == 2);
  CHECK(located(" ab")[0].end == 2);
  CHECK(located("a").size() == 1);
  CHECK(count == 1);
  CHECK(located("").empty());
  CHECK(count == 0);
  for (const std::string text : {"abb", "bb", "Ab"}) CHECK_THROWS_AS(located(text), DataError);
}

TEST_CASE("offsets: of ids that are known") {
  const Tokenizer tokenizer = tokenizer_of(TokenizerKind::wordpiece, {"un", "##able", "able"});
  const std::string text = "un unable[UNK] able";
  const std::vector<TokenId> ids = tokenizer.encode(text);
  std::vector<LocatedToken> tokens;
  const auto locate = [&](std::span<const TokenId> of) {
    tokens.clear();
    tokenizer.locate(text, of, SpecialText::token, [&](const LocatedToken& token) { tokens.push_back(token); });
  };
  locate(ids);
  CHECK(ids_of(tokens) == ids);
  CHECK(tokens[2].begin == 5);
  CHECK(tokens[3].begin == 9);
  CHECK(tokens[4].end == text.size());
  std::vector<TokenId> others = ids;
  others.push_back(ids[0]);
  CHECK_THROWS_WITH_AS(locate(others), "these are not the ids of the text", DataError);
  CHECK_THROWS_AS(locate(std::span(ids).first(4)), DataError);
  CHECK_THROWS_WITH_AS(locate(std::span(ids).first(3)), "these are not the ids of the text", DataError);
}

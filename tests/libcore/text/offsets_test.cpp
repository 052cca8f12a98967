#include "libcore/text/offsets.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "libcore/base/base64.hpp"
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

// The text at the places of its tokens.
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

TEST_CASE("offsets: marks that are removed belong to their letter, whichever it is and however many they are") {
  TokenizerModel model = tokenizer_of(TokenizerKind::wordpiece, {"e", "\u03b5", "\u0435", "##x"}).model();
  model.european_accents = true;
  const Tokenizer tokenizer(model);
  for (const std::string letter : {"e", "\u00e9", "\u1ec7", "\u03b5", "\u03ad", "\u0435", "\u0400"}) {
    std::string marked = letter;
    for (const std::string mark : {"", "\u0301", "\u0323", "\u0308"}) {
      marked += mark;
      CAPTURE(marked);
      CHECK(slices(tokenizer, marked + "x " + marked) == Slices{marked, "x", marked});
    }
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

TEST_CASE("offsets: a space that a tokenizer adds moves no token, however the text is split after it") {
  const std::vector<std::vector<std::string>> all_cuts{{"prefix-space", "gpt2"},
                                                       {"prefix-space", "white-space"},
                                                       {"prefix-space", "punctuation", "digits"},
                                                       {"prefix-space", "white-space", "punctuation-marks"},
                                                       {"white-space", "prefix-space", "digit-runs"}};
  const Slices letters = {"a", "b", "1", "2", ".", " ", "\u00e9"};
  for (const TokenizerKind kind : {TokenizerKind::wordpiece, TokenizerKind::unigram}) {
    for (const std::vector<std::string>& cuts : all_cuts) {
      TokenizerModel model;
      model.kind = kind;
      model.cuts = cuts;
      model.pieces = {"[UNK]"};
      model.special_tokens = {0};
      model.unknown = 0;
      for (const std::string& letter : letters) {
        model.pieces.push_back(spell(kind, letter));
        if (kind == TokenizerKind::wordpiece) model.pieces.push_back(spell(kind, "##" + letter));
      }
      if (kind == TokenizerKind::unigram) model.scores.assign(model.pieces.size(), -1);
      const Tokenizer tokenizer(model);
      for (std::uint64_t seed = 0; seed < 200; ++seed) {
        const RandomStream random(seed, 4);
        std::string text;
        for (std::uint64_t i = 0; i < random.below(0, 12); ++i) text += letters[random.below(i + 1, letters.size())];
        CAPTURE(text);
        // Every letter is a piece, so that a token is where its letter is; an added space alone is nowhere.
        for (const LocatedToken& token : tokenizer.encode_with_offsets(text)) {
          const std::string found = text.substr(token.begin, token.end - token.begin);
          std::string piece(tokenizer.bytes(token.id));
          if (piece.starts_with("##")) piece.erase(0, 2);
          CHECK((found == piece || (found.empty() && piece == " ")));
        }
      }
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

namespace {

// SentencePiece's compiled map, with a block of the trie for each node.
std::string compiled(const std::vector<std::pair<std::string, std::string>>& replacements) {
  constexpr std::uint32_t has_value = 0x100, value = 1u << 31;
  std::vector<std::uint32_t> units(256);
  std::vector<std::uint32_t> blocks(256);  // children of each node; 0: none yet
  std::string texts;
  for (const auto& [key, text] : replacements) {
    std::uint32_t node = 0;
    const auto block_of = [&](std::uint32_t parent) {
      if (blocks[parent] == 0) {
        blocks[parent] = static_cast<std::uint32_t>(units.size());
        units[parent] |= (parent ^ blocks[parent]) << 10;
        units.resize(units.size() + 256);
        blocks.resize(units.size());
      }
      return blocks[parent];
    };
    for (const char byte : key) {
      const auto label = static_cast<unsigned char>(byte);
      node = block_of(node) ^ label;
      units[node] |= label;
    }
    units[node] |= has_value;
    const std::uint32_t leaf = block_of(node);
    units[leaf] = value | static_cast<std::uint32_t>(texts.size());
    texts += text + '\0';
  }
  std::string map;
  const auto append = [&](std::uint32_t number) {
    for (int i = 0; i < 4; ++i) map += static_cast<char>(number >> 8 * i & 255);
  };
  append(static_cast<std::uint32_t>(4 * units.size()));
  for (const std::uint32_t unit : units) append(unit);
  return map + texts;
}

Tokenizer spaced_tokenizer(TokenizerKind kind, bool only_spaces) {
  TokenizerModel model;
  model.kind = kind;
  model.pieces = {"<unk>", "\u2581", "a", "b", "f", "i", "fi", "\u2581a", "\u2581b", "\u2581fi"};
  for (std::size_t i = 0; i < model.pieces.size(); ++i) {
    model.scores.push_back(-10 + static_cast<double>(model.pieces[i].size()));
  }
  model.special_tokens = {0};
  model.unknown = 0;
  model.spaced_words = true;
  model.only_spaces = only_spaces;
  model.charsmap = {to_base64(
      compiled({{"\t", " "}, {"\n", " "}, {"\uff41", "a"}, {"\ufb01", "fi"}, {"\u200b", ""}, {"a\u0301", "b"}}))};
  return Tokenizer(model);
}

}  // namespace

TEST_CASE("offsets: SentencePiece's normaliser keeps the bytes that its characters came from") {
  using Places = std::vector<std::pair<std::size_t, std::size_t>>;
  const auto places = [](const Tokenizer& tokenizer, const std::string& text) {
    Places result;
    for (const LocatedToken& token : tokenizer.encode_with_offsets(text)) result.emplace_back(token.begin, token.end);
    return result;
  };
  for (const TokenizerKind kind : {TokenizerKind::unigram, TokenizerKind::char_bpe}) {
    for (const bool only_spaces : {false, true}) {
      const Tokenizer tokenizer = spaced_tokenizer(kind, only_spaces);
      CHECK(places(tokenizer, "a  b") == Places{{0, 1}, {3, 4}});
      CHECK(places(tokenizer, "  a\tb ") == Places{{2, 3}, {4, 5}});
      CHECK(places(tokenizer, "\uff41 \ufb01") == Places{{0, 3}, {4, 7}});
      CHECK(places(tokenizer, "ba\u0301b") == Places{{0, 1}, {1, 4}, {4, 5}});
      CHECK(places(tokenizer, "a\u200bb") == Places{{0, 1}, {4, 5}});
      CHECK(places(tokenizer, "axyb") == Places{{0, 1}, {1, 3}, {3, 4}});
      CHECK(places(tokenizer, "x") == Places{{0, 0}, {0, 1}});
      CHECK(places(tokenizer, "").empty());
    }
  }
}

TEST_CASE("offsets: unigram and BPE of characters without normalisation, and marks of spaces") {
  TokenizerModel model;
  model.kind = TokenizerKind::unigram;
  model.pieces = {"<unk>", "a", "\u2581a"};
  model.scores = {-3, -2, -1};
  model.special_tokens = {0};
  model.unknown = 0;
  CHECK(slices(Tokenizer(model), "a axy") == Slices{"a", " a", "xy"});
  model.kind = TokenizerKind::char_bpe;
  model.scores.clear();
  model.merges = {};
  model.pieces = {"<unk>", "\u2581", "a"};
  for (int byte = 0; byte < 256; ++byte) {
    std::string name = "<0x00>";
    name[3] = "0123456789ABCDEF"[byte / 16];
    name[4] = "0123456789ABCDEF"[byte % 16];
    model.pieces.push_back(name);
  }
  model.byte_fallback = model.prefix_space = true;
  CHECK(slices(Tokenizer(model), "a\u2581a x") == Slices{"", "a", "\u2581", "a", " ", "x"});
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

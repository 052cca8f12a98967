#include "libcore/text/vocabulary.hpp"
#include "libcore/text/special_tokens.hpp"

#include <doctest/doctest.h>

#include <functional>

#include "libcore/base/error.hpp"
#include "libcore/text/samples.hpp"
#include "libcore/text/special_tokens.hpp"

using namespace heddle;
using namespace heddle::text;

namespace {

TokenizerModel small_model(TokenizerKind kind) {
  return train("the cat sat on the mat, the end", {.kind = kind, .vocab_size = 270, .special_tokens = {"<|pad|>"}});
}

}  // namespace

TEST_CASE("special tokens: the longest that begins at a place is found, among many of all lengths") {
  std::vector<SpecialTokens::Token> tokens;
  for (int i = 0; i < 2000; ++i) tokens.push_back({"x" + std::to_string(i), i});
  tokens.push_back({"<a>", 3000});
  const SpecialTokens special(tokens);
  for (int i = 0; i < 2000; ++i) {
    const std::string token = "x" + std::to_string(i), text = "so <" + token + "y";
    const auto match = special.find(text, 0);
    REQUIRE(match);
    CHECK(match->id == i);
    CHECK(text.substr(match->begin, match->end - match->begin) == token);
  }
  CHECK(special.find("x19999", 0)->id == 1999);
  CHECK(special.find("x1 <a>", 1)->id == 3000);
  CHECK_FALSE(special.find("x <a x", 0));
}

TEST_CASE("special tokens: what they strip ends where the last one has ended") {
  const SpecialTokens special({{.text = "<m>", .id = 7, .strip_left = true, .strip_right = true},
                               {.text = "<l>", .id = 8, .strip_left = true},
                               {.text = "<r>", .id = 9, .strip_right = true}});
  using Places = std::vector<std::array<std::size_t, 3>>;
  const auto places = [&](const std::string& text) {
    Places found;
    for (std::size_t from = 0;;) {
      const auto match = special.find(text, from);
      if (!match) return found;
      found.push_back({match->begin, match->end, static_cast<std::size_t>(match->id)});
      from = match->end;
    }
  };
  CHECK(places("<m> <m>  x \u2003<l> <r> \n<l>") ==
        Places{{0, 4, 7}, {4, 9, 7}, {10, 17, 8}, {18, 23, 9}, {23, 26, 8}});
  CHECK(places(" <l>") == Places{{0, 4, 8}});
}

TEST_CASE("vocabulary: tokens by bytes and by spelling") {
  const Vocabulary vocabulary(small_model(TokenizerKind::bpe));
  CHECK(vocabulary.size() == 270);
  CHECK(vocabulary.has_all_bytes());
  CHECK(vocabulary.byte_token('a') == 'a');
  CHECK(vocabulary.bytes(vocabulary.find("the")) == "the");
  CHECK(vocabulary.find("<|pad|>") == no_token);
  CHECK(vocabulary.id_of("<|pad|>") == 268);
  CHECK(vocabulary.is_special(268));
  CHECK(vocabulary.id_of("<|endoftext|>") == 269);
  CHECK(vocabulary.id_of("\xc4\xa0") == ' ');
  CHECK_FALSE(vocabulary.id_of(" ").has_value());
}

TEST_CASE("vocabulary: a model that makes no sense is refused") {
  const auto refuses = [](TokenizerKind kind, const std::string& part,
                          const std::function<void(TokenizerModel&)>& spoil) {
    TokenizerModel model = small_model(kind);
    CHECK_NOTHROW(Tokenizer{model});
    spoil(model);
    try {
      const Tokenizer tokenizer(model);
      FAIL("accepted; expected: " << part);
    } catch (const DataError& error) {
      const std::string message = error.what();
      CAPTURE(part);
      CAPTURE(message);
      CHECK(message.find(part) != std::string::npos);
    }
  };
  constexpr auto bpe = TokenizerKind::bpe, byte = TokenizerKind::byte, character = TokenizerKind::character,
                 word = TokenizerKind::word;
  refuses(bpe, "without pieces", [](auto& m) { m = {}; });
  refuses(bpe, "not an ordinary piece", [](auto& m) { m.pieces[260].clear(); });
  refuses(word, "not valid UTF-8", [](auto& m) { m.pieces[260].clear(); });
  refuses(bpe, "not valid UTF-8", [](auto& m) { m.pieces[260] = "\xff"; });
  refuses(bpe, "not valid UTF-8", [](auto& m) { m.pieces.back() = std::string("a\0b", 3); });
  refuses(bpe, "does not have the spelling", [](auto& m) { m.pieces[260] = "a b"; });
  refuses(word, "does not have the spelling", [](auto& m) { m.pieces[260] = "\\x41"; });
  refuses(bpe, "both 'a'", [](auto& m) { m.pieces[260] = "a"; });
  refuses(byte, "lacks pieces for some of the 256 bytes", [](auto& m) { m.special_tokens.push_back(7); });
  refuses(byte, "more than one byte", [](auto& m) { m.pieces.push_back("ab"); });
  refuses(character, "more than one char", [](auto& m) { m.pieces.push_back("ab"); });
  refuses(byte, "merges in a byte", [](auto& m) { m.merges = {0, 1}; });
  refuses(bpe, "no right side", [](auto& m) { m.merges.pop_back(); });
  refuses(bpe, "not an ordinary piece", [](auto& m) { m.merges[1] = 270; });
  refuses(bpe, "not an ordinary piece", [](auto& m) { m.merges[1] = -1; });
  refuses(bpe, "not an ordinary piece", [](auto& m) { m.merges[1] = Index{1} << 40; });
  refuses(bpe, "not an ordinary piece", [](auto& m) { m.merges[1] = m.end_of_text; });
  refuses(bpe, "not one of its pieces", [](auto& m) { m.merges[1] = 0; });
  refuses(bpe, "are the same", [](auto& m) { m.merges.insert(m.merges.end(), {m.merges[0], m.merges[1]}); });
  refuses(bpe, "outside the 270 pieces", [](auto& m) { m.special_tokens[0] = 270; });
  refuses(bpe, "outside the 270 pieces", [](auto& m) { m.special_tokens[0] = -1; });
  refuses(bpe, "listed twice", [](auto& m) { m.special_tokens.push_back(m.special_tokens[0]); });
  refuses(bpe, "end-of-text token 5", [](auto& m) { m.end_of_text = 5; });
  const std::vector<std::pair<std::string, Index TokenizerModel::*>> named{
      {"unknown", &TokenizerModel::unknown},
      {"end-of-text", &TokenizerModel::end_of_text},
      {"classification", &TokenizerModel::classification},
      {"separator", &TokenizerModel::separator},
      {"mask", &TokenizerModel::mask},
      {"padding", &TokenizerModel::padding}};
  for (const auto& [name, token] : named) {
    const std::string part = "the " + name + " token ";
    for (const Index id : {Index{-2}, Index{5}, Index{270}}) {
      refuses(bpe, part + std::to_string(id), [&, token = token](auto& m) { m.*token = id; });
    }
  }
  refuses(bpe, "end-of-text token -2", [](auto& m) { m.end_of_text = -2; });
  refuses(bpe, "unknown token 4611686018427387904", [](auto& m) { m.unknown = Index{1} << 62; });
  refuses(bpe, "added token 270 is outside", [](auto& m) { m.added_tokens = {270}; });
  refuses(bpe, "added token 268 is listed twice", [](auto& m) { m.added_tokens = {268}; });
  refuses(bpe, "token 5 is looked for in a way of its own", [](auto& m) { m.strip_left = {5}; });
  refuses(bpe, "byte_fallback in a bpe", [](auto& m) { m.byte_fallback = true; });
  refuses(bpe, "with 1 scores", [](auto& m) { m.scores = {1}; });
  refuses(bpe, "splits text by 'nonsense'", [](auto& m) { m.cuts = {"nonsense"}; });
  refuses(character, "cuts in a char", [](auto& m) { m.cuts = {"gpt2"}; });
  refuses(word, "normalisers in a word", [](auto& m) { m.normalisers = {"nfc"}; });
  refuses(bpe, "normalises text by 'nonsense'", [](auto& m) { m.normalisers = {"nonsense"}; });
  refuses(bpe, "heddle does not support", [](auto& m) { m.cuts = {"split\ta(?<=b)\tisolated"}; });
  refuses(bpe, "splits text by 'split", [](auto& m) { m.cuts = {"split\ta\tnonsense"}; });
  refuses(bpe, "token 5 is looked for in a way of its own", [](auto& m) { m.single_words = {5}; });
  refuses(bpe, "token 5 is looked for in a way of its own", [](auto& m) { m.normalised_tokens = {5}; });
  refuses(word, "whole_words in a word", [](auto& m) { m.whole_words = true; });
  refuses(bpe, "spaced_words or a charsmap", [](auto& m) { m.spaced_words = true; });
  refuses(bpe, "prefix_space in a bpe", [](auto& m) { m.prefix_space = true; });
  refuses(bpe, "only_spaces in a tokenizer without", [](auto& m) { m.only_spaces = true; });
  refuses(bpe, "segments in a bpe", [](auto& m) { m.segments = {"a"}; });
}

TEST_CASE("vocabulary: a bpe model of another program may lack a byte, and then cannot encode it") {
  TokenizerModel model = small_model(TokenizerKind::bpe);
  model.pieces['q'] = "qqqqq";
  const Tokenizer tokenizer(model);
  CHECK(tokenizer.encode("the cat").size() > 0);
  CHECK_THROWS_WITH_AS(tokenizer.encode("the\ncat q"), "2:5: the tokenizer has no piece for the byte 'q'", TextError);
}

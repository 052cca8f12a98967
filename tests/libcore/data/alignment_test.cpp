#include "libcore/data/token_alignment.hpp"

#include <doctest/doctest.h>

#include "libcore/text/spelling.hpp"

using namespace heddle;
using namespace heddle::data;
using text::LocatedToken;
using text::Tokenizer;
using text::TokenizerKind;

namespace {

using Indices = std::vector<Index>;
using Words = std::vector<std::string>;

Tokenizer tokenizer_of(TokenizerKind kind, const Words& pieces) {
  text::TokenizerModel model;
  model.kind = kind;
  model.lowercase = model.strip_accents = true;
  model.pieces = {"[UNK]"};
  for (const std::string& piece : pieces) model.pieces.push_back(text::spell(kind, piece));
  model.special_tokens = {0};
  model.unknown = 0;
  return Tokenizer(model);
}

}  // namespace

TEST_CASE("words: wordpiece's first pieces, punctuation inside words, words without pieces") {
  const Tokenizer tokenizer = tokenizer_of(TokenizerKind::wordpiece, {"do", "n", "'", "t", "run", "##ning"});
  const AlignedWords aligned = align_words(tokenizer, Words{"Do", "n't", "\u200d", "running", "[UNK]"});
  CHECK(aligned.ids == std::vector<TokenId>{1, 2, 3, 4, 5, 6, 0, 0, 0});
  CHECK(aligned.word_of == Indices{0, 1, 1, 1, 3, 3, 4, 4, 4});
  CHECK(aligned.first_token == Indices{0, 1, -1, 4, 6});
}

TEST_CASE("words: spaces within tokens belong to the word, spaces alone to none") {
  const Tokenizer words = tokenizer_of(TokenizerKind::word, {"a", " bc", "!"});
  const AlignedWords aligned = align_words(words, Words{"a", "bc!", "a"});
  CHECK(aligned.ids == std::vector<TokenId>{1, 2, 3, 0});
  CHECK(aligned.word_of == Indices{0, 1, 1, 2});
  CHECK(aligned.first_token == Indices{0, 1, 3});
  const Tokenizer characters = tokenizer_of(TokenizerKind::character, {"a", "b", " "});
  const AlignedWords spelled = align_words(characters, Words{"ab", "a"});
  CHECK(spelled.word_of == Indices{0, 0, -1, 1});
  CHECK(spelled.first_token == Indices{0, 3});
  CHECK(align_words(characters, {}).ids.empty());
}

TEST_CASE("words: a word with a space in it is one word") {
  const Tokenizer characters = tokenizer_of(TokenizerKind::character, {"a", "b", " "});
  CHECK(align_words(characters, Words{"a b", "a"}).word_of == Indices{0, 0, 0, -1, 1});
}

TEST_CASE("spans: the tokens that cover a span, and back") {
  // "Zo\u00eb  met Max."
  const std::string text = "Zo\u00eb  met Max.";
  const std::vector<LocatedToken> tokens = {{1, 0, 2}, {2, 2, 4}, {3, 6, 9}, {4, 9, 13}, {5, 13, 14}};
  const auto covering = [&](std::size_t begin, std::size_t end) {
    const std::optional<TokenSpan> found = tokens_of(tokens, {begin, end});
    return found ? std::pair(found->first, found->last) : std::pair(Index{-1}, Index{-1});
  };
  CHECK(covering(0, 4) == std::pair(Index{0}, Index{1}));
  CHECK(covering(10, 13) == std::pair(Index{3}, Index{3}));
  CHECK(covering(3, 8) == std::pair(Index{1}, Index{2}));
  CHECK(covering(4, 6) == std::pair(Index{-1}, Index{-1}));
  CHECK(covering(14, 20) == std::pair(Index{-1}, Index{-1}));
  CHECK(covering(6, 6) == std::pair(Index{-1}, Index{-1}));
  const TextSpan max = text_of(text, tokens, {3, 3});
  CHECK(text.substr(max.begin, max.end - max.begin) == "Max");
  const TextSpan all = text_of(text, tokens, {0, 4});
  CHECK(all.end - all.begin == text.size());
}

TEST_CASE("spans: text is cut at characters, and white space alone is empty") {
  const std::string text = "a\u20acb  \u00a0c";
  // A token that ends inside the euro sign, one that is inside of it, and one of white space.
  const std::vector<LocatedToken> tokens = {{1, 0, 2}, {2, 2, 3}, {3, 3, 5}, {4, 5, 9}};
  const auto slice = [&](Index first, Index last) {
    const TextSpan span = text_of(text, tokens, {first, last});
    return text.substr(span.begin, span.end - span.begin);
  };
  CHECK(slice(0, 0) == "a\u20ac");
  CHECK(slice(1, 1) == "\u20ac");
  CHECK(slice(2, 3) == "\u20acb");
  CHECK(slice(3, 3) == "");
}

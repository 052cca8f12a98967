#include "tools/lines/blank_text.hpp"

#include <doctest/doctest.h>

using namespace heddle;

namespace {

// Token n < 4 is a letter, token 4 + n is the sentinel n.
text::Tokenizer letters_and_sentinels() {
  text::TokenizerModel model;
  model.kind = text::TokenizerKind::character;
  model.pieces = {"a", "b", "c", "d", "<extra_id_0>", "<extra_id_1>", "<extra_id_2>"};
  model.special_tokens = {4, 5, 6};
  return text::Tokenizer(model);
}

}  // namespace

TEST_CASE("blank text: a target lists what each of its marks stands for, the first time that it names it") {
  const text::Tokenizer tokenizer = letters_and_sentinels();
  const BlankText text(tokenizer, "a<extra_id_1>b<extra_id_0>c<extra_id_2>d", noise_marks(tokenizer));
  using Tokens = std::vector<TokenId>;
  using Contents = BlankText::Contents;
  CHECK(text.listed_by(Tokens{4, 0, 1, 5, 2, 6}) == Contents{Tokens{2}, Tokens{0, 1}, std::nullopt});
  CHECK(text.listed_by(Tokens{4, 0, 5, 2, 4, 3, 5, 1, 6, 3}) == Contents{Tokens{2}, Tokens{0}, Tokens{3}});
  CHECK(text.listed_by(Tokens{0, 5, 1, 5, 3}) == Contents{Tokens{1}, std::nullopt, std::nullopt});
  CHECK(text.filled(text.listed_by(Tokens{4, 0, 5, 2, 4, 3})) == "acbac<extra_id_2>d");
}

TEST_CASE("blank text: pieces of wordpiece begin words, also at the beginning of a text, or continue them") {
  text::TokenizerModel model;
  model.kind = text::TokenizerKind::wordpiece;
  model.pieces = {"[UNK]", "a", "##b", "[MASK]"};
  model.special_tokens = {0, 3};
  const text::Tokenizer tokenizer(model);
  const auto filled = [&](const char* text, TokenId id) {
    const BlankText blank(tokenizer, text, {{3, BlankMark::Of::words}});
    return blank.filled({std::vector<TokenId>{id}});
  };
  CHECK(filled("[MASK] c", 1) == "a c");
  CHECK(filled("c [MASK] c", 1) == "c a c");
  CHECK(filled("c [MASK] c", 2) == "cb c");
  CHECK(filled("c[MASK]c", 2) == "cbc");
  CHECK(filled("c [MASK] c", 0) == "c [UNK] c");
}

TEST_CASE("blank text: what stands for words takes the space before it, a sentinel only where pieces have spaces") {
  using Kind = text::TokenizerKind;
  using Of = BlankMark::Of;
  for (const Kind kind : {Kind::character, Kind::word}) {
    text::TokenizerModel model;
    model.kind = kind;
    model.pieces = {"<unk>", "<x>", "\\s", "a", kind == Kind::word ? "\\sb" : "b"};
    model.special_tokens = {0, 1};
    model.unknown = 0;
    const text::Tokenizer tokenizer(model);
    const std::vector<TokenId> word = kind == Kind::word ? std::vector<TokenId>{4} : std::vector<TokenId>{2, 4};
    const auto filled = [&](const char* text, Of of, const std::vector<TokenId>& content) {
      return BlankText(tokenizer, text, {{1, of}}).filled({content});
    };
    CHECK(filled("a <x> a", Of::words, word) == "a b a");
    CHECK(filled("<x> a", Of::words, word) == "b a");
    CHECK(filled("a<x> a", Of::words, {3}) == "aa a");
    if (kind == Kind::character) CHECK(filled("a <x> a", Of::tokens, {4}) == "a b a");
    if (kind == Kind::word) CHECK(filled("a <x> a", Of::tokens, {4}) == "a b a");
  }
}

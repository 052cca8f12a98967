#include "libcore/text/vocabulary_training.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "libcore/base/error.hpp"
#include "libcore/text/samples.hpp"
#include "libcore/text/tokenizer.hpp"
#include "support/skips.hpp"

using namespace heddle;
using namespace heddle::text;

namespace {

std::vector<std::string> pieces_from(const TokenizerModel& model, std::size_t first) {
  return {model.pieces.begin() + static_cast<std::ptrdiff_t>(first), model.pieces.end()};
}

using Pieces = std::vector<std::string>;

}  // namespace

TEST_CASE("trainer: bpe learns within pre-tokens and puts special tokens last") {
  const TokenizerModel model =
      train("low lower low<|endoftext|>low low", {.vocab_size = 262, .special_tokens = {"<|pad|>"}});
  CHECK(pieces_from(model, 256) == Pieces{"lo", "low", "\xc4\xa0low", "\xc4\xa0lowe", "<|pad|>", "<|endoftext|>"});
  CHECK(model.special_tokens == std::vector<Index>{260, 261});
  CHECK(model.end_of_text == 261);
  CHECK(model.unknown == -1);
}

TEST_CASE("trainer: special tokens of BERT's and of RoBERTa's names have their parts in every kind of model") {
  for (const std::vector<std::string>& names : {std::vector<std::string>{"[CLS]", "[PAD]", "[SEP]", "[MASK]"},
                                                std::vector<std::string>{"<s>", "<pad>", "</s>", "<mask>"}}) {
    const TokenizerModel model = train("ab ab", {.special_tokens = names});
    const Index first = model.special_tokens.at(0);
    CHECK(model.classification == first);
    CHECK(model.padding == first + 1);
    CHECK(model.separator == first + 2);
    CHECK(model.mask == first + 3);
  }
}

TEST_CASE("trainer: the vocabulary is smaller where the text has no more to give, or only rarer things") {
  CHECK(train("ab ab", {.vocab_size = 1000}).pieces.size() == 256 + 2 + 1);
  CHECK(train("ab ab", {.vocab_size = 1000, .end_of_text = "none"}).pieces.size() == 256 + 2);
  CHECK(train("ab ab", {.vocab_size = 1000, .min_frequency = 2}).pieces.size() == 256 + 1 + 1);
  CHECK(train("aab", {.kind = TokenizerKind::character, .min_frequency = 2, .byte_fallback = false}).pieces.size() ==
        2);
}

TEST_CASE("trainer: characters in order of code points, words from the most frequent") {
  const std::string text = "b \xc3\xa9 \xe4\xb8\xad \xc3\xa9 a bb";
  CHECK(train(text, {.kind = TokenizerKind::character, .byte_fallback = false, .end_of_text = "none"}).pieces ==
        Pieces{"\\s", "a", "b", "\xc3\xa9", "\xe4\xb8\xad"});
  CHECK(pieces_from(train(text, {.kind = TokenizerKind::character}), 256) ==
        Pieces{"\xc3\xa9", "\xe4\xb8\xad", "<|endoftext|>"});
  CHECK(train(text, {.kind = TokenizerKind::character, .vocab_size = 3, .byte_fallback = false, .end_of_text = "none"})
            .pieces == Pieces{"\\s", "b", "\xc3\xa9"});
  CHECK(pieces_from(train(text, {.kind = TokenizerKind::word, .vocab_size = 260}), 256) ==
        Pieces{"\\s\xc3\xa9", "\\sa", "\\sbb", "<|endoftext|>"});
  CHECK(train(text, {.kind = TokenizerKind::word, .byte_fallback = false, .end_of_text = "none", .unknown = "<unk>"})
            .pieces == Pieces{"\\s\xc3\xa9", "\\sa", "\\sbb", "\\s\xe4\xb8\xad", "b", "<unk>"});
}

TEST_CASE(
    "trainer: words keep the marks of their letters where the text has such, and English is cut as GPT-2 cuts it") {
  const std::string hindi = "हिन्दी में हिन्दी";
  for (const TokenizerKind kind : {TokenizerKind::bpe, TokenizerKind::word, TokenizerKind::unigram}) {
    CHECK(train(english, {.kind = kind, .vocab_size = 300}).cuts.empty());
    const TokenizerModel model = train(hindi, {.kind = kind, .vocab_size = 400});
    CHECK(model.cuts == std::vector<std::string>{"gpt2-marks"});
    const Tokenizer tokenizer(model);
    CHECK(tokenizer.decode(tokenizer.encode(hindi)) == hindi);
    const auto located = tokenizer.encode_with_offsets(hindi);
    CHECK(located.front().begin == 0);
    CHECK(located.back().end == hindi.size());
  }
  const Tokenizer words(train(hindi, {.kind = TokenizerKind::word, .vocab_size = 300}));
  CHECK(words.encode(hindi).size() == 3);
  CHECK(words.id_of("हिन्दी").has_value());
  CHECK(train(hindi, {.kind = TokenizerKind::character, .vocab_size = 300}).cuts.empty());
}

TEST_CASE("trainer: bytes need no text") {
  const TokenizerModel model = train("", {.kind = TokenizerKind::byte, .vocab_size = 1});
  CHECK(model.pieces.size() == 257);
  CHECK(model.pieces['A'] == "A");
}

TEST_CASE("trainer: the parts in which text comes do not matter, documents do") {
  const std::string text = tricky_text(30000, 8);
  for (const TokenizerKind kind : all_kinds) {
    CAPTURE(to_text(kind));
    const TrainerOptions options = {.kind = kind, .vocab_size = 600};
    const TokenizerModel whole = train(text, options);
    for (const std::size_t part : {1, 13, 4096, 200000}) {
      Trainer trainer(options);
      for (std::size_t at = 0; at < text.size(); at += part) trainer.add(std::string_view(text).substr(at, part));
      CHECK(trainer.finish() == whole);
    }
  }
  // Nor do the blocks in which words are counted, wherever special tokens are.
  std::string with_tokens = tricky_text(3000, 9);
  for (std::size_t at = 7; at < with_tokens.size(); at += 61) {
    while (at < with_tokens.size() && (with_tokens[at] & 0xC0) == 0x80) ++at;
    with_tokens.insert(at, at % 2 == 0 ? "<a b>" : "<a b> <a");
  }
  for (const TokenizerKind kind : all_kinds) {
    CAPTURE(to_text(kind));
    const TrainerOptions options = {.kind = kind, .vocab_size = 600, .special_tokens = {"<a b>", "<a"}};
    const TokenizerModel whole = train(with_tokens, options);
    for (const std::size_t block : {1, 30, 1000}) {
      Trainer trainer(options, block);
      trainer.add(with_tokens);
      CHECK(trainer.finish() == whole);
    }
  }
  Trainer trainer({.vocab_size = 1000});
  trainer.add("ab");
  trainer.end_document();
  trainer.add("ab");
  CHECK(trainer.finish().pieces.size() == 256 + 1 + 1);
}

TEST_CASE("trainer: what makes no sense is refused") {
  CHECK_THROWS_AS(Trainer({.vocab_size = 256}), UsageError);
  CHECK_THROWS_AS(Trainer({.vocab_size = 0}), UsageError);
  CHECK_THROWS_AS(Trainer({.min_frequency = 0}), UsageError);
  CHECK_THROWS_AS(Trainer({.end_of_text = "x"}), UsageError);
  CHECK_THROWS_AS(Trainer({.special_tokens = {""}}), UsageError);
  CHECK_THROWS_AS(Trainer({.special_tokens = {"<b>", "<a>", "<b>"}}), UsageError);
  CHECK_THROWS_AS(Trainer({.unknown = "\xff\xff"}), UsageError);
  CHECK_THROWS_AS(train("", {}), DataError);
  CHECK_THROWS_AS(train("<|endoftext|>", {}), DataError);
}

TEST_CASE("trainer: invalid UTF-8 without byte fallback is an error that says where") {
  for (const TokenizerKind kind : {TokenizerKind::character, TokenizerKind::word}) {
    CHECK_NOTHROW(train("ok\xff", {.kind = kind}));
    try {
      train("ok\n caf\xe9 ok", {.kind = kind, .byte_fallback = false});
      FAIL("no error");
    } catch (const TextError& error) {
      CHECK(std::string(error.what()).starts_with("2:5: invalid UTF-8"));
    }
    CHECK_THROWS_WITH_AS(train("\u00e9\xe9", {.kind = kind, .byte_fallback = false}),
                         doctest::Contains("1:3: invalid UTF-8"), TextError);
  }
}

TEST_CASE("trainer: tinyshakespeare has 65 characters") {
  const char* shared = std::getenv("HEDDLE_SHARED_DATA");
  std::ifstream file(std::string(shared == nullptr ? "" : shared) + "/tinyshakespeare/input.txt", std::ios::binary);
  if (!file) {
    testing::skipped("no tinyshakespeare in HEDDLE_SHARED_DATA");
    return;
  }
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const Tokenizer tokenizer(
      train(text, {.kind = TokenizerKind::character, .byte_fallback = false, .end_of_text = "none"}));
  CHECK(tokenizer.vocab_size() == 65);
  CHECK(tokenizer.encode("First")[0] == 18);
  const std::vector<TokenId> ids = tokenizer.encode(text);
  CHECK(ids.size() == 1115394);
  CHECK(tokenizer.decode(ids) == text);
}

TEST_CASE("trainer: wordpiece begins with its special tokens, then characters, then merges") {
  const TokenizerModel model = train("hug Pug pun bun hugs hug", {.kind = TokenizerKind::wordpiece, .vocab_size = 18});
  CHECK(Pieces(model.pieces.begin(), model.pieces.begin() + 5) == Pieces{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"});
  // ##u occurs 6 times, ##g 4, h 3, ##n 2, p 2, ##s 1, b 1; ##ug 4 times, and so on.
  CHECK(pieces_from(model, 5) ==
        Pieces{"##u", "##g", "h", "##n", "p", "##s", "b", "##ug", "hug", "##un", "bun", "hugs", "pug"});
  CHECK(model.unknown == 1);
  CHECK(model.classification == 2);
  CHECK(model.separator == 3);
  CHECK(model.mask == 4);
  CHECK(model.padding == 0);
  CHECK(model.end_of_text == 3);
  CHECK(model.lowercase);
  const TokenizerModel cased = train("Ab Ab", {.kind = TokenizerKind::wordpiece, .vocab_size = 9, .cased = true});
  CHECK(pieces_from(cased, 5) == Pieces{"##b", "A", "Ab"});
  CHECK_FALSE(cased.lowercase);
}

TEST_CASE("trainer: wordpiece keeps accents where it keeps capitals") {
  const std::string text = "Z\u00fcrich Z\u00fcrich";
  for (const bool cased : {true, false}) {
    CAPTURE(cased);
    const TokenizerModel model = train(text, {.kind = TokenizerKind::wordpiece, .cased = cased, .whole_words = true});
    CHECK(pieces_from(model, 5) == Pieces{cased ? "Z\u00fcrich" : "zurich"});
    CHECK(model.strip_accents == !cased);
    CHECK(Tokenizer(model).encode(text) == std::vector<TokenId>{5, 5});
  }
  const TokenizerModel parts =
      train("Z\u00fc Z\u00fc", {.kind = TokenizerKind::wordpiece, .vocab_size = 9, .cased = true});
  CHECK(pieces_from(parts, 5) == Pieces{"##\u00fc", "Z", "Z\u00fc"});
}

TEST_CASE("trainer: wordpiece keeps, removes or sorts marks by script, as it is told") {
  const std::string text = "Z\u00fcrich \u0915\u0941\u0932";
  const auto pieces = [&](Marks marks, bool cased) {
    const TokenizerModel model =
        train(text, {.kind = TokenizerKind::wordpiece, .cased = cased, .marks = marks, .whole_words = true});
    CHECK(model.final_sigma == !cased);
    CHECK(Tokenizer(model).encode(text) == std::vector<TokenId>{5, 6});
    return pieces_from(model, 5);
  };
  CHECK(pieces(Marks::automatic, false) == Pieces{"zurich", "\u0915\u0941\u0932"});
  CHECK(pieces(Marks::keep, false) == Pieces{"z\u00fcrich", "\u0915\u0941\u0932"});
  CHECK(pieces(Marks::remove, false) == Pieces{"zurich", "\u0915\u0932"});
  CHECK(pieces(Marks::automatic, true) == Pieces{"Z\u00fcrich", "\u0915\u0941\u0932"});
  CHECK(pieces(Marks::european, true) == Pieces{"Zurich", "\u0915\u0941\u0932"});
}

TEST_CASE("trainer: of wordpiece and unigram, too, rare characters and pieces are left out") {
  const TokenizerModel model = train("aa aa xz", {.kind = TokenizerKind::wordpiece, .min_frequency = 2});
  CHECK(pieces_from(model, 5) == Pieces{"##a", "a", "aa"});
  CHECK(Tokenizer(model).encode("aa xz") == std::vector<TokenId>{7, 1});
  // a occurs 4 times, b, the space, "ab" and " a" 3 times, " ab" and x twice.
  const auto unigram = [](Index min_frequency) {
    return train("ab ab ab axx", {.kind = TokenizerKind::unigram,
                                  .vocab_size = 100,
                                  .min_frequency = min_frequency,
                                  .byte_fallback = false,
                                  .end_of_text = "none"})
        .pieces;
  };
  const auto sorted = [](Pieces pieces) {
    std::ranges::sort(pieces);
    return pieces;
  };
  const std::string space = "\u2581";
  CHECK(sorted(unigram(2)) == sorted({"a", "b", "x", "ab", space, space + "a", space + "ab"}));
  CHECK(sorted(unigram(3)) == sorted({"a", "b", "ab", space, space + "a"}));
  CHECK(unigram(4) == Pieces{"a"});
}

TEST_CASE("trainer: wordpiece of whole words has the most frequent words alone, and the others are unknown") {
  const TokenizerModel model =
      train("Pug pun hugs Hugs hugs pug", {.kind = TokenizerKind::wordpiece, .vocab_size = 7, .whole_words = true});
  CHECK(pieces_from(model, 5) == Pieces{"hugs", "pug"});
  const Tokenizer tokenizer(model);
  CHECK(tokenizer.encode("HUGS hug pugs pun pug") == std::vector<TokenId>{5, 1, 1, 1, 6});
}

TEST_CASE("trainer: wordpiece leaves words with rare characters out of account") {
  // Three places: two for characters, one for a merge.
  const TokenizerModel model = train("aa aa aa xz", {.kind = TokenizerKind::wordpiece, .vocab_size = 8});
  CHECK(pieces_from(model, 5) == Pieces{"##a", "a", "aa"});
  const Tokenizer tokenizer(model);
  CHECK(tokenizer.encode("aa xz") == std::vector<TokenId>{7, 1});
}

TEST_CASE("trainer: wordpiece has more characters where merges do not fill their half") {
  // Six places: three characters leave one merge, so the two places that remain go to x, and to the merge that it
  // makes.
  const TokenizerModel model = train("aa aa aa xz", {.kind = TokenizerKind::wordpiece, .vocab_size = 11});
  CHECK(pieces_from(model, 5) == Pieces{"##a", "a", "##z", "x", "aa", "xz"});
  CHECK(train("aa aa aa xz", {.kind = TokenizerKind::wordpiece, .vocab_size = 100}).pieces.size() == 11);
}

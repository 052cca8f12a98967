#include "libcore/text/tokenizer.hpp"

#include <doctest/doctest.h>

#include <thread>

#include "libcore/text/normaliser.hpp"
#include "libcore/text/samples.hpp"
#include "libcore/text/unicode.hpp"

using namespace heddle;
using namespace heddle::text;

namespace {

Tokenizer trained_on_english(TokenizerKind kind, TrainerOptions options = {}) {
  options.kind = kind;
  options.vocab_size = 400;
  return Tokenizer(train(english + "Z\xc3\xbcrich \xe4\xb8\xad\xe6\x96\x87 \xe4\xb8\xad\n", options));
}

std::string error_of(const Tokenizer& tokenizer, const std::string& text) {
  try {
    tokenizer.encode(text);
  } catch (const TextError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("tokenizer: any bytes come back, in every kind") {
  for (const TokenizerKind kind : all_kinds) {
    CAPTURE(to_text(kind));
    const Tokenizer tokenizer = trained_on_english(kind, {.special_tokens = {"<|pad|>"}});
    for (const SpecialText special : {SpecialText::token, SpecialText::plain}) {
      CHECK(tokenizer.encode("", special).empty());
      for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const std::string text = english + (seed % 2 == 0 ? random_bytes(500, seed) : tricky_text(300, seed));
        const std::vector<TokenId> ids = tokenizer.encode(text, special);
        REQUIRE(tokenizer.decode(ids) == text);
        Index bytes = 0;
        for (const TokenId id : ids) bytes += tokenizer.token_bytes(id);
        REQUIRE(bytes == static_cast<Index>(text.size()));
      }
    }
  }
}

TEST_CASE("tokenizer: ten million random bytes come back") {
  const std::string bytes = random_bytes(10'000'000, 1);
  for (const TokenizerKind kind : {TokenizerKind::bpe, TokenizerKind::byte}) {
    const Tokenizer tokenizer = trained_on_english(kind);
    CHECK(tokenizer.decode(tokenizer.encode(bytes)) == bytes);
  }
}

TEST_CASE("tokenizer: pieces and ids") {
  for (const TokenizerKind kind : all_kinds) {
    const Tokenizer tokenizer = trained_on_english(kind);
    CHECK(tokenizer.kind() == kind);
    for (TokenId id = 0; id < tokenizer.vocab_size(); ++id) CHECK(tokenizer.id_of(tokenizer.piece(id)) == id);
    CHECK_FALSE(tokenizer.id_of("no such piece").has_value());
    CHECK(tokenizer.end_of_text() == tokenizer.vocab_size() - 1);
    CHECK(tokenizer.bytes(*tokenizer.end_of_text()) == "<|endoftext|>");
    CHECK_FALSE(tokenizer.unknown().has_value());
    CHECK(tokenizer.is_special(*tokenizer.end_of_text()));
    CHECK_FALSE(tokenizer.is_special(0));
    const TokenId beyond = static_cast<TokenId>(tokenizer.vocab_size());
    CHECK_THROWS_AS(tokenizer.piece(beyond), DataError);
    CHECK_THROWS_AS(tokenizer.token_bytes(-1), DataError);
    CHECK_THROWS_AS(tokenizer.decode(std::vector<TokenId>{0, beyond}), DataError);
  }
}

TEST_CASE("tokenizer: special tokens are one id each, the longest first, or plain text on request") {
  const Tokenizer tokenizer = trained_on_english(TokenizerKind::byte, {.special_tokens = {"<|a|>", "<|a|>b", "\n\n"}});
  const TokenId a = *tokenizer.id_of("<|a|>"), ab = *tokenizer.id_of("<|a|>b"), blank = *tokenizer.id_of("\n\n"),
                end = *tokenizer.end_of_text();
  CHECK(tokenizer.encode("x<|a|>b<|a|><|a|>c\n\n\n<|endoftext|><|endoftext|") ==
        std::vector<TokenId>{'x', ab,  a,   a,   'c', blank, '\n', end, '<', '|',
                             'e', 'n', 'd', 'o', 'f', 't',   'e',  'x', 't', '|'});
  CHECK(tokenizer.encode("<|a|>", SpecialText::plain) == std::vector<TokenId>{'<', '|', 'a', '|', '>'});
}

TEST_CASE("tokenizer: text is normalised before it is cut, and tokens of normal text are found in that alone") {
  TokenizerModel model =
      train(english, {.kind = TokenizerKind::bpe, .vocab_size = 300, .special_tokens = {"fox!", "<|A|>"}});
  const Tokenizer plain(model);
  model.normalisers = {"lowercase"};
  model.normalised_tokens = {*plain.id_of("fox!")};
  const Tokenizer lower(model);
  std::vector<TokenId> expected = plain.encode("the ");
  for (const std::string token : {"fox!", "<|A|>"}) expected.push_back(static_cast<TokenId>(*plain.id_of(token)));
  for (const TokenId id : plain.encode(" <|a|> dog")) expected.push_back(id);
  CHECK(lower.encode("THE FOX!<|A|> <|a|> dOg") == expected);
}

TEST_CASE("tokenizer: blanks before a special token are a text's end") {
  const Tokenizer tokenizer = trained_on_english(TokenizerKind::word);
  const std::vector<TokenId> ids = tokenizer.encode("fox  <|endoftext|>");
  CHECK(ids == std::vector<TokenId>{'f', 'o', 'x', ' ', ' ', *tokenizer.end_of_text()});
}

TEST_CASE("tokenizer: words are one token where they are pieces, else characters and bytes") {
  const Tokenizer tokenizer = trained_on_english(TokenizerKind::word);
  CHECK(tokenizer.encode(" fox jumps").size() == 2);
  CHECK(tokenizer.encode("\xe4\xb8\xad") ==
        std::vector<TokenId>{0xe4, 0xb8, 0xad});  // only " 中" and "中文" with blank
  CHECK(tokenizer.encode(" \xe4\xb8\xad") == std::vector<TokenId>{*tokenizer.id_of("\\s\xe4\xb8\xad")});
}

TEST_CASE("tokenizer: without byte fallback text without a piece is unknown, or an error that says where") {
  const TrainerOptions strict = {.byte_fallback = false}, lenient = {.byte_fallback = false, .unknown = "<unk>"};
  for (const TokenizerKind kind : {TokenizerKind::character, TokenizerKind::word}) {
    CAPTURE(to_text(kind));
    const Tokenizer with_unknown = trained_on_english(kind, lenient), without = trained_on_english(kind, strict);
    CHECK(without.decode(without.encode(english)) == english);
    const std::vector<TokenId> ids = with_unknown.encode("\xd0\xb6");
    CHECK(ids == std::vector<TokenId>{*with_unknown.unknown()});
    CHECK(with_unknown.decode(ids) == "<unk>");
    // A word is unknown as a whole; a byte that is not UTF-8 is a word of its own.
    CHECK(error_of(without, english + " fox\xd0\xb6")
              .starts_with(kind == TokenizerKind::word ? "2:1: the tokenizer has no piece"
                                                       : "2:5: the tokenizer has no piece"));
    CHECK(error_of(with_unknown, english + "\n fox\xff").starts_with("3:5: invalid UTF-8"));
    CHECK(error_of(without, english + "<|endoftext|>\xff").starts_with("2:14: invalid UTF-8"));
  }
}

TEST_CASE("tokenizer: any thread may encode") {
  const Tokenizer tokenizer = trained_on_english(TokenizerKind::bpe);
  const std::string text = tricky_text(3000, 5);
  const std::vector<TokenId> expected = tokenizer.encode(text);
  std::vector<std::vector<TokenId>> results(4);
  std::vector<std::thread> threads;
  for (std::vector<TokenId>& result : results) {
    threads.emplace_back([&tokenizer, &text, &result] {
      for (int i = 0; i < 5; ++i) result = tokenizer.encode(text);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<TokenId>& result : results) CHECK(result == expected);
}

TEST_CASE("tokenizer: text is not cut beside a token that is found only as a word of its own") {
  TokenizerModel model;
  model.kind = TokenizerKind::character;
  model.pieces = {"a", "\\s", "<", ">", "<>"};
  model.added_tokens = model.single_words = {4};
  const Tokenizer tokenizer(model);
  for (const std::string text : {"a<> a", "a <>a", "a <> a", "<>a<>"}) {
    const std::vector<TokenId> whole = tokenizer.encode(text);
    for (std::size_t at = 1; at < text.size(); ++at) {
      CAPTURE(text);
      CAPTURE(at);
      const std::string_view view = text;
      std::vector<TokenId> parts = tokenizer.encode(view.substr(0, at));
      tokenizer.encode(view.substr(at), parts);
      if (tokenizer.is_boundary(text, at)) CHECK(parts == whole);
    }
  }
  CHECK(tokenizer.encode("a<> a") == std::vector<TokenId>{0, 2, 3, 1, 0});
  CHECK(tokenizer.encode("a <> a") == std::vector<TokenId>{0, 1, 4, 1, 0});
  CHECK(tokenizer.is_boundary("a<> a", 4));
}

TEST_CASE("normaliser: where text may be cut, the characters on both sides stay, whatever marks follow") {
  for (const std::string form : {"nfc", "nfd", "nfkc", "nfkd"}) {
    CAPTURE(form);
    const Normaliser normaliser({form});
    CHECK(normaliser.is_boundary("xey", 1));
    CHECK_FALSE(normaliser.is_boundary("xe\u0301", 1));
    int boundaries = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const std::string text = random_text({"a", "e", "xy", " ", "=", "\u0301", "\u0327", "\u0338"}, 40, seed);
      const std::string whole = normaliser.apply(text).text;
      for (std::size_t at = 1; at < text.size(); ++at) {
        if (!normaliser.is_boundary(text, at)) continue;
        ++boundaries;
        const std::string left = normaliser.apply(text.substr(0, at)).text,
                          right = normaliser.apply(text.substr(at)).text;
        CAPTURE(text);
        CAPTURE(at);
        CHECK(left + right == whole);
        CHECK(decode(right, 0).code == decode(text, at).code);
      }
    }
    CHECK(boundaries > 0);
  }
}

TEST_CASE("tokenizer: the fingerprint tells models apart and stays as it is") {
  TokenizerModel model;
  model.kind = TokenizerKind::character;
  model.pieces = {"a", "\\n", "<|endoftext|>"};
  model.special_tokens = {2};
  model.end_of_text = 2;
  CHECK(fingerprint(model) == "cd93c31eccfb2d93");
  const auto differs = [&](auto change) {
    TokenizerModel other = model;
    change(other);
    CHECK(fingerprint(other) != fingerprint(model));
  };
  differs([](TokenizerModel& m) { m.kind = TokenizerKind::word; });
  differs([](TokenizerModel& m) { std::swap(m.pieces[0], m.pieces[1]); });
  differs([](TokenizerModel& m) { m.pieces = {"a\\n", "<|endoftext|>"}; });
  differs([](TokenizerModel& m) { m.merges = {0, 1}; });
  differs([](TokenizerModel& m) { m.special_tokens.clear(); });
  differs([](TokenizerModel& m) { m.end_of_text = -1; });
  differs([](TokenizerModel& m) { m.unknown = 2; });
  differs([](TokenizerModel& m) { m.classification = 2; });
  differs([](TokenizerModel& m) { m.separator = 2; });
  differs([](TokenizerModel& m) { m.mask = 2; });
  differs([](TokenizerModel& m) { m.padding = 2; });
  differs([](TokenizerModel& m) { m.lowercase = true; });
  differs([](TokenizerModel& m) { m.strip_accents = true; });
  differs([](TokenizerModel& m) { m.european_accents = true; });
  differs([](TokenizerModel& m) { m.final_sigma = true; });
  differs([](TokenizerModel& m) { m.pair_separators = 2; });
  differs([](TokenizerModel& m) { m.scores = {-0.5}; });
  differs([](TokenizerModel& m) { m.segments = {"a"}; });
  differs([](TokenizerModel& m) { m.added_tokens = {1}; });
  differs([](TokenizerModel& m) { m.strip_left = {2}; });
  differs([](TokenizerModel& m) { m.strip_right = {2}; });
  differs([](TokenizerModel& m) { m.cuts = {"gpt2"}; });
  differs([](TokenizerModel& m) { m.spaced_words = true; });
  differs([](TokenizerModel& m) { m.only_spaces = true; });
  differs([](TokenizerModel& m) { m.prefix_space = true; });
  differs([](TokenizerModel& m) { m.byte_fallback = true; });
  differs([](TokenizerModel& m) { m.charsmap = {"AA=="}; });
}

TEST_CASE("tokenizer: the fingerprint of wordpiece counts its case, its accents and its special tokens") {
  TokenizerModel model;
  model.kind = TokenizerKind::wordpiece;
  model.pieces = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "##b"};
  model.special_tokens = {0, 1, 2, 3, 4};
  model.unknown = 1;
  model.end_of_text = model.separator = 3;
  model.classification = 2;
  model.mask = 4;
  model.padding = 0;
  const auto with = [&](bool lowercase, bool strip_accents) {
    TokenizerModel other = model;
    other.lowercase = lowercase;
    other.strip_accents = strip_accents;
    return fingerprint(other);
  };
  CHECK(with(false, false) == "7a43235863ac1530");
  CHECK(with(false, true) == "7a46895863aef859");
  CHECK(with(true, false) == "19644f60b9290781");
  CHECK(with(true, true) == "1960e960b9262458");
  model.mask = model.padding = -1;
  CHECK(with(true, true) == "b4cec0092c04524c");
}

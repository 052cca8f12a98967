#include "libcore/text/stream_encoder.hpp"

#include <doctest/doctest.h>

#include "libcore/base/random.hpp"
#include "libcore/text/samples.hpp"
#include "support/on_threads.hpp"

using namespace heddle;
using namespace heddle::text;

namespace {

using Documents = std::vector<std::vector<TokenId>>;

// Feeds the documents in parts of random length up to `longest_part`, and collects what comes out.
Documents stream(const Tokenizer& tokenizer, const std::vector<std::string>& documents, StreamOptions options,
                 std::uint64_t longest_part) {
  Documents result(1);
  StreamEncoder encoder(
      tokenizer,
      [&](const StreamEncoder::Part& part) {
        result.back().insert(result.back().end(), part.ids.begin(), part.ids.end());
        if (part.ends_document) result.emplace_back();
      },
      options);
  const RandomStream lengths(longest_part, random_site("parts"));
  std::uint64_t draw = 0;
  for (const std::string& document : documents) {
    for (std::size_t at = 0; at < document.size();) {
      const std::size_t length = 1 + lengths.below(draw++, longest_part);
      encoder.add(std::string_view(document).substr(at, length));
      at += length;
    }
    encoder.end_document();
  }
  encoder.flush();
  result.pop_back();
  return result;
}

Tokenizer trained_on_tricky_text(TokenizerKind kind) {
  return Tokenizer(
      train(tricky_text(2000, 1), {.kind = kind, .vocab_size = 500, .special_tokens = {"<|pad|>", "  \n"}}));
}

}  // namespace

TEST_CASE("stream: the same ids as from whole documents, for any kind, block size, parts and threads") {
  const std::vector<std::string> documents = {tricky_text(1500, 2),
                                              "",
                                              "x",
                                              random_bytes(3000, 3),
                                              tricky_text(900, 4),
                                              std::string(700, 'a') + std::string(700, ' ') + "'s"};
  for (const TokenizerKind kind : all_kinds) {
    CAPTURE(to_text(kind));
    const Tokenizer tokenizer = trained_on_tricky_text(kind);
    for (const SpecialText special : {SpecialText::token, SpecialText::plain}) {
      Documents expected;
      for (const std::string& document : documents) expected.push_back(tokenizer.encode(document, special));
      for (const std::size_t block : {1, 5, 17, 64, 300, 1000, 100000}) {
        CAPTURE(block);
        const testing::OnThreads scope(block % 2 == 0 ? 3 : 1);
        for (const std::uint64_t part : {1, 7, 100, 5000}) {
          REQUIRE(stream(tokenizer, documents, {special, block}, part) == expected);
        }
      }
    }
  }
}

TEST_CASE("stream: special tokens across the borders of blocks and parts") {
  const Tokenizer tokenizer = trained_on_tricky_text(TokenizerKind::byte);
  std::string text;
  for (int i = 0; i < 200; ++i) text += std::string(static_cast<std::size_t>(i % 7), '<') + "<|endoftext|><|pad|>  \n";
  const std::vector<TokenId> whole = tokenizer.encode(text);
  for (const std::size_t block : {1, 2, 3, 13, 14, 15, 31}) {
    CHECK(stream(tokenizer, {text}, {.block_bytes = block}, 3) == Documents{whole});
  }
}

TEST_CASE("stream: blocks keep their size where text can be cut") {
  std::size_t largest = 0, blocks = 0;
  BlockCutter cutter([](std::string_view text, std::size_t at) { return text[at] == ' '; }, 1, 100);
  const auto sink = [&](std::string_view block) {
    largest = std::max(largest, block.size());
    ++blocks;
  };
  for (int i = 0; i < 1000; ++i) cutter.add("some words and more ", sink);
  cutter.add(std::string(5000, ' '), sink);
  cutter.finish(sink);
  CHECK(largest <= 200);
  CHECK(largest >= 90);
  CHECK(blocks <= 25'000 / 90);
}

TEST_CASE("stream: an error says where in its document, after all earlier documents") {
  const Tokenizer tokenizer(train("abc\n", {.kind = TokenizerKind::character, .byte_fallback = false}));
  for (const std::size_t block : {1, 4, 1000}) {
    std::size_t documents = 0;
    StreamEncoder encoder(tokenizer, [&](const StreamEncoder::Part& part) { documents += part.ends_document ? 1 : 0; },
                          {.block_bytes = block});
    try {
      for (const std::string text : {"abc\n", "ab\nab\nabc", "\nab\nabcX\n", "a"}) {
        encoder.add(text);
        if (text != "ab\nab\nabc") encoder.end_document();
      }
      encoder.flush();
      FAIL("no error");
    } catch (const TextError& error) {
      CHECK(documents == 1);
      CHECK(std::string(error.what()).starts_with("5:4: the tokenizer has no piece 'X'"));
      CHECK(error.position().line == 5);
      CHECK(error.position().byte == 4);
    }
  }
}

TEST_CASE("text position: lines and bytes of random texts, of few line ends and of more than a byte counts") {
  const RandomStream stream(3, random_site("lines"));
  std::uint64_t number = 0;
  for (const std::size_t size : {0, 1, 239, 240, 241, 1000, 5000}) {
    for (const std::uint64_t rarity : {1, 2, 60}) {
      CAPTURE(size);
      CAPTURE(rarity);
      std::string text;
      while (text.size() < size)
        text += stream.below(number++, rarity) == 0 ? '\n' : "ab\r\xff"[stream.below(number++, 4)];
      TextPosition expected, whole, in_parts, relative;
      for (const char letter : text) {
        expected.byte = letter == '\n' ? 1 : expected.byte + 1;
        expected.line += letter == '\n' ? 1 : 0;
      }
      whole.advance(text);
      CHECK(whole.line == expected.line);
      CHECK(whole.byte == expected.byte);
      const std::size_t cut = size / 3;
      in_parts.advance(std::string_view(text).substr(0, cut));
      relative.advance(std::string_view(text).substr(cut));
      in_parts.advance(relative);
      CHECK(in_parts.line == expected.line);
      CHECK(in_parts.byte == expected.byte);
    }
  }
}

#include "libcore/text/spelling.hpp"

#include <doctest/doctest.h>

#include "libcore/base/strings.hpp"
#include "libcore/text/samples.hpp"

using namespace heddle;
using namespace heddle::text;

TEST_CASE("spelling: GPT-2's alphabet for byte-level kinds") {
  CHECK(spell(TokenizerKind::bpe, " the") == "\xc4\xa0the");           // Ġthe
  CHECK(spell(TokenizerKind::byte, "\n") == "\xc4\x8a");               // Ċ
  CHECK(spell(TokenizerKind::bpe, "\xc3\xa9") == "\xc3\x83\xc2\xa9");  // Ã©
  CHECK(spell(TokenizerKind::bpe, "\xad\x7f") == "\xc5\x83\xc4\xa1");  // Ńġ
  CHECK(unspell(TokenizerKind::bpe, "\xc4\xa0the") == " the");
  CHECK_FALSE(unspell(TokenizerKind::bpe, "a b").has_value());  // a blank is no letter of the alphabet
  CHECK_FALSE(unspell(TokenizerKind::bpe, "\xe4\xb8\xad").has_value());
}

TEST_CASE("spelling: escapes for characters and words") {
  CHECK(spell(TokenizerKind::word, " a\\b") == "\\sa\\\\b");
  CHECK(spell(TokenizerKind::character, "\n") == "\\n");
  CHECK(spell(TokenizerKind::character, "\xc3\xa9") == "\xc3\xa9");
  CHECK(spell(TokenizerKind::character, "\xc2\xa0") == "\\xC2\\xA0");
  CHECK(spell(TokenizerKind::character, std::string(1, '\0')) == "\\x00");
  CHECK(spell(TokenizerKind::character, "\xe9") == "\\xE9");
  CHECK(unspell(TokenizerKind::word, "\\sa\\\\b") == " a\\b");
  for (const std::string wrong : {" ", "\\", "\\q", "\\x", "\\x4", "\\xe9", "\\x41", "\\xC3\\xA9", "\xe9"}) {
    CAPTURE(wrong);
    CHECK_FALSE(unspell(TokenizerKind::word, wrong).has_value());
  }
}

TEST_CASE("spelling: any bytes have a printable spelling without blanks, and come back") {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const std::string bytes = seed % 2 == 0 ? random_bytes(50, seed) : tricky_text(30, seed);
    for (const TokenizerKind kind : all_kinds) {
      const std::string spelling = spell(kind, bytes);
      REQUIRE(is_utf8(spelling));
      for (const char byte : spelling) REQUIRE((static_cast<unsigned char>(byte) > ' ' && byte != '\x7f'));
      REQUIRE(unspell(kind, spelling) == bytes);
    }
  }
}

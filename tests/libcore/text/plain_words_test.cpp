#include "libcore/text/plain_words.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace heddle;

namespace {

// The words with bars between them.
std::string cut(const std::string& text) {
  std::string words;
  for (const auto& [begin, end] : text::plain_words(text))
    words += (words.empty() ? "" : "|") + text.substr(begin, end - begin);
  return words;
}

}  // namespace

TEST_CASE("plain words: punctuation apart, repeated characters together, apostrophes and numbers whole") {
  CHECK(cut("Don't pay $1,000.50, at 10:30...") == "Don't|pay|$|1,000.50|,|at|10:30|...");
  CHECK(cut("(well-known) \"quote\"!?") == "(|well|-|known|)|\"|quote|\"|!|?");
  CHECK(cut("l\u2019\u00e9t\u00e9 'tis dogs' 3.") == "l\u2019\u00e9t\u00e9|'|tis|dogs|'|3|.");
  CHECK(cut("a.b 1.b it''s") == "a|.|b|1|.|b|it|''|s");
}

TEST_CASE("plain words: marks belong to their letters; white space of any kind separates; any bytes are words") {
  CHECK(cut("cafe\u0301's \u0939\u093f\u0902\u0926\u0940") == "cafe\u0301's|\u0939\u093f\u0902\u0926\u0940");
  CHECK(cut("a\u00a0b\t\u3000c") == "a|b|c");
  CHECK(cut("a\xff\xff"
            "b") == "a|\xff\xff|b");
  CHECK(cut("").empty());
  CHECK(cut(" \t ").empty());
  CHECK(cut("\U0001F600\U0001F600\U0001F601") == "\U0001F600\U0001F600|\U0001F601");
}

TEST_CASE("plain words: what readers take for one character stays whole") {
  CHECK(cut("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \u0915\u094d\u200d\u0937") ==
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645|\u0915\u094d\u200d\u0937");
  CHECK(cut("co\u00adop") == "co\u00adop");
  CHECK(cut("\u0e01\u200b\u0e02") == "\u0e01|\u0e02");
  CHECK(cut("\U0001F468\u200D\U0001F467\U0001F44D\U0001F3FD\U0001F44D\U0001F3FD\u2764\uFE0F!") ==
        "\U0001F468\u200D\U0001F467|\U0001F44D\U0001F3FD\U0001F44D\U0001F3FD|\u2764\uFE0F|!");
}

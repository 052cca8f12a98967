// Texts that models add to prompts: where stop strings end them, and what is final meanwhile.
#include "tools/generate/continuation.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "libcore/base/random.hpp"

using namespace heddle;

namespace continuation_tests {

namespace {

using Strings = std::vector<std::string>;

text::Tokenizer letters() {
  text::TokenizerModel model;
  model.kind = text::TokenizerKind::character;
  model.pieces = {"a", "b", "c"};
  return text::Tokenizer(model);
}

// Before the first stop string of those that the text has once it has any; all of the text otherwise.
std::string stopped(const std::string& text, const Strings& stops, std::size_t min_tokens) {
  for (std::size_t size = min_tokens + 1; size <= text.size(); ++size) {
    std::size_t first = std::string::npos;
    for (const std::string& stop : stops) first = std::min(first, text.substr(0, size).find(stop, min_tokens));
    if (first != std::string::npos) return text.substr(0, first);
  }
  return text;
}

}  // namespace

TEST_CASE("continuation: a stop string ends the text, wherever its letters come from, and nothing of it is final") {
  const text::Tokenizer tokenizer = letters();
  const std::vector<Strings> lists{{},
                                   {"a"},
                                   {"ab"},
                                   {"aab"},
                                   {"abab", "bb"},
                                   {"aba", "ba"},
                                   {"abc", "bc"},
                                   {"c", "abcab"},
                                   {"aaaa", "cc"},
                                   {"ab", "abca"}};
  const RandomStream random(5, 1);
  std::uint64_t drawn = 0;
  for (const Strings& stops : lists) {
    for (const Index least : {0, 1, 3}) {
      for (int repetition = 0; repetition < 60; ++repetition) {
        std::string all, final_text;
        bool goes_on = true;
        Continuation text(tokenizer, text::TextPlace::inside, stops, least);
        for (int i = 0; i < 12 && goes_on; ++i) {
          const auto id = static_cast<TokenId>(random.below(drawn++, 3));
          all += static_cast<char>('a' + id);
          goes_on = text.add({id, -1});
          final_text += text.fresh_text();
          CHECK(text.text().starts_with(final_text));
        }
        CAPTURE(all);
        CAPTURE(least);
        const std::string expected = stopped(all, stops, static_cast<std::size_t>(least));
        CHECK(goes_on == (expected.size() == all.size()));
        CHECK(text.text() == expected);
        text.finish();
        CHECK(final_text + std::string(text.fresh_text()) == expected);
      }
    }
  }
}

}  // namespace continuation_tests

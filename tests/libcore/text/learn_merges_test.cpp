#include "libcore/text/learn_merges.hpp"

#include <doctest/doctest.h>

#include "libcore/text/naive_bpe.hpp"
#include "libcore/text/samples.hpp"

using namespace heddle;
using namespace heddle::text;

namespace {

std::vector<std::pair<std::string, std::string>> learnt(const std::vector<std::pair<std::string, Index>>& words,
                                                        std::size_t limit, Index minimum_count = 1) {
  StringTable table;
  std::vector<Index> counts;
  for (const auto& [word, count] : words) {
    table.add(word);
    counts.push_back(count);
  }
  const LearntMerges merges = learn_merges(table, counts, limit, minimum_count);
  CHECK(merges.pieces.size() == 256 + merges.pairs.size() / 2);
  std::vector<std::pair<std::string, std::string>> pairs;
  for (std::size_t i = 0; i < merges.pairs.size(); i += 2) {
    const auto piece = [&](std::size_t at) { return merges.pieces[static_cast<std::size_t>(merges.pairs[at])]; };
    pairs.emplace_back(piece(i), piece(i + 1));
    CHECK(merges.pieces[256 + i / 2] == piece(i) + piece(i + 1));
  }
  return pairs;
}

}  // namespace

TEST_CASE("learn_merges: a worked example") {
  // n e 9, e w 6, w e 6 (of newer), e r 6, …: "es" and "st" occur 9 times, and "es" is the smaller.
  CHECK(learnt({{"low", 5}, {"lower", 2}, {"newest", 6}, {"widest", 3}}, 3) ==
        std::vector<std::pair<std::string, std::string>>{{"e", "s"}, {"es", "t"}, {"l", "o"}});
}

TEST_CASE("learn_merges: ties go to the smaller left piece, then to the smaller right piece") {
  CHECK(learnt({{"cd", 1}, {"ab", 1}, {"bc", 1}, {"aa", 1}, {"\xff\xfe", 1}}, 9) ==
        std::vector<std::pair<std::string, std::string>>{
            {"a", "a"}, {"a", "b"}, {"b", "c"}, {"c", "d"}, {"\xff", "\xfe"}});
}

TEST_CASE("learn_merges: runs of one letter merge from left to right") {
  CHECK(learnt({{"aaaaaaa", 1}}, 9) ==
        std::vector<std::pair<std::string, std::string>>{{"a", "a"}, {"aa", "aa"}, {"aa", "a"}, {"aaaa", "aaa"}});
}

TEST_CASE("learn_merges: stops at the limit, at the minimum count and when nothing is left") {
  CHECK(learnt({{"abc", 5}, {"de", 2}}, 1).size() == 1);
  CHECK(learnt({{"abc", 5}, {"de", 2}}, 9, 3).size() == 2);
  CHECK(learnt({{"abc", 5}, {"de", 2}}, 9).size() == 3);
  CHECK(learnt({}, 9).empty());
  CHECK(learnt({{"a", 7}}, 9).empty());
}

TEST_CASE("learn_merges: counts beyond 32 bits") {
  constexpr Index many = Index{1} << 40;
  CHECK(learnt({{"ab", many}, {"bc", many + 1}, {"cb", many}, {"xcb", 2}}, 2) ==
        std::vector<std::pair<std::string, std::string>>{{"c", "b"}, {"b", "c"}});
}

TEST_CASE("learn_merges: equals the definition on random words, in any order of words") {
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    CAPTURE(seed);
    const RandomStream stream(seed, random_site("corpus"));
    const std::vector<std::string> letters = {"a", "b", "c", seed % 2 == 0 ? "a" : "\xe4"};
    std::map<std::string, Index> words;
    for (std::uint64_t i = 0; i < 25; ++i) {
      words[random_text(letters, 1 + stream.below(2 * i, 12), 1000 * seed + i)] += 1 + stream.below(2 * i + 1, 4);
    }
    const Index minimum = 1 + static_cast<Index>(seed % 3);
    const auto expected = naive_merges(words, 60, minimum);
    CHECK(learnt({words.begin(), words.end()}, 60, minimum) == expected);
    CHECK(learnt({words.rbegin(), words.rend()}, 60, minimum) == expected);
  }
}

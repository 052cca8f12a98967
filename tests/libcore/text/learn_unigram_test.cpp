#include "libcore/text/learn_unigram.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "libcore/text/naive_unigram.hpp"
#include "libcore/text/samples.hpp"
#include "libcore/text/tokenizer.hpp"
#include "support/on_threads.hpp"
#include "support/peak_memory.hpp"

using namespace heddle;
using namespace heddle::text;

namespace {

struct CountedWords {
  StringTable texts;
  std::vector<Index> counts;

  void add(std::string_view text, Index count) {
    texts.add(text);
    counts.push_back(count);
  }
};

// Words of random syllables, the later ones rarer.
CountedWords made_up_words(bool backwards) {
  const std::vector<std::string> syllables = {"ba", "ke", "lo", "mi", "nur", "sta", "st", "ing", "é", "on", "tra"};
  std::vector<std::pair<std::string, Index>> list;
  std::set<std::string> seen;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const std::string word = " " + random_text(syllables, 1 + seed % 4, seed);
    if (seen.insert(word).second) list.emplace_back(word, 1 + 1000 / static_cast<Index>(seed + 1));
  }
  if (backwards) std::ranges::reverse(list);
  CountedWords words;
  for (const auto& [word, count] : list) words.add(word, count);
  return words;
}

LearntUnigram learn(std::size_t pieces, bool backwards = false) {
  const CountedWords words = made_up_words(backwards);
  return learn_unigram(words.texts, words.counts, {.pieces = pieces});
}

}  // namespace

TEST_CASE("learn_unigram: likelihood rises while the pieces are the same") {
  const CountedWords words = made_up_words(false);
  std::size_t before = 0, compared = 0;
  double likelihood = 0;
  learn_unigram(words.texts, words.counts, {.pieces = 60, .progress = [&](std::size_t pieces, double log_likelihood) {
                                              if (pieces == before) {
                                                CHECK(log_likelihood >= likelihood);
                                                ++compared;
                                              }
                                              before = pieces;
                                              likelihood = log_likelihood;
                                            }});
  CHECK(compared > 3);
}

TEST_CASE("learn_unigram: pieces and their probabilities are those of the definition, lengths counted in characters") {
  // Characters of one to four bytes, so that lengths in bytes would choose other seeds.
  const std::vector<std::string> syllables = {"ba", "k\u00e9", "\u4e2d\u6587", "o", "nur", "\U0001F600", "in"};
  for (std::uint64_t corpus = 0; corpus < 40; ++corpus) {
    CAPTURE(corpus);
    std::map<std::string, Index> counted;
    const std::uint64_t size = 4 + corpus;  // in small ones every count matters
    for (std::uint64_t i = 0; i < size; ++i) {
      counted[random_text(syllables, 1 + (corpus + i) % 4, 100 * corpus + i)] += 2 + static_cast<Index>(i * i % 17);
    }
    CountedWords words;
    for (const auto& [word, count] : counted) words.add(word, count);
    for (const std::size_t pieces : {24, 27, 32}) {
      CAPTURE(pieces);
      const LearntUnigram learnt = learn_unigram(words.texts, words.counts, {.pieces = pieces});
      const std::map<std::string, double> expected = NaiveUnigram(counted, pieces).learn();
      REQUIRE(learnt.pieces.size() == expected.size());
      for (std::size_t i = 0; i < expected.size(); ++i) {
        CAPTURE(learnt.pieces[i]);
        REQUIRE(expected.contains(learnt.pieces[i]));
        CHECK(std::abs(learnt.scores[i] - expected.at(learnt.pieces[i])) < 1e-9);
      }
    }
  }
}

TEST_CASE("learn_unigram: a piece has at most 16 characters, however many bytes these take") {
  CountedWords words;
  std::string accents;
  for (int i = 0; i < 20; ++i) accents += "\u00e9";
  words.add(accents, 3);
  const LearntUnigram learnt = learn_unigram(words.texts, words.counts, {.pieces = 40});
  std::size_t longest = 0;
  for (const std::string& piece : learnt.pieces) longest = std::max(longest, piece.size());
  CHECK(longest == 32);
}

TEST_CASE("learn_unigram: as many pieces as asked for, all characters among them, with probabilities") {
  for (const std::size_t size : {40, 60, 100}) {
    const LearntUnigram learnt = learn(size);
    CHECK(learnt.pieces.size() == size);
    CHECK(std::ranges::is_sorted(learnt.scores, std::greater<>{}));
    double sum = 0;
    for (const double score : learnt.scores) sum += std::exp(score);
    CHECK(sum == doctest::Approx(1));
    for (const std::string character : {" ", "a", "b", "é", "u", "g"}) {
      CHECK(std::ranges::find(learnt.pieces, character) != learnt.pieces.end());
    }
  }
}

TEST_CASE("learn_unigram: frequent syllables are pieces") {
  const LearntUnigram learnt = learn(60);
  for (const std::string piece : {"nur", "sta", "ing", "tra"}) {
    CAPTURE(piece);
    CHECK(std::ranges::any_of(learnt.pieces, [&](const std::string& other) { return other.ends_with(piece); }));
  }
}

TEST_CASE("learn_unigram: one word without an end takes memory in proportion, by a small factor") {
  constexpr std::size_t bytes = std::size_t{1} << 20;
  std::string word;
  for (std::uint32_t state = 1; word.size() < bytes;) {
    state = state * 1664525 + 1013904223;
    word += static_cast<char>('a' + (state >> 24) % 26);
  }
  CountedWords words;
  words.add(word, 1);
  const std::size_t peak = testing::peak_memory([&] {
    const testing::OnThreads scope(1);
    learn_unigram(words.texts, words.counts, {.pieces = 500});
  });
  CHECK(peak <= 40 * bytes);
}

TEST_CASE("learn_unigram: the order of words and the number of threads do not matter") {
  const LearntUnigram learnt = learn(60);
  CHECK(learn(60, true).pieces == learnt.pieces);
  const testing::OnThreads scope(1);
  const LearntUnigram alone = learn(60);
  CHECK(alone.pieces == learnt.pieces);
  CHECK(alone.scores == learnt.scores);
}

TEST_CASE("learn_unigram: the rarest characters give way, and invalid bytes are no characters") {
  CountedWords words;
  words.add("abab\xff", 10);
  words.add("abcd", 1);
  const LearntUnigram learnt = learn_unigram(words.texts, words.counts, {.pieces = 4});
  CHECK(std::set<std::string>(learnt.pieces.begin(), learnt.pieces.end()) ==
        std::set<std::string>{"a", "b", "ab", "abab"});
}

TEST_CASE("unigram training: any text comes back, in few pieces") {
  std::string text;
  for (std::uint64_t seed = 0; seed < 30; ++seed) text += english + tricky_text(20, seed);
  const Tokenizer tokenizer(train(text, {.kind = TokenizerKind::unigram, .vocab_size = 400}));
  CHECK(tokenizer.vocab_size() == 400);
  CHECK(tokenizer.decode(tokenizer.encode(text)) == text);
  const std::string other = "\xff\xfe never seen: ☃ \0 end" + random_bytes(500, 1);
  CHECK(tokenizer.decode(tokenizer.encode(other)) == other);
  CHECK(tokenizer.encode(english).size() * 2 < english.size());
  CHECK_THROWS_AS(train("text", {.kind = TokenizerKind::char_bpe, .vocab_size = 600}), UsageError);
}

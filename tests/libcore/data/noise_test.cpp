#include "libcore/data/noise.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "libcore/text/sentinels.hpp"
#include "libcore/text/spelling.hpp"
#include "libcore/text/vocabulary_training.hpp"

using namespace heddle;
using namespace heddle::data;

namespace {

// Ids 0 to 899 are words, 900 to 998 sentinels, 999 is the mask.
const NoiseVocabulary plain_noise = [] {
  NoiseVocabulary vocabulary{Index{1000}};
  vocabulary.sentinels.clear();
  for (TokenId id = 900; id < 999; ++id) vocabulary.sentinels.push_back(id);
  return vocabulary;
}();
constexpr TokenId mask = 999;

const NoiseOptions infilling_in_order{.noise = NoiseKind::infilling, .permute_sentences = false};

std::vector<TokenId> random_words(Index length, std::uint64_t seed) {
  std::vector<TokenId> text;
  const RandomStream stream(seed, 4);
  for (Index i = 0; i < length; ++i) {
    text.push_back(static_cast<TokenId>(stream.below(static_cast<std::uint64_t>(i), 899)));
  }
  return text;
}

bool is_sentinel(TokenId id) {
  return id >= 900 && id < 999;
}

// The source with what the target lists after each sentinel in its place.
std::vector<TokenId> interleaved(const TokenPair& pair) {
  std::vector<TokenId> text;
  for (const TokenId id : pair.source) {
    if (!is_sentinel(id)) {
      text.push_back(id);
      continue;
    }
    auto at = std::find(pair.target.begin(), pair.target.end(), id);
    REQUIRE(at != pair.target.end());
    for (++at; at != pair.target.end() && !is_sentinel(*at); ++at) text.push_back(*at);
  }
  return text;
}

// The tokens of a text, byte by byte, and letters for special tokens.
text::Tokenizer byte_tokenizer() {
  text::TokenizerModel model;
  model.kind = text::TokenizerKind::byte;
  for (int byte = 0; byte < 256; ++byte) {
    const char letter = static_cast<char>(byte);
    model.pieces.push_back(text::spell(model.kind, {&letter, 1}));
  }
  for (const char* special : {"<end>", "<mask>", "<extra_id_0>", "<extra_id_1>"}) {
    model.special_tokens.push_back(static_cast<Index>(model.pieces.size()));
    model.pieces.emplace_back(special);
  }
  model.end_of_text = 256, model.mask = 257;
  return text::Tokenizer(model);
}

std::vector<std::string> sentences_of(const text::Tokenizer& tokenizer, const std::string& text) {
  const NoiseVocabulary vocabulary(tokenizer, NoiseKind::infilling, "test");
  const std::vector<TokenId> ids = tokenizer.encode(text);
  std::vector<std::string> sentences;
  for (const auto& words : sentences_in(ids, vocabulary)) {
    const auto begin = static_cast<std::size_t>(words.front().first),
               end = static_cast<std::size_t>(words.back().second);
    sentences.push_back(tokenizer.decode(std::span(ids).subspan(begin, end - begin)));
  }
  return sentences;
}

}  // namespace

TEST_CASE("span corruption: source and target, interleaved at the sentinels, are the text (SPEC 4.5)") {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const RandomStream stream(seed, 1);
    const auto length = static_cast<Index>(stream.below(0, 300));
    const NoiseOptions options{.density = 0.05 + 0.9 * stream.uniform(4),
                               .mean_span_length = 4 + 4 * stream.uniform(5)};
    const auto text = random_words(length, seed);
    const TokenPair pair = corrupt(text, plain_noise, options, stream);
    CHECK(interleaved(pair) == text);
    CHECK(corrupt(text, plain_noise, options, stream).source == pair.source);
    const PairLengths lengths = noised_lengths(length, options);
    CHECK(static_cast<Index>(pair.source.size()) == lengths.source);
    CHECK(static_cast<Index>(pair.target.size()) == lengths.target);
    // Each sentinel once, in order, on both sides, and one more at the end of the target.
    std::vector<TokenId> of_source, of_target;
    std::ranges::copy_if(pair.source, std::back_inserter(of_source), is_sentinel);
    std::ranges::copy_if(pair.target, std::back_inserter(of_target), is_sentinel);
    std::vector<TokenId> expected(of_source.size() + 1);
    std::iota(expected.begin(), expected.end(), 900);
    CHECK(of_target == expected);
    CHECK(pair.target.front() == 900);
    CHECK(is_sentinel(pair.target.back()));
    expected.pop_back();
    CHECK(of_source == expected);
  }
}

TEST_CASE("span corruption: the numbers of noise tokens and spans are those of SPEC A4") {
  struct Case {
    Index tokens, noise, spans;
  };
  for (const Case& c : std::vector<Case>{{2, 1, 1},
                                         {3, 1, 1},
                                         {9, 1, 1},
                                         {10, 2, 1},
                                         {16, 2, 1},
                                         {17, 3, 1},
                                         {29, 4, 1},
                                         {30, 4, 1},  // 4.5 is rounded to the even number
                                         {64, 10, 3},
                                         {100, 15, 5},
                                         {128, 19, 6},
                                         {511, 77, 26},
                                         {512, 77, 26},
                                         {568, 85, 28}}) {
    CAPTURE(c.tokens);
    const SpanCounts counts = span_counts(c.tokens, {});
    CHECK(counts.noise == c.noise);
    CHECK(counts.spans == c.spans);
    const auto text = random_words(c.tokens, 7);
    const TokenPair pair = corrupt(text, plain_noise, {}, RandomStream(3, 3));
    CHECK(std::ranges::count_if(pair.source, is_sentinel) == c.spans);
    CHECK(static_cast<Index>(pair.target.size()) == c.noise + c.spans + 1);
    CHECK_FALSE(is_sentinel(pair.source.front()));  // the rest comes first
    CHECK(is_sentinel(pair.source.back()));
  }
  CHECK(span_counts(10, {.density = 1}).noise == 9);
  CHECK(span_counts(10, {.density = 0.9, .mean_span_length = 1}).spans == 1);  // one token is left
  CHECK(span_counts(100, {.density = 0.5, .mean_span_length = 5}).spans == 10);
  const auto long_text = random_words(3000, 1);
  CHECK_THROWS_AS(corrupt(long_text, plain_noise, {}, RandomStream(1, 1)), DataError);  // 150 spans
}

TEST_CASE("span corruption: rolled noise is anywhere, and still restores the text") {
  const auto text = random_words(20, 3);
  const NoiseOptions options{.random_roll = true};  // 3 tokens in one span
  std::map<Index, int> noise;
  constexpr int draws = 4000;
  for (int step = 0; step < draws; ++step) {
    const TokenPair pair = corrupt(text, plain_noise, options, RandomStream(1, 2, static_cast<std::uint64_t>(step)));
    CHECK(interleaved(pair) == text);
    const auto spans = std::ranges::count_if(pair.source, is_sentinel);
    CHECK((spans == 1 || spans == 2));
    CHECK(static_cast<Index>(pair.source.size()) <= noised_lengths(20, options).source);
    CHECK(static_cast<Index>(pair.target.size()) <= noised_lengths(20, options).target);
    for (Index i = 0; i < 20; ++i) {
      noise[i] += std::ranges::count(pair.source, text[static_cast<std::size_t>(i)]) == 0 ? 1 : 0;
    }
  }
  for (const auto& [position, count] : noise) CHECK(std::abs(count - draws * 3 / 20) < 100);  // 4.4 standard deviations
}

TEST_CASE("span corruption: every split of noise and rest has the same probability") {
  // 9 tokens, of which 4 are noise in 2 spans: 3 splits of the noise and 4 of the rest.
  const NoiseOptions options{.density = 0.45, .mean_span_length = 2};
  const auto text = random_words(9, 5);
  std::map<std::vector<TokenId>, int> seen;
  constexpr int draws = 12000;
  for (int i = 0; i < draws; ++i) {
    ++seen[corrupt(text, plain_noise, options, RandomStream(1, 2, static_cast<std::uint64_t>(i))).source];
  }
  CHECK(seen.size() == 12);
  for (const auto& [source, count] : seen) CHECK(std::abs(count - draws / 12) < 130);  // 4.3 standard deviations
}

TEST_CASE("infilling: 30 % of the words become masks, one for each span, of mean length 3 (SPEC 4.5)") {
  double taken = 0, spans = 0, words = 0, zeros = 0;
  std::vector<double> lengths(8);
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const auto text = random_words(500, seed);
    const TokenPair pair = corrupt(text, plain_noise, infilling_in_order, RandomStream(seed, 6));
    CHECK(pair.target == text);
    const auto masks = std::ranges::count(pair.source, mask);
    CHECK(static_cast<Index>(pair.source.size()) - masks == 350);  // the budget is met exactly
    taken += 500 - (static_cast<double>(pair.source.size()) - static_cast<double>(masks));
    spans += static_cast<double>(masks);
    words += 500;
    // The words that are left are those of the text, in order.
    auto at = text.begin();
    for (const TokenId id : pair.source) {
      if (id == mask) continue;
      at = std::find(at, text.end(), id);
      REQUIRE(at != text.end());
      ++at;
    }
    // With all words different, a mask between neighbours of the text is an insertion.
    std::vector<TokenId> numbers(500);
    std::iota(numbers.begin(), numbers.end(), 0);
    const std::vector<TokenId> source = corrupt(numbers, plain_noise, infilling_in_order, RandomStream(seed, 6)).source;
    for (std::size_t i = 1; i + 1 < source.size(); ++i) {
      if (source[i] != mask || source[i - 1] == mask || source[i + 1] == mask) continue;
      const auto length = static_cast<std::size_t>(source[i + 1] - source[i - 1] - 1);
      zeros += length == 0 ? 1 : 0;
      if (length < lengths.size()) ++lengths[length];
    }
  }
  CHECK(taken / words == doctest::Approx(0.3));
  CHECK(std::abs(taken / spans - 3) < 0.1);
  const double all = std::accumulate(lengths.begin(), lengths.end(), 0.0);
  CHECK(zeros / all == doctest::Approx(std::exp(-3.0)).epsilon(0.15));
  CHECK(lengths[2] / all == doctest::Approx(4.5 * std::exp(-3.0)).epsilon(0.1));
  CHECK(lengths[3] / all == doctest::Approx(4.5 * std::exp(-3.0)).epsilon(0.1));
}

TEST_CASE(
    "infilling: insertions add a mask and take out nothing, and there are at most as many spans as words taken out") {
  const NoiseOptions options{.noise = NoiseKind::infilling, .mean_span_length = 1, .permute_sentences = false};
  bool inserted = false;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const auto length = static_cast<Index>(RandomStream(seed, 1).below(0, 40));
    const auto text = random_words(length, seed);
    const std::vector<TokenId> source = corrupt(text, plain_noise, options, RandomStream(seed, 8)).source;
    const Index budget = length == 0 ? 0 : std::max<Index>(1, std::llround(0.3 * static_cast<double>(length)));
    const Index masks = std::ranges::count(source, mask);
    CHECK(static_cast<Index>(source.size()) - masks == length - budget);
    CHECK(masks <= budget);
    CHECK((length == 0 || masks >= 1));
    inserted = inserted || masks == budget;
  }
  CHECK(inserted);
  const std::vector<TokenId> one{5};
  CHECK(corrupt(one, plain_noise, options, RandomStream(1, 1)).source == std::vector<TokenId>{mask});
}

TEST_CASE("infilling: words are taken out whole, with the space before them, and nothing of a word stays") {
  const text::Tokenizer tokenizer = byte_tokenizer();
  const NoiseVocabulary vocabulary(tokenizer, NoiseKind::infilling, "test");
  const std::string text = "one two three four five six seven eight nine ten";
  const std::vector<TokenId> ids = tokenizer.encode(text);
  for (std::uint64_t step = 0; step < 50; ++step) {
    std::string source =
        tokenizer.decode(corrupt(ids, vocabulary, infilling_in_order, RandomStream(1, 9, step)).source);
    std::size_t words = 0;
    for (const char* word : {"one", " two", " three", " four", " five", " six", " seven", " eight", " nine", " ten"}) {
      const std::size_t at = source.find(word);
      if (at == std::string::npos) continue;
      source.erase(at, std::string_view(word).size());
      ++words;
    }
    CHECK(words == 7);
    while (source.starts_with("<mask>")) source.erase(0, 6);
    CHECK(source.empty());
  }
}

TEST_CASE("sentences: end after . ! or ?, with closing marks, and where the next word begins") {
  const text::Tokenizer tokenizer = byte_tokenizer();
  using Sentences = std::vector<std::string>;
  CHECK(sentences_of(tokenizer, "One. Two! \"Three?\" (Four.) Five") ==
        Sentences{"One.", " Two!", " \"Three?\"", " (Four.)", " Five"});
  CHECK(sentences_of(tokenizer, "3.14 is pi... or so.\nYes") == Sentences{"3.14 is pi...", " or so.\n", "Yes"});
  CHECK(sentences_of(tokenizer, "no end") == Sentences{"no end"});
  CHECK(sentences_of(tokenizer, ". \n ) a. \n\n") == Sentences{". \n )", " a. \n\n"});
  CHECK(sentences_of(tokenizer, "").empty());
  text::TokenizerModel model;
  model.kind = text::TokenizerKind::wordpiece;
  model.pieces = {"[UNK]", "[SEP]", "[MASK]", "it", "is", "##n", ".", "\"", "so"};
  model.special_tokens = {0, 1, 2};
  model.unknown = 0, model.separator = 1, model.end_of_text = 1, model.mask = 2;
  CHECK(sentences_of(text::Tokenizer(model), "it isn . \" so it is .") == Sentences{"it isn . \"", "so it is ."});
}

TEST_CASE("infilling: permuted sentences are the same sentences, in another order") {
  const text::Tokenizer tokenizer = byte_tokenizer();
  const NoiseVocabulary vocabulary(tokenizer, NoiseKind::infilling, "test");
  // With a density too small for a word of its own only one word is taken out, of the last sentence or another.
  const std::string text = "a a a a. b b b b. c c c c. d d d d.";
  const std::vector<TokenId> ids = tokenizer.encode(text);
  std::map<std::string, int> orders;
  for (std::uint64_t step = 0; step < 2400; ++step) {
    const NoiseOptions options{.noise = NoiseKind::infilling, .density = 0.01};
    const TokenPair pair = corrupt(ids, vocabulary, options, RandomStream(2, 9, step));
    CHECK(pair.target == ids);
    const std::string source = tokenizer.decode(pair.source);
    std::string order;
    std::map<char, int> letters;
    for (const char letter : source.substr(0, source.find("<mask>")) + source.substr(source.find("<mask>") + 6)) {
      if (letter < 'a' || letter > 'd') continue;
      ++letters[letter];
      if (order.empty() || order.back() != letter) order += letter;
    }
    int left = 0;
    for (const char letter : {'a', 'b', 'c', 'd'}) {
      CHECK(letters[letter] >= 3);
      left += letters[letter];
    }
    CHECK(left == 15);
    ++orders[order];
  }
  CHECK(orders.size() == 24);
  for (const auto& [order, count] : orders) CHECK(std::abs(count - 100) < 45);
}

TEST_CASE("noise: a tokenizer without sentinels or mask token is refused with advice; trained ones have them") {
  text::Trainer trainer({.kind = text::TokenizerKind::bpe, .vocab_size = 270, .sentinels = 3});
  trainer.add("some text");
  const text::Tokenizer with_sentinels(trainer.finish());
  CHECK(text::sentinels_of(with_sentinels).size() == 3);
  CHECK(with_sentinels.piece(text::sentinels_of(with_sentinels)[2]) == "<extra_id_2>");
  CHECK(NoiseVocabulary(with_sentinels, NoiseKind::spans, "x").sentinels == text::sentinels_of(with_sentinels));
  CHECK_THROWS_WITH_AS(NoiseVocabulary(with_sentinels, NoiseKind::infilling, "train.h5"),
                       "train.h5: its tokenizer lacks a mask token, which infilling needs; train one with "
                       "`special_tokens` = '<mask>'",
                       DataError);
  text::Trainer bare({.kind = text::TokenizerKind::bpe, .vocab_size = 270});
  bare.add("some text");
  CHECK_THROWS_WITH_AS(
      NoiseVocabulary(text::Tokenizer(bare.finish()), NoiseKind::spans, "train.h5"),
      "train.h5: its tokenizer lacks the sentinels <extra_id_0>, <extra_id_1>, ... of span corruption; "
      "train one with `sentinels` = 100",
      DataError);
}

#include "libcore/data/noise.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string_view>

#include "libcore/text/sentinels.hpp"

namespace heddle::data {

namespace {

// Each use of random numbers has as many as a text has tokens, and more.
enum Draws : std::uint64_t {
  noise_cuts = std::uint64_t{0} << 32,
  rest_cuts = std::uint64_t{1} << 32,
  sentence_order = std::uint64_t{2} << 32,
  lengths_of_spans = std::uint64_t{3} << 32,
  order_of_spans = std::uint64_t{4} << 32,
  places_of_spans = std::uint64_t{5} << 32,
  roll = std::uint64_t{6} << 32
};

// Sentinels of a vocabulary without texts: as many as T5 has, where they leave room for as many others.
constexpr Index usual_sentinels = 100;

Index count_of_special_tokens(Index vocab_size) {
  return std::min(usual_sentinels + 1, vocab_size / 2);
}

// Removes one of the endings, if the text has it.
bool drop_ending(std::string_view& text, std::initializer_list<std::string_view> endings) {
  for (const std::string_view ending : endings) {
    if (!text.ends_with(ending)) continue;
    text.remove_suffix(ending.size());
    return true;
  }
  return false;
}

void drop_closing(std::string_view& text) {
  while (drop_ending(text, {" ", "\n", "\t", "\r", "\"", "'", ")", "]", "\u2019", "\u201D", "\u00BB"})) {
  }
}

// `whole` as a sum of `parts` positive numbers, each such sum with the same probability: all cuts are equally probable
// (selection sampling, Knuth, volume 2, 3.4.2, algorithm S).
std::vector<Index> random_parts(Index whole, Index parts, const RandomStream& stream, std::uint64_t draws) {
  std::vector<Index> lengths;
  Index begin = 0, cuts = parts - 1;
  for (Index place = 1; place < whole && cuts > 0; ++place) {
    const auto left = static_cast<std::uint64_t>(whole - place);
    if (stream.below(draws + static_cast<std::uint64_t>(place), left) >= static_cast<std::uint64_t>(cuts)) continue;
    lengths.push_back(place - begin);
    begin = place;
    --cuts;
  }
  lengths.push_back(whole - begin);
  return lengths;
}

// For each token of a text of two or more, whether it is noise.
std::vector<bool> noise_of(Index length, const NoiseOptions& options, const RandomStream& stream) {
  const SpanCounts counts = span_counts(length, options);
  const std::vector<Index> noise = random_parts(counts.noise, counts.spans, stream, noise_cuts);
  const std::vector<Index> rest = random_parts(length - counts.noise, counts.spans, stream, rest_cuts);
  std::vector<bool> is_noise;
  for (std::size_t i = 0; i < noise.size(); ++i) {
    is_noise.resize(is_noise.size() + static_cast<std::size_t>(rest[i]), false);
    is_noise.resize(is_noise.size() + static_cast<std::size_t>(noise[i]), true);
  }
  if (options.random_roll) {
    const auto offset = static_cast<Index>(stream.below(roll, static_cast<std::uint64_t>(length)));
    std::rotate(is_noise.begin(), is_noise.begin() + offset, is_noise.end());
  }
  return is_noise;
}

TokenPair corrupt_spans(std::span<const TokenId> text, const NoiseVocabulary& vocabulary, const NoiseOptions& options,
                        const RandomStream& stream) {
  std::size_t sentinels = 0;
  const auto next_sentinel = [&] {
    check<DataError>(sentinels < vocabulary.sentinels.size(), "a text of ", text.size(), " tokens needs more than ",
                     sentinels, " sentinels");
    return vocabulary.sentinels[sentinels++];
  };
  const std::vector<bool> is_noise =
      text.size() < 2 ? std::vector<bool>(text.size()) : noise_of(static_cast<Index>(text.size()), options, stream);
  TokenPair pair;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_noise[i] && (i == 0 || !is_noise[i - 1])) {
      pair.source.push_back(next_sentinel());
      pair.target.push_back(pair.source.back());
    }
    (is_noise[i] ? pair.target : pair.source).push_back(text[i]);
  }
  pair.target.push_back(next_sentinel());
  return pair;
}

// The smallest k of which the probability of at most k is more than u.
Index poisson(double mean, double u) {
  Index k = 0;
  double probability = std::exp(-mean);
  for (double sum = probability; u >= sum && probability > 0; sum += probability) {
    probability *= mean / static_cast<double>(++k);
  }
  return k;
}

// In random order.
std::vector<Index> infilled_lengths(Index budget, double mean, const RandomStream& stream) {
  std::vector<Index> lengths;
  for (Index sum = 0; sum < budget;) {
    const Index drawn = poisson(mean, stream.uniform(2 * (lengths_of_spans + lengths.size())));
    lengths.push_back(std::min(drawn, budget - sum));
    sum += lengths.back();
  }
  for (auto at = lengths.end(); at != lengths.begin() && static_cast<Index>(lengths.size()) > budget;) {
    if (*--at == 0) at = lengths.erase(at);
  }
  for (std::size_t left = lengths.size(); left > 1; --left) {
    std::swap(lengths[left - 1], lengths[static_cast<std::size_t>(stream.below(order_of_spans + left, left))]);
  }
  return lengths;
}

TokenPair infill(std::span<const TokenId> text, const NoiseVocabulary& vocabulary, const NoiseOptions& options,
                 const RandomStream& stream) {
  std::vector<std::vector<TokenRange>> sentences = sentences_in(text, vocabulary);
  for (std::size_t left = options.permute_sentences ? sentences.size() : 0; left > 1; --left) {
    std::swap(sentences[left - 1], sentences[static_cast<std::size_t>(stream.below(sentence_order + left, left))]);
  }
  std::vector<TokenRange> words;
  for (const auto& sentence : sentences) words.insert(words.end(), sentence.begin(), sentence.end());
  TokenPair pair{{}, {text.begin(), text.end()}};
  if (words.empty()) return pair;
  const auto count = static_cast<Index>(words.size());
  const Index budget = std::max<Index>(1, std::llround(options.fraction() * static_cast<double>(count)));
  const std::vector<Index> lengths = infilled_lengths(budget, options.mean_span_length, stream);
  auto spans = lengths.begin();
  auto left = static_cast<std::uint64_t>(count - budget) + lengths.size();  // spans and words
  for (auto word = words.begin(); left > 0; --left) {
    const auto spans_left = static_cast<std::uint64_t>(lengths.end() - spans);
    if (stream.below(places_of_spans + left, left) < spans_left) {
      pair.source.push_back(*vocabulary.mask);
      word += *spans++;
    } else {
      pair.source.insert(pair.source.end(), text.begin() + word->first, text.begin() + word->second);
      ++word;
    }
  }
  return pair;
}

}  // namespace

NoiseVocabulary::NoiseVocabulary(const text::Tokenizer& tokenizer, NoiseKind noise, const std::string& name)
    : WordVocabulary(tokenizer),
      sentinels(text::sentinels_of(tokenizer)),
      mask(tokenizer.mask()),
      ends_documents(tokenizer.end_of_text().has_value()) {
  check<DataError>(noise != NoiseKind::spans || !sentinels.empty(), name, ": its tokenizer lacks the sentinels ",
                   text::sentinel_name(0), ", ", text::sentinel_name(1),
                   ", ... of span corruption; train one with `sentinels` = ", usual_sentinels);
  check<DataError>(noise != NoiseKind::infilling || mask, name,
                   ": its tokenizer lacks a mask token, which infilling needs; train one with "
                   "`special_tokens` = '<mask>'");
  for (TokenId id = 0; id < tokenizer.vocab_size(); ++id) {
    std::string_view bytes = tokenizer.bytes(id);
    drop_closing(bytes);
    closes.push_back(bytes.empty());
    ends_sentence.push_back(drop_ending(bytes, {".", "!", "?", "\u3002", "\uFF01", "\uFF1F"}));
  }
}

NoiseVocabulary::NoiseVocabulary(Index vocab_size)
    : WordVocabulary(vocab_size, count_of_special_tokens(vocab_size)),
      mask(static_cast<TokenId>(vocab_size - 1)),
      ends_documents(false),
      ends_sentence(is_special.size()),
      closes(is_special.size()) {
  for (Index id = vocab_size - count_of_special_tokens(vocab_size); id + 1 < vocab_size; ++id) {
    sentinels.push_back(static_cast<TokenId>(id));
  }
}

SpanCounts span_counts(Index tokens, const NoiseOptions& options) {
  // Halves are rounded to even numbers, as in T5's code.
  const auto rounded = [](double count) { return static_cast<Index>(std::nearbyint(count)); };
  const Index noise = std::clamp<Index>(rounded(options.fraction() * static_cast<double>(tokens)), 1, tokens - 1);
  const Index spans = rounded(static_cast<double>(noise) / options.mean_span_length);
  return {noise, std::clamp<Index>(spans, 1, std::min(noise, tokens - noise))};
}

PairLengths noised_lengths(Index tokens, const NoiseOptions& options) {
  if (options.noise == NoiseKind::infilling) return {tokens, tokens};
  if (tokens < 2) return {tokens, 1};
  const SpanCounts counts = span_counts(tokens, options);
  const Index spans = counts.spans + (options.random_roll ? 1 : 0);
  return {tokens - counts.noise + spans, counts.noise + spans + 1};
}

TokenPair corrupt(std::span<const TokenId> text, const NoiseVocabulary& vocabulary, const NoiseOptions& options,
                  const RandomStream& stream) {
  return options.noise == NoiseKind::spans ? corrupt_spans(text, vocabulary, options, stream)
                                           : infill(text, vocabulary, options, stream);
}

std::vector<std::vector<TokenRange>> sentences_in(std::span<const TokenId> text, const NoiseVocabulary& vocabulary) {
  std::vector<std::vector<TokenRange>> sentences;
  bool ended = true;
  for (const TokenRange& word : words_in(text, vocabulary)) {
    bool closes = true, ends = ended;
    for (Index i = word.first; i < word.second; ++i) {
      const auto id = static_cast<std::size_t>(text[static_cast<std::size_t>(i)]);
      if (vocabulary.closes[id]) continue;
      closes = false;
      ends = vocabulary.ends_sentence[id];
    }
    if (sentences.empty() || (ended && !closes)) sentences.emplace_back();
    sentences.back().push_back(word);
    ended = ends;
  }
  return sentences;
}

}  // namespace heddle::data

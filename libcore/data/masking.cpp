#include "libcore/data/masking.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace heddle::data {

namespace {

// Beyond the numbers that choosing takes, as many as a sequence has tokens.
constexpr std::uint64_t replacement_draws = std::uint64_t{1} << 32, order_draws = std::uint64_t{1} << 33;

// Special tokens of a vocabulary without texts.
constexpr Index usual_special_tokens = 4;

// Runs of positions that are chosen together: words, or single tokens. Special tokens are in none.
std::vector<TokenRange> choices(std::span<const TokenId> tokens, const MaskVocabulary& vocabulary, bool whole_words) {
  if (whole_words) return words_in(tokens, vocabulary);
  std::vector<TokenRange> runs;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto here = static_cast<Index>(i);
    if (!vocabulary.is_special[static_cast<std::size_t>(tokens[i])]) runs.emplace_back(here, here + 1);
  }
  return runs;
}

// In random order, as many runs as fit.
std::vector<Index> choose(std::vector<TokenRange> runs, Index wanted, const RandomStream& stream) {
  std::vector<Index> positions;
  for (std::size_t i = 0; i < runs.size() && static_cast<Index>(positions.size()) < wanted; ++i) {
    std::swap(runs[i], runs[i + static_cast<std::size_t>(stream.below(i, runs.size() - i))]);
    const auto [begin, end] = runs[i];
    const bool fits = static_cast<Index>(positions.size()) + end - begin <= wanted;
    if (!fits && !positions.empty()) continue;
    for (Index position = begin; position < end; ++position) positions.push_back(position);
  }
  std::ranges::sort(positions);
  return positions;
}

Masked chosen(std::span<const TokenId> tokens, const MaskVocabulary& vocabulary, double probability, bool whole_words,
              const RandomStream& stream) {
  const auto runs = choices(tokens, vocabulary, whole_words);
  Index maskable = 0;
  for (const auto& [begin, end] : runs) maskable += end - begin;
  const Index wanted = std::max<Index>(1, std::llround(probability * static_cast<double>(maskable)));
  Masked result{choose(runs, wanted, stream), {}};
  for (const Index position : result.positions) result.targets.push_back(tokens[static_cast<std::size_t>(position)]);
  return result;
}

}  // namespace

MaskVocabulary::MaskVocabulary(const text::Tokenizer& tokenizer)
    : WordVocabulary(tokenizer),
      classification(tokenizer.classification().value_or(0)),
      separator(tokenizer.separator().value_or(0)),
      mask(tokenizer.mask().value_or(0)),
      padding(tokenizer.padding().value_or(0)) {
  for (TokenId id = 0; id < tokenizer.vocab_size(); ++id) {
    if (!tokenizer.is_special(id)) ordinary.push_back(id);
  }
}

MaskVocabulary::MaskVocabulary(const text::Tokenizer& tokenizer, const std::string& name) : MaskVocabulary(tokenizer) {
  check<DataError>(tokenizer.classification() && tokenizer.separator() && tokenizer.mask(), name,
                   ": its tokenizer lacks the special tokens of an encoder; train one of the kind "
                   "wordpiece, or with `special_tokens` = '[PAD],[CLS],[SEP],[MASK]'");
  check<DataError>(!ordinary.empty(), name, ": its tokenizer has only special tokens");
}

MaskVocabulary MaskVocabulary::of_windows(const text::Tokenizer& tokenizer, const std::string& name) {
  check<DataError>(tokenizer.mask().has_value(), name,
                   ": its tokenizer lacks a mask token, which the mixed objective needs; train one with "
                   "`special_tokens` = '[MASK]'");
  MaskVocabulary vocabulary(tokenizer);
  check<DataError>(!vocabulary.ordinary.empty(), name, ": its tokenizer has only special tokens");
  return vocabulary;
}

MaskVocabulary::MaskVocabulary(Index vocab_size) : WordVocabulary(vocab_size, usual_special_tokens) {
  const auto first = static_cast<TokenId>(vocab_size - usual_special_tokens);
  classification = first, separator = first + 1, mask = first + 2, padding = first + 3;
  ordinary.resize(static_cast<std::size_t>(first));
  std::iota(ordinary.begin(), ordinary.end(), 0);
}

Masked mask_tokens(std::span<TokenId> tokens, const MaskVocabulary& vocabulary, const MaskingOptions& options,
                   const RandomStream& stream) {
  Masked masked = chosen(tokens, vocabulary, options.probability, options.whole_words, stream);
  for (std::size_t i = 0; i < masked.positions.size(); ++i) {
    TokenId& token = tokens[static_cast<std::size_t>(masked.positions[i])];
    const std::uint64_t draw = replacement_draws + 2 * i;
    const double share = stream.uniform(2 * draw);
    if (share < 0.8) {
      token = vocabulary.mask;
    } else if (share < 0.9) {
      token = vocabulary.ordinary[static_cast<std::size_t>(stream.below(draw + 1, vocabulary.ordinary.size()))];
    }
  }
  return masked;
}

Permuted permute_tokens(std::span<const TokenId> tokens, const MaskVocabulary& vocabulary,
                        const PermutationOptions& options, bool whole_words, const RandomStream& stream) {
  const double probability = 1 / static_cast<double>(options.partial_prediction);
  Permuted result{chosen(tokens, vocabulary, probability, whole_words, stream), std::vector<Index>(tokens.size(), -1)};
  std::vector<Index> order = result.chosen.positions;
  for (std::size_t i = 0; i < order.size(); ++i) {
    std::swap(order[i], order[i + static_cast<std::size_t>(stream.below(order_draws + i, order.size() - i))]);
    result.ranks[static_cast<std::size_t>(order[i])] = static_cast<Index>(i);
  }
  return result;
}

}  // namespace heddle::data

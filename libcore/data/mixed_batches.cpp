#include "libcore/data/mixed_batches.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace heddle::data {

MaskedBatch masked_copy(const TokenBatch& batch, const MaskVocabulary& vocabulary, const MaskingOptions& masking,
                        std::uint64_t seed, Index first) {
  static const std::uint64_t site = random_site("data/mixed masks");
  MaskedBatch result;
  result.batch = batch.batch, result.time = batch.time, result.tokens = batch.batch * batch.time;
  result.ids = batch.ids;
  for (Index i = 0; i < batch.batch; ++i) {
    const Index row = i * batch.time;
    const std::span<TokenId> window(result.ids.data() + row, static_cast<std::size_t>(batch.time));
    const RandomStream stream(seed, site, static_cast<std::uint64_t>(first + i));
    const Masked masked = mask_tokens(window.subspan(1), vocabulary, masking, stream);
    for (const Index position : masked.positions) result.rows.push_back(row + 1 + position);
    result.targets.insert(result.targets.end(), masked.targets.begin(), masked.targets.end());
  }
  return result;
}

MixedWindows::MixedWindows(const TokenSource& source, MaskVocabulary vocabulary, const MixedText& text)
    : vocabulary_(std::move(vocabulary)), text_(text), windows_(source, text.time, text.seed) {}

Index MixedWindows::causal_of_step(Index first) const {
  const auto until = [&](Index step) {
    return std::llround(text_.causal * static_cast<double>(step) * static_cast<double>(text_.samples_per_step));
  };
  const Index step = first / text_.samples_per_step;
  return until(step + 1) - until(step);
}

MixedWindows::Batch MixedWindows::batch(Index first, Index count) const {
  const Index left = causal_of_step(first) - first % text_.samples_per_step;
  const Index causal = std::clamp<Index>(left, 0, count);
  Batch result;
  if (causal > 0) result.causal = windows_.batch(first, causal);
  if (causal == count) return result;
  const TokenBatch rest = windows_.batch(first + causal, count - causal);
  result.masked = masked_copy(rest, vocabulary_, text_.masking, text_.seed, first + causal);
  check<DataError>(!result.masked.rows.empty(), windows_.source().name(),
                   ": a batch has nothing to mask after the first ", "tokens of its windows, of ", rest.time,
                   " tokens");
  return result;
}

}  // namespace heddle::data

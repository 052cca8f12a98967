#include "heddle/decoding/sampling.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "heddle/base/error.hpp"
#include "heddle/tensor/exponentials.hpp"

namespace heddle::decoding {

namespace {

double log_sum_exp(const Real* logits, Index vocab, Real maximum) {
  constexpr Index run = 1024;  // short enough for a sum of Reals
  double sum = 0;
  for (Index i = 0; i < vocab; i += run) sum += sum_of_exponentials(logits + i, maximum, std::min(run, vocab - i));
  return maximum + std::log(sum);
}

// Ids in falling order of logits, as many as the options may keep.
std::vector<TokenId> candidates(const Real* logits, Index vocab, const SamplingOptions& options) {
  std::vector<TokenId> ids(static_cast<std::size_t>(vocab));
  std::iota(ids.begin(), ids.end(), TokenId{0});
  const auto before = [&](TokenId a, TokenId b) { return logits[a] != logits[b] ? logits[a] > logits[b] : a < b; };
  if (options.top_k > 0 && options.top_k < vocab) {
    const auto end = ids.begin() + options.top_k;
    std::nth_element(ids.begin(), end - 1, ids.end(), before);
    ids.erase(end, ids.end());
  }
  if (options.top_p < 1) std::sort(ids.begin(), ids.end(), before);
  return ids;
}

}  // namespace

Choice sample(const Real* logits, Index vocab, const SamplingOptions& options, const RandomStream& stream,
              std::uint64_t index) {
  const Real maximum = maximum_of(logits, vocab);
  check<NumericError>(std::isfinite(maximum), "the model's logits are not finite: its weights are damaged or diverged");
  const auto chosen = [&](TokenId id) {
    return Choice{id, static_cast<double>(logits[id]) - log_sum_exp(logits, vocab, maximum)};
  };
  if (options.temperature == 0 || options.top_k == 1) {
    return chosen(static_cast<TokenId>(std::find(logits, logits + vocab, maximum) - logits));
  }
  std::vector<TokenId> ids = candidates(logits, vocab, options);
  std::vector<double> weights;
  weights.reserve(ids.size());
  for (const TokenId id : ids) {
    weights.push_back(std::exp((static_cast<double>(logits[id]) - maximum) / options.temperature));
  }
  double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (options.top_p < 1) {
    double kept = 0;
    std::size_t count = 0;
    while (count < ids.size() && kept < options.top_p * total) kept += weights[count++];
    ids.resize(count);
    total = kept;
  }
  double rest = stream.uniform(index) * total;
  for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
    rest -= weights[i];
    if (rest < 0) return chosen(ids[i]);
  }
  return chosen(ids.back());
}

}  // namespace heddle::decoding

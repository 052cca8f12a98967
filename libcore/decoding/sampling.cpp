#include "libcore/decoding/sampling.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "libcore/decoding/logits.hpp"
#include "libcore/tensor/exponentials.hpp"

namespace heddle::decoding {

namespace {

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

// How many of the first weights reach the fraction of their sum.
std::size_t count_reaching(double fraction, const std::vector<double>& weights) {
  const double wanted = fraction * std::accumulate(weights.begin(), weights.end(), 0.0);
  double kept = 0;
  std::size_t count = 0;
  while (count < weights.size() && kept < wanted) kept += weights[count++];
  return count;
}

TokenId draw(const Real* logits, Index vocab, Real maximum, const SamplingOptions& options, double uniform) {
  std::vector<TokenId> ids = candidates(logits, vocab, options);
  std::vector<double> weights;  // relative to the highest
  weights.reserve(ids.size());
  for (const TokenId id : ids) {
    weights.push_back(std::exp((static_cast<double>(logits[id]) - maximum) / options.temperature));
  }
  if (options.top_p < 1) weights.resize(count_reaching(options.top_p, weights));
  for (double& weight : weights) weight = weight >= options.min_p ? weight : 0;
  double rest = uniform * std::accumulate(weights.begin(), weights.end(), 0.0);
  std::size_t last = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0) continue;
    last = i;
    rest -= weights[i];
    if (rest < 0) break;
  }
  return ids[last];
}

std::vector<Real> penalised(const Real* logits, Index vocab, std::span<const TokenId> text, double penalty) {
  std::vector<Real> values(logits, logits + vocab);
  for (const TokenId id : text) {
    if (id >= vocab) continue;
    const auto logit = static_cast<double>(logits[id]);
    values[static_cast<std::size_t>(id)] = static_cast<Real>(logit > 0 ? logit / penalty : logit * penalty);
  }
  return values;
}

}  // namespace

Choice sample(const NextLogits& logits, const SamplingOptions& options, std::span<const TokenId> text,
              const RandomStream& stream, std::uint64_t index) {
  const double log_sum = log_sum_exp(logits.values, logits.vocab);
  const Index allowed = logits.allowed;
  const Real* values = logits.constrained.empty() ? logits.values : logits.constrained.data();
  std::vector<Real> after_penalty;
  if (options.repetition_penalty != 1) {
    after_penalty = penalised(values, allowed, text, options.repetition_penalty);
    values = after_penalty.data();
  }
  const Real maximum = maximum_of(values, allowed);
  const bool greedy = options.temperature == 0 || options.top_k == 1;
  const TokenId id = greedy ? static_cast<TokenId>(std::find(values, values + allowed, maximum) - values)
                            : draw(values, allowed, maximum, options, stream.uniform(index));
  return {id, static_cast<double>(logits.values[id]) - log_sum};
}

}  // namespace heddle::decoding

#include "libcore/decoding/likely_tokens.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace heddle::decoding {

std::vector<LikelyToken> most_likely(const Real* logits, Index vocab, double log_sum, const LikelyOptions& options) {
  const Index candidates = options.vocab_size > 0 ? std::min(options.vocab_size, vocab) : vocab;
  std::vector<TokenId> ids(static_cast<std::size_t>(candidates));
  std::iota(ids.begin(), ids.end(), TokenId{0});
  const auto wanted = ids.begin() + std::min(options.top, candidates);
  std::partial_sort(ids.begin(), wanted, ids.end(),
                    [&](TokenId a, TokenId b) { return logits[a] > logits[b] || (logits[a] == logits[b] && a < b); });
  std::vector<LikelyToken> result;
  for (auto id = ids.begin(); id != wanted; ++id) {
    result.push_back({*id, std::exp(static_cast<double>(logits[*id]) - log_sum)});
  }
  return result;
}

}  // namespace heddle::decoding

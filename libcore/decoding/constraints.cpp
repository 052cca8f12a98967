#include "libcore/decoding/constraints.hpp"

#include <algorithm>
#include <limits>

namespace heddle::decoding {

namespace {

constexpr Real forbidden = -std::numeric_limits<Real>::infinity();

// Calls forbid(id) for each token that has followed the last n - 1 tokens before.
template <class Forbid>
void for_each_repetition(std::span<const TokenId> tokens, std::size_t n, const Forbid& forbid) {
  if (tokens.size() < n) return;
  const auto last = tokens.last(n - 1);
  for (std::size_t begin = 0; begin + n <= tokens.size(); ++begin) {
    const auto ngram = tokens.subspan(begin, n);
    if (std::ranges::equal(ngram.first(n - 1), last)) forbid(ngram.back());
  }
}

}  // namespace

std::vector<Real> constrained(const Real* logits, Index allowed, const TextSoFar& text, std::optional<TokenId> end,
                              const Constraints& constraints) {
  std::vector<Real> values(logits, logits + allowed);
  const auto forbid = [&](TokenId id) {
    if (id < allowed) values[static_cast<std::size_t>(id)] = forbidden;
  };
  if (constraints.no_repeat_ngram_size > 0) {
    for_each_repetition(text.tokens, static_cast<std::size_t>(constraints.no_repeat_ngram_size), [&](TokenId id) {
      if (id != end) forbid(id);
    });
  }
  if (end && text.added < constraints.min_tokens) forbid(*end);
  return values;
}

bool nothing_allowed(std::span<const Real> logits) {
  return std::ranges::all_of(logits, [](Real logit) { return logit == forbidden; });
}

}  // namespace heddle::decoding

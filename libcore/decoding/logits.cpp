#include "libcore/decoding/logits.hpp"

#include <cmath>

#include "libcore/tensor/exponentials.hpp"
#include "libcore/tensor/threads.hpp"

namespace heddle::decoding {

void check_finite(const Real* logits, Index count) {
  check<NumericError>(are_finite(logits, count),
                      "the model's logits are not finite: its weights are damaged or diverged");
}

double log_sum_exp(const Real* logits, Index vocab, Real maximum) {
  const double sum = sum_of_runs(vocab, [&](Index begin, Index count) {
    check_finite(logits + begin, count);
    return sum_of_exponentials(logits + begin, maximum, count);
  });
  return maximum + std::log(sum);
}

double log_sum_exp(const Real* logits, Index vocab) {
  return log_sum_exp(logits, vocab, maximum_of(logits, vocab));
}

std::vector<double> log_probabilities(const Tensor& logits, const std::vector<TokenId>& targets) {
  const Index rows = static_cast<Index>(targets.size()), vocab = logits.shape()[-1];
  check<ShapeError>(logits.size() == rows * vocab, rows, " targets for logits of shape ", logits.shape());
  std::vector<double> result(targets.size());
  parallel_for(rows, [&](Index r) {
    const Real* row = logits.data() + r * vocab;
    const auto target = static_cast<std::size_t>(r);
    result[target] = static_cast<double>(row[targets[target]]) - log_sum_exp(row, vocab);
  });
  return result;
}

}  // namespace heddle::decoding

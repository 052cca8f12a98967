#include "libcore/ops/binary_cross_entropy.hpp"

#include <algorithm>
#include <cmath>

namespace heddle::ops {

double binary_nats(const Tensor& x, const std::vector<char>& is_one) {
  check<ShapeError>(x.size() == static_cast<Index>(is_one.size()) && x.is_contiguous(), is_one.size(),
                    " classes for logits of shape ", x.shape());
  double sum = 0;
  for (std::size_t i = 0; i < is_one.size(); ++i) {
    const double logit = x[static_cast<Index>(i)], wrong = is_one[i] != 0 ? -logit : logit;
    sum += std::max(wrong, 0.0) + std::log1p(std::exp(-std::abs(wrong)));
  }
  return sum;
}

Variable binary_cross_entropy(const Variable& x, const std::vector<char>& is_one, double divisor) {
  const Section section("binary cross-entropy");
  const Tensor& logits = x.value();
  return record(Tensor({1}, static_cast<Real>(binary_nats(logits, is_one) / divisor)), {x},
                [logits, is_one, divisor, dx = x.gradient()](const Tensor& dy) {
                  const GradientTarget to = dx->target();
                  for (std::size_t i = 0; i < is_one.size(); ++i) {
                    const auto at = static_cast<Index>(i);
                    const double one = 1 / (1 + std::exp(-static_cast<double>(logits[at])));
                    const double derivative = (one - (is_one[i] != 0 ? 1 : 0)) / divisor * dy[0];
                    to.tensor[at] = static_cast<Real>(derivative + (to.add ? to.tensor[at] : Real(0)));
                  }
                });
}

}  // namespace heddle::ops

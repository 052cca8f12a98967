#include "libcore/ops/squared_error.hpp"

namespace heddle::ops {

Variable squared_error(const Variable& x, const std::vector<double>& targets, double divisor) {
  const Section section("squared error");
  const Tensor& values = x.value();
  check<ShapeError>(values.size() == static_cast<Index>(targets.size()) && values.is_contiguous(), targets.size(),
                    " targets for predictions of shape ", values.shape());
  double sum = 0;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const double error = values[static_cast<Index>(i)] - targets[i];
    sum += error * error;
  }
  return record(Tensor({1}, static_cast<Real>(sum / divisor)), {x},
                [values, targets, divisor, dx = x.gradient()](const Tensor& dy) {
                  const GradientTarget to = dx->target();
                  for (std::size_t i = 0; i < targets.size(); ++i) {
                    const auto at = static_cast<Index>(i);
                    const double derivative = 2 * (values[at] - targets[i]) / divisor * dy[0];
                    to.tensor[at] = static_cast<Real>(derivative + (to.add ? to.tensor[at] : Real(0)));
                  }
                });
}

}  // namespace heddle::ops

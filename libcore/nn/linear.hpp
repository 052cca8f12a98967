// y = x W^T + b, with W + alpha / rank B A in place of W where there is an adapter. Ranks that share the model may
// divide the outputs, or the inputs, after which y is summed over them.
#pragma once

#include <vector>

#include "libcore/autograd/parameters.hpp"
#include "libcore/nn/low_rank.hpp"
#include "libcore/nn/model_ranks.hpp"
#include "libcore/ops/linear.hpp"

namespace heddle::nn {

enum class Bias { no, yes };

// The stddev of weights that multiply this many inputs, in modules that begin as the usual uniform weights within 1 /
// sqrt(inputs) do.
double stddev_by_inputs(Index inputs);

// Parameters: weight [out, in], bias [out]. Weights start normal with the given standard deviation, biases at zero
// where no other values are given. Of what ranks divide each has its part: of the weight and, with the outputs, of the
// bias.
class Linear {
 public:
  Linear(const Scope& scope, Index in, Index out, Bias bias, double stddev,
         const Initializer& first_bias = Initializer::zeros(), Divided divided = Divided::no);
  // x [..., in] -> [..., out]; the rank's part of the inputs or outputs where they are divided. The result of divided
  // inputs is Real, without an activation.
  Variable operator()(const Variable& x, const ops::LinearOptions& options = {}, const Pass& pass = {}) const;

 private:
  Variable weight_, bias_;
  std::optional<LowRank> adapter_;
  const ModelRanks* sums_over_ = nullptr;  // set if inputs are divided
};

// The parameters of layers that are multiplied as one, each [out, in] and [out], of which ranks divide this.
Variable divided_weight(const Scope& scope, const std::vector<std::string>& names, const Shape& shape,
                        const Initializer& initializer, Divided divided);
Variable divided_bias(const Scope& scope, const std::vector<std::string>& names, Index out,
                      const Initializer& initializer, Divided divided);

}  // namespace heddle::nn

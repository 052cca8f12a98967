// One check for every differentiable operation. The operation is a function of its inputs; whatever is random inside it
// must be the same at each call, and it must not write to its inputs. Programs that use it compile gradient_check.cpp.
#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

#include "libcore/ops/arithmetic.hpp"
#include "support/on_threads.hpp"
#include "support/weighted_sum.hpp"

namespace heddle::testing {

using Operation = std::function<Variable(const std::vector<Variable>& inputs)>;
// The same function written plainly: one array an input, in row-major order, to the output's elements.
using Oracle = std::function<std::vector<double>(const std::vector<std::vector<double>>& inputs)>;

struct Differentiated {
  Tensor output;
  std::vector<Tensor> gradients;  // gradients of weighted_sum(output), one per input
};
Differentiated differentiate(const Operation& operation, const std::vector<Tensor>& inputs);

// Checks the gradients against differences (in double), that they accumulate, that they reach through views, and that
// nothing depends on the number of threads.
void check_operation(const Operation& operation, const std::vector<Tensor>& inputs);

// Checks the output against the oracle and the gradients against the oracle's differences: in float, too.
void check_oracle(const Operation& operation, const Oracle& oracle, const std::vector<Tensor>& inputs);

// Inputs that are stored as bfloat16 give, but for rounding, what the same numbers stored as Reals give.
void check_halves(const Operation& operation, const std::vector<Tensor>& inputs);

// Columns [begin, begin + width) of a variable's rows: a view whose rows lie apart.
Variable columns_of(const Variable& x, Index begin, Index width);

}  // namespace heddle::testing

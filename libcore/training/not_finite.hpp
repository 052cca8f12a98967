// Checks for NaN and infinity, and finds where they first appear when training diverged.
#pragma once

#include <functional>
#include <string>

#include "libcore/autograd/parameters.hpp"

namespace heddle::training {

// Throws NumericError where one is NaN or infinite. Losses alone would not show an infinite logit that is no target's.
// Shape: [rows, classes].
void check_logits(const Tensor& logits);

// "the weights of decoder/3/…": the first parameter with such a weight; "" for none.
std::string weights_not_finite(const Parameters& parameters);

// "the gradient of decoder/3/…": the parameter nearest to the loss, from which gradients come; "" for none.
std::string gradient_not_finite(const Parameters& parameters);

// Runs the computation, recorded and thrown away, and names the first operation whose result is not finite, with the
// parameter that it used, or that was used last before it: "the result of linear at decoder/3/…"; "" for none.
std::string result_not_finite(const Parameters& parameters, const std::function<void()>& compute);

}  // namespace heddle::training

// Element-wise non-linearities.
#pragma once

#include "heddle/autograd/tape.hpp"
#include "heddle/base/visit.hpp"

namespace heddle {

enum class Activation {
  relu,       // max(0, x)
  gelu,       // x Phi(x), Phi the normal distribution function (Hendrycks and Gimpel 2016)
  gelu_tanh,  // x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))): GPT-2's and BERT's
  silu,       // x sigmoid(x), also called swish
};
template <>
struct Names<Activation> {
  static constexpr std::pair<Activation, std::string_view> list[] = {
      {Activation::relu, "relu"}, {Activation::gelu, "gelu"}, {Activation::gelu_tanh, "gelu-tanh"},
      {Activation::silu, "silu"}};
};

namespace ops {

// y_i = f(x_i). Shapes: any, contiguous; y is stored as x is.
Variable activate(const Variable& x, Activation activation);

// The kernels, for operations that apply a non-linearity to what they have at hand: y = f(x), and
// dx = beta dx + dy f'(x), over `count` neighbours.
void activate_run(Activation activation, const Real* x, Real* y, Index count);
void activate_run(Activation activation, const Real* x, BFloat16* y, Index count);
void activate_run(Activation activation, const BFloat16* x, BFloat16* y, Index count);
void activation_gradient_run(Activation activation, const Real* x, const Real* dy, Real beta, Real* dx, Index count);
void activation_gradient_run(Activation activation, const BFloat16* x, const BFloat16* dy, Real beta, BFloat16* dx,
                             Index count);

}  // namespace ops
}  // namespace heddle

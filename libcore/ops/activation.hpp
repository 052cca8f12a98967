// Element-wise non-linearities.
#pragma once

#include "libcore/autograd/tape.hpp"
#include "libcore/base/visit.hpp"

namespace heddle {

enum class Activation {
  relu,       // max(0, x)
  gelu,       // x Phi(x), Phi the normal distribution function (Hendrycks and Gimpel 2016)
  gelu_tanh,  // x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))): GPT-2's and BERT's
  silu,       // x sigmoid(x), also called swish
  tanh,
  sigmoid,     // 1 / (1 + e^-x)
  leaky_relu,  // x, or x / 5 below 0 (Maas et al. 2013; the factor is that of graph attention, Velickovic et al. 2018)
  elu,         // x, or e^x - 1 below 0 (Clevert et al. 2016)
  relu_squared,  // max(0, x)^2 (So et al. 2021, "Primer")
  identity,      // x
};
template <>
struct Names<Activation> {
  static constexpr std::pair<Activation, std::string_view> list[] = {{Activation::relu, "relu"},
                                                                     {Activation::gelu, "gelu"},
                                                                     {Activation::gelu_tanh, "gelu-tanh"},
                                                                     {Activation::silu, "silu"},
                                                                     {Activation::tanh, "tanh"},
                                                                     {Activation::sigmoid, "sigmoid"},
                                                                     {Activation::leaky_relu, "leaky-relu"},
                                                                     {Activation::elu, "elu"},
                                                                     {Activation::relu_squared, "relu-squared"},
                                                                     {Activation::identity, "identity"}};
};

namespace ops {

// y_i = f(x_i). Shapes: any with contiguous rows -> the same, contiguous; y is stored as x is.  Throws ShapeError.
Variable activate(const Variable& x, Activation activation);

// The kernels, for operations that apply a non-linearity to their own results, over `count` contiguous numbers: y =
// f(x), and derivative = f'(x) unless it is null.
void activate_run(Activation activation, const Real* x, Real* y, Real* derivative, Index count);
void activate_run(Activation activation, const Real* x, BFloat16* y, BFloat16* derivative, Index count);
void activate_run(Activation activation, const BFloat16* x, Real* y, Real* derivative, Index count);
void activate_run(Activation activation, const BFloat16* x, BFloat16* y, BFloat16* derivative, Index count);

}  // namespace ops
}  // namespace heddle

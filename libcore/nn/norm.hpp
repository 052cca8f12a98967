// Normalisation with learned gain and bias.
#pragma once

#include "libcore/autograd/parameters.hpp"
#include "libcore/base/visit.hpp"
#include "libcore/nn/linear.hpp"

namespace heddle {

enum class NormKind { layer, rms };
template <>
struct Names<NormKind> {
  static constexpr std::pair<NormKind, std::string_view> list[] = {{NormKind::layer, "layer"}, {NormKind::rms, "rms"}};
};

namespace nn {

struct NormOptions {
  NormKind kind = NormKind::layer;
  double epsilon = 1e-5;
  Bias bias = Bias::yes;  // layer norm only
};

// Parameters: gain [width], bias [width]. Ranks that normalise different heads give the gain the sum of their
// gradients.
class Norm {
 public:
  enum class Of { states, heads };
  Norm(const Scope& scope, Index width, const NormOptions& options, Of of = Of::states);
  // x [..., width] -> the same. A result that only feeds products may be stored in the activation dtype.
  enum class Result { activation, residual };
  Variable operator()(const Variable& x, Result result) const;

 private:
  NormOptions options_;
  Variable gain_, bias_;
  const ModelRanks* ranks_ = nullptr;  // ranks that share the heads
};

}  // namespace nn
}  // namespace heddle

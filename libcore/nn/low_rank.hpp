// A trained correction of a matrix that stays as it is.
#pragma once

#include <optional>

#include "heddle/autograd/parameters.hpp"
#include "heddle/nn/pass.hpp"

namespace heddle::nn {

// y = alpha / rank B A drop(x).  Source: Hu et al. 2022, "LoRA" (SPEC 6.2).
// Parameters: lora/a [rank, in], uniform in +-1/sqrt(in); lora/b [out, rank], zeros, so that training starts from the
// matrix itself.
class LowRank {
 public:
  // The adapter of the matrix of this scope; none where the scope's source does not want one.
  static std::optional<LowRank> of(const Scope& scope, Index in, Index out);

  // x [..., in] -> [..., out], Real, plus a residual where one is given
  Variable operator()(const Variable& x, const Variable& residual, const Pass& pass) const;

 private:
  LowRank(const Scope& scope, Index in, Index out);

  Real scale_;
  double dropout_;
  std::uint64_t dropout_site_;
  Variable a_, b_;
};

}  // namespace heddle::nn

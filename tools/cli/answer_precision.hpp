// The precision of a tool that answers with a model.
#pragma once

#include <optional>

#include "libcore/tensor/context.hpp"
#include "tools/cli/arguments.hpp"

namespace heddle::cli {

inline Field precision_field() {
  return Field("precision",
               "arithmetic of matrix products: f32, bf16 (AMX or AVX-512 BF16), or auto, the faster one on this "
               "machine; batches of a few lines stay in f32");
}

// While it lives, this thread computes in the precision that was chosen; ranks in what the first one finds faster.
class AnswerPrecision {
 public:
  AnswerPrecision(PrecisionChoice wanted, const Arguments& arguments);

 private:
  std::optional<PrecisionScope> scope_;
};

}  // namespace heddle::cli

// Products by a micro-kernel, on all threads. Inside libcore/tensor only; other code calls matmul().
#pragma once

#include "libcore/tensor/matmul.hpp"
#include "libcore/tensor/micro_kernel.hpp"

namespace heddle {

// Hands the tiles of a b to the sink. The order of the sum of an element depends on a's columns alone.
void packed_product(const MicroKernel& kernel, const MatrixView& a, const MatrixView& b, const TileSink& sink);

}  // namespace heddle

// The BLAS: products of Reals where heddle has no kernel of its own for the processor. blas.cpp is the only file that
// includes its header.
#pragma once

#include <optional>
#include <string>

#include "libcore/tensor/matrix.hpp"

namespace heddle {

// c = alpha a b + beta c on the calling thread; operands of Reals, rows of c `stride` apart. beta = 0 never reads c.
void blas_serial(const MatrixView& a, const MatrixView& b, Real alpha, Real beta, Real* c, Index stride);

// Stops the threads that the BLAS started when it was loaded, if that could not be prevented (a static library): they
// would wait for work in a busy loop.
void stop_blas_threads();

struct BlasDescription {
  std::string name;    // "OpenBLAS 0.3.21"
  std::string kernel;  // "SkylakeX"
};
BlasDescription describe_blas();

// A value for OPENBLAS_CORETYPE that is faster than the kernel in use: OpenBLAS falls back to its oldest kernels
// on processors newer than itself, and the variable may have been set for another machine. Nothing when the choice is
// good.
std::optional<std::string> better_blas_kernel();

}  // namespace heddle

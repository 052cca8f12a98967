// The matrix products that are timed: a cube, and those of GPT-2 124M with 1024 tokens.
#pragma once

#include <string>

#include "libcore/base/real.hpp"

namespace heddle::benchmark {

// x [rows, inner] times the transpose of weights [columns, inner].
struct ProductShape {
  Index rows, columns, inner;

  double operations() const { return 2.0 * static_cast<double>(rows * columns * inner); }
  std::string name() const {
    return std::to_string(rows) + "x" + std::to_string(columns) + "x" + std::to_string(inner);
  }
};

inline constexpr ProductShape product_shapes[] = {
    {2048, 2048, 2048}, {1024, 2304, 768}, {1024, 3072, 768}, {1024, 768, 3072}, {1024, 50257, 768}};

}  // namespace heddle::benchmark

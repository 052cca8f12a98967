// PNG files of pictures in memory.
#pragma once

#include <cstdint>
#include <string>

#include "libcore/base/real.hpp"
#include "tools/drawing/deflate.hpp"

namespace heddle {

// Rows of pixels 0xRRGGBB, whose highest byte says nothing; `stride` pixels from a row to the next.
struct PixelRows {
  const std::uint32_t* first;
  Index width, height, stride;
  const std::uint32_t* row(Index y) const { return first + y * stride; }
};

// The file has a byte for each pixel if all are grey, else three. The bytes depend on the pixels alone. Rows are
// compressed in parallel.
std::string png_of(const PixelRows& pixels, Deflate method);

}  // namespace heddle

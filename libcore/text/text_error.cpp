#include "libcore/text/text_error.hpp"

#include <algorithm>
#include <cstdint>

#include "libcore/tensor/kernel.hpp"

namespace heddle::text {

namespace {

HEDDLE_KERNEL Index count_line_ends(const char* text, Index size) {
  constexpr Index run = 240;  // its count fits a byte, and so all of it vectors of bytes
  Index total = 0;
  for (Index begin = 0; begin < size; begin += run) {
    const Index end = std::min(size, begin + run);
    std::uint8_t count = 0;
    HEDDLE_SIMD_SUM(count)
    for (Index i = begin; i < end; ++i) count = static_cast<std::uint8_t>(count + (text[i] == '\n' ? 1 : 0));
    total += count;
  }
  return total;
}

}  // namespace

void TextPosition::advance(std::string_view text) {
  const std::size_t last_end = text.rfind('\n');
  if (last_end == std::string_view::npos) {
    byte += static_cast<Index>(text.size());
    return;
  }
  line += count_line_ends(text.data(), static_cast<Index>(text.size()));
  byte = static_cast<Index>(text.size() - last_end);
}

void TextPosition::advance(const TextPosition& relative) {
  byte = relative.line == 1 ? byte + relative.byte - 1 : relative.byte;
  line += relative.line - 1;
}

}  // namespace heddle::text

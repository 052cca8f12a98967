#include "heddle/text/text_error.hpp"

#include <algorithm>

namespace heddle::text {

void TextPosition::advance(std::string_view text) {
  const std::size_t last_end = text.rfind('\n');
  if (last_end == std::string_view::npos) {
    byte += static_cast<Index>(text.size());
    return;
  }
  line += std::ranges::count(text, '\n');
  byte = static_cast<Index>(text.size() - last_end);
}

void TextPosition::advance(const TextPosition& relative) {
  byte = relative.line == 1 ? byte + relative.byte - 1 : relative.byte;
  line += relative.line - 1;
}

}  // namespace heddle::text

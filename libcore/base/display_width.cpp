#include <utf8proc.h>

#include "libcore/base/printable.hpp"

namespace heddle {

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) {
    utf8proc_int32_t code = 0;
    const auto* const bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data() + at);
    const utf8proc_ssize_t length = utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size() - at), &code);
    at += length > 0 ? static_cast<std::size_t>(length) : 1;
    width += length > 0 ? static_cast<std::size_t>(utf8proc_charwidth(code)) : 1;
  }
  return width;
}

}  // namespace heddle

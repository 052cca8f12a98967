#include <utf8proc.h>

#include <algorithm>

#include "libcore/base/printable.hpp"

namespace heddle {

namespace {

struct Decoded {
  utf8proc_int32_t code;  // -1 for a byte that is not UTF-8
  std::size_t length;
};

Decoded decode_at(std::string_view text, std::size_t at) {
  utf8proc_int32_t code = 0;
  const auto* const bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data() + at);
  const utf8proc_ssize_t length = utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size() - at), &code);
  return length > 0 ? Decoded{code, static_cast<std::size_t>(length)} : Decoded{-1, 1};
}

bool is_picture(utf8proc_int32_t code) {
  return utf8proc_get_property(code)->boundclass == UTF8PROC_BOUNDCLASS_EXTENDED_PICTOGRAPHIC;
}

// A sequence of pictures is drawn as one, and U+FE0F asks for the picture of a character that has one.
std::size_t width_of(std::string_view grapheme) {
  constexpr utf8proc_int32_t as_picture = 0xFE0F;
  std::size_t width = 0;
  bool one_picture = false;
  for (std::size_t at = 0; at < grapheme.size();) {
    const auto [code, length] = decode_at(grapheme, at);
    if (code < 0) return 1;
    if (code == as_picture && at > 0) return 2;
    one_picture = one_picture || (at == 0 && is_picture(code));
    width += static_cast<std::size_t>(utf8proc_charwidth(code));
    at += length;
  }
  return one_picture ? std::min<std::size_t>(width, 2) : width;
}

}  // namespace

std::size_t grapheme_end(std::string_view text, std::size_t begin) {
  Decoded last = decode_at(text, begin);
  std::size_t end = begin + last.length;
  utf8proc_int32_t state = 0;
  while (end < text.size() && last.code >= 0) {
    const Decoded next = decode_at(text, end);
    if (next.code < 0 || utf8proc_grapheme_break_stateful(last.code, next.code, &state)) break;
    end += next.length;
    last = next;
  }
  return end;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = grapheme_end(text, begin);
    width += width_of(text.substr(begin, end - begin));
    begin = end;
  }
  return width;
}

}  // namespace heddle

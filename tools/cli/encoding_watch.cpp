#include "tools/cli/encoding_watch.hpp"

#include <algorithm>
#include <utility>

#include "libcore/base/error.hpp"
#include "libcore/base/strings.hpp"

namespace heddle::cli {

namespace {

// The bytes before a possibly incomplete character at the end.
std::size_t before_cut_character(std::string_view bytes) {
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, bytes.size()); ++back) {
    const auto byte = static_cast<unsigned char>(bytes[bytes.size() - back]);
    const std::size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
    if (length > back) return bytes.size() - back;
    if ((byte & 0xC0) != 0x80) break;  // a whole character, or none
  }
  return bytes.size();
}

bool is_utf16(std::string_view bytes) {
  return bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF");
}

}  // namespace

std::optional<std::string> EncodingWatch::add(std::string_view bytes) {
  if (told_ || bytes.empty()) return std::nullopt;
  std::string joined;  // preceded by the bytes left from the previous call; usually none
  if (!rest_.empty()) bytes = joined = std::exchange(rest_, {}).append(bytes);
  if (!begun_ && bytes.size() < 2) {
    rest_ = bytes;
    return std::nullopt;
  }
  if (!begun_ && is_utf16(bytes)) {
    told_ = true;
    return "1: is UTF-16, not UTF-8; convert it first with iconv -f UTF-16 -t UTF-8";
  }
  begun_ = true;
  const std::size_t whole = before_cut_character(bytes);
  rest_ = bytes.substr(whole);
  return judge(bytes.substr(0, whole));
}

std::optional<std::string> EncodingWatch::finish() {
  return told_ ? std::nullopt : judge(std::exchange(rest_, {}));
}

std::optional<std::string> EncodingWatch::judge(std::string_view text) {
  if (is_utf8(text)) {
    line_ += std::count(text.begin(), text.end(), '\n');
    return std::nullopt;
  }
  for (std::string_view left = text; is_utf8(left.substr(0, left.find('\n'))); ++line_) {
    left.remove_prefix(left.find('\n') + 1);
  }
  told_ = true;
  const std::string usual = "if the text has another encoding, convert it first with iconv -f ENCODING -t UTF-8";
  return concatenate(line_, ": is not UTF-8; ", remedy_.empty() ? usual : remedy_);
}

}  // namespace heddle::cli

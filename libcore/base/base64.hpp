// Bytes as text (RFC 4648, section 4).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace heddle {

std::string to_base64(std::string_view bytes);
// None for what is not base64.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace heddle

#include "libcore/base/error.hpp"

#include <cerrno>
#include <system_error>

#include "libcore/base/strings.hpp"
#include "libcore/base/system_error.hpp"

namespace heddle {

std::string without_zeros(const std::string& message) {
  return replaced(message, std::string_view("\0", 1), "\\x00");
}

void throw_system_error(const std::string& path, const std::string& attempt) {
  const int code = errno;
  const char* const remedy = code == EMFILE ? "; raise the limit (ulimit -n) or give fewer files" : "";
  throw SystemError(path + ": cannot " + attempt + ": " + std::generic_category().message(code) + remedy);
}

}  // namespace heddle

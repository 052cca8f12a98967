#include "libcore/base/error.hpp"

#include <cerrno>
#include <system_error>

namespace heddle {

void throw_system_error(const std::string& path, const std::string& attempt) {
  const int code = errno;
  throw DataError(path + ": cannot " + attempt + ": " + std::generic_category().message(code));
}

}  // namespace heddle

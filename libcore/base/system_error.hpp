// Failures of the operating system, apart from files that are damaged or unsuitable.
#pragma once

#include "libcore/base/error.hpp"

namespace heddle {

// Thrown by throw_system_error(): unrelated to the contents of a file, and may be transient.
class SystemError : public DataError {
 public:
  using DataError::DataError;
};

}  // namespace heddle

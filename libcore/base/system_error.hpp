// Failures of the operating system, apart from files that are damaged or unsuitable.
#pragma once

#include "libcore/base/error.hpp"

namespace heddle {

// What throw_system_error() throws: it says nothing of what a file holds, and may not occur again.
class SystemError : public DataError {
 public:
  using DataError::DataError;
};

}  // namespace heddle

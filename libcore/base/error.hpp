// Errors are exceptions; the library never exits, aborts or writes to a stream. check() stays on in release builds.
// A message is one line: what is wrong, where, and what to do about it. It writes fields as fields_in_messages.hpp has
// it.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace heddle {

// The message with \x00 for each zero byte, where what() would end.
std::string without_zeros(const std::string& message);

// Base of everything heddle throws. Tools exit with exit_status().
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, int exit_status = 1)
      : std::runtime_error(without_zeros(message)), exit_status_(exit_status) {}
  int exit_status() const { return exit_status_; }
  // Replaces the message, so that what catches an error may word it for its readers and throw it on.
  void reword(const std::string& message) { *this = Error(message, exit_status_); }

 private:
  int exit_status_;
};

// The request is invalid: an unknown option, a value out of range. Exit status 2.
class UsageError : public Error {
 public:
  explicit UsageError(const std::string& message) : Error(message, 2) {}
};

// A file or stream is missing, damaged, foreign or does not fit; or the environment failed. Exit status 1.
class DataError : public Error {
 public:
  explicit DataError(const std::string& message) : Error(message, 1) {}
};

// Tensors or weights of incompatible shapes.
class ShapeError : public Error {
 public:
  explicit ShapeError(const std::string& message) : Error(message, 1) {}
};

// The computation diverged: a value is not finite. Exit status 3.
class NumericError : public Error {
 public:
  explicit NumericError(const std::string& message) : Error(message, 3) {}
};

// "a" + 3 + "b" and so on, by operator<<.
template <class... Parts>
std::string concatenate(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

// Throws Kind with the concatenated parts unless the condition holds. The parts are formatted only on failure.
template <class Kind, class... Parts>
void check(bool condition, const Parts&... parts) {
  if (!condition) [[unlikely]]
    throw Kind(concatenate(parts...));
}

// The message of errno with what was attempted: DataError("FILE: cannot open: No such file or directory").
[[noreturn]] void throw_system_error(const std::string& path, const std::string& attempt);

}  // namespace heddle

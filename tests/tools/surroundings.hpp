// Environment and standard error of a test of options.
#pragma once

#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>

namespace heddle::testing {

// An environment variable for the length of a test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

// Captures std::cerr during its lifetime.
class Overheard {
 public:
  Overheard() : previous_(std::cerr.rdbuf(text_.rdbuf())) {}
  ~Overheard() { std::cerr.rdbuf(previous_); }
  Overheard(const Overheard&) = delete;
  Overheard& operator=(const Overheard&) = delete;
  std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
  std::streambuf* previous_;
};

}  // namespace heddle::testing

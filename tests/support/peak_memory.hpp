// Peak memory of a piece of code.
#pragma once

#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <fstream>
#include <stdexcept>
#include <string>

#include "support/patience.hpp"

namespace heddle::testing {

// A line of /proc/self/status, in bytes.
inline std::size_t memory_status(const std::string& wanted) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::size_t kilobytes = 0;
    if (word == wanted && status >> kilobytes) return kilobytes * 1024;
  }
  throw std::runtime_error("/proc/self/status has no " + wanted);
}

// Bytes of resident memory that f() adds, at most, to what there is before, whether it throws or not. It runs in a
// child process whose high-water mark begins anew, so that nothing before counts, and which two minutes end.
template <class F>
std::size_t peak_memory(const F& f) {
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error("cannot create a pipe");
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(static_cast<unsigned>(patient_seconds(120)));
    malloc_trim(0);
    std::ofstream("/proc/self/clear_refs") << "5";
    const std::size_t before = memory_status("VmRSS:");
    try {
      f();
    } catch (...) {
    }
    const std::size_t peak = memory_status("VmHWM:") - before;
    ::_exit(::write(ends[1], &peak, sizeof peak) == sizeof peak ? 0 : 1);
  }
  ::close(ends[1]);
  std::size_t peak = 0;
  const bool told = ::read(ends[0], &peak, sizeof peak) == sizeof peak;
  ::close(ends[0]);
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child || !told) throw std::runtime_error("the child process failed");
  return peak;
}

}  // namespace heddle::testing

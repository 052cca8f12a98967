// What surrounds every tool's main: errors become one line and an exit status, output is known to have arrived.
//
//   int main(int argc, char** argv) {
//     return heddle::cli::run(argc, argv, about, [](heddle::cli::Arguments& arguments) { … });
//   }
#pragma once

#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "heddle/cli/arguments.hpp"

namespace heddle::cli {

namespace detail {
// With the words behind the program's name. Of `about` the name and the status of failures count.
int run(int argc, char** argv, const About& about, const std::function<int(const std::vector<std::string>&)>& body);
}  // namespace detail

// Calls body(arguments), which may return an exit status (75, exit_status_of(signal)), and returns the process's.
// Whatever the body throws is printed as "tool: message" on standard error and ends with Error::exit_status(), or 1,
// unless the tool has a status for all failures.
// Beforehand it may start the process anew, once, with OPENBLAS_CORETYPE set to a faster kernel: OpenBLAS reads the
// variable only when it is loaded. Signals leave no temporary file behind (signals.hpp). SIGPIPE is ignored, so that
// losing standard error stops no training; a lost standard output ends the process by SIGPIPE after everything has been
// cleaned up.
template <class Body>
int run(int argc, char** argv, const About& about, const Body& body) {
  return detail::run(argc, argv, about, [&](const std::vector<std::string>& words) -> int {
    Arguments arguments(about, words);
    if constexpr (std::is_void_v<std::invoke_result_t<const Body&, Arguments&>>) {
      body(arguments);
      return 0;
    } else {
      return body(arguments);
    }
  });
}

// Seconds since run() began.
double seconds_since_start();

}  // namespace heddle::cli

// The frame of every tool's main: reports errors as one line and an exit status, and checks that all output is written.
//
//   int main(int argc, char** argv) {
//     return heddle::cli::run(argc, argv, about, [](heddle::cli::Arguments& arguments) { … });
//   }
#pragma once

#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "tools/cli/arguments.hpp"
#include "tools/cli/ranks.hpp"

namespace heddle::cli {

namespace detail {
// `words` follow the program's name. Of `about` only the name and the exit status of failures are used.
int run(int argc, char** argv, const About& about, const std::function<int(const std::vector<std::string>&)>& body);
}  // namespace detail

// Calls body(arguments), which may return an exit status (75, exit_status_of(signal)), and returns the exit status of
// the process. An exception is printed as "tool: message" on standard error, with options for the fields that the
// message names (fields_as_options.hpp); the status is then Error::exit_status(), or 1, unless the tool has one status
// for all failures. Before that it may restart the process once with OPENBLAS_CORETYPE set to a faster kernel: OpenBLAS
// reads the variable only when it is loaded. Signals leave no temporary file behind (signals.hpp). SIGPIPE is ignored,
// so that a closed standard error does not stop training; if standard output is closed, the process ends by SIGPIPE
// after cleaning up.
template <class Body>
int run(int argc, char** argv, const About& about, const Body& body) {
  return detail::run(argc, argv, about, [&](const std::vector<std::string>& words) -> int {
    refuse_ranks(about);
    Arguments arguments(about, words);
    return with_rendered_errors(arguments, [&]() -> int {
      if constexpr (std::is_void_v<std::invoke_result_t<const Body&, Arguments&>>) {
        body(arguments);
        return 0;
      } else {
        return body(arguments);
      }
    });
  });
}

// Hooks of a process that is one of several, for a body that throws: `who` ("rank 1") begins the message of an error,
// `before` runs before it is printed, and `after` then gets the exit status; `answered` runs where --help or its like
// was all there was to do. The last hooks that were given count.
struct ExceptionHooks {
  std::string who{};
  std::function<void()> before = [] {};
  std::function<void(int status)> after = [](int) {};
  std::function<void()> answered = [] {};
};
void at_exception(ExceptionHooks hooks);

// Seconds since run() began.
double seconds_since_start();

}  // namespace heddle::cli

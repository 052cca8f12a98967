// Stopping on request: SIGTERM and SIGINT ask, the program saves and leaves; a second one leaves at once.
#pragma once

#include "heddle/base/error.hpp"

namespace heddle::cli {

// From here on the first SIGTERM or SIGINT is only noted, and the second ends the process with 128 + its number.
// For tools that poll stop_requested() or read their input through Input; others die of the first, as is usual.
void catch_stop_signals();

// The number of the signal that asked to stop, or 0. A relaxed load: cheap enough for inner loops.
int stop_requested();

// What a tool returns after saving: 143 for SIGTERM, 130 for SIGINT.
inline int exit_status_of(int signal) {
  return 128 + signal;
}

// For work that has nothing to save: its message and exit status are the signal's.
struct Stopped : Error {
  explicit Stopped(int signal);
};

// Throws Stopped once a stop has been requested.
void throw_if_stopped();

}  // namespace heddle::cli

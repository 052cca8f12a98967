// Saving and stopping on request. SIGTERM, SIGINT and SIGHUP end a program as usual, after its temporary files were
// removed. A program that has something to save saves and exits at SIGTERM or SIGINT; a second one ends it at once.
#pragma once

#include "libcore/base/error.hpp"

namespace heddle::cli {

// From here on, a signal that ends the process first removes the temporary files of formats. run() calls it. Signals
// that were ignored when the process started (by nohup, for example) stay ignored. SIGBUS, which comes where a file
// that is in use was cut, ends the process with a message and status 1.
void clean_up_on_signals();

// From here on the first SIGTERM or SIGINT is only noted, and the second ends the process with 128 + its number.
// For tools that poll stop_requested().
void catch_stop_signals();

// From here on, SIGUSR1 sets save_requested() and does not end the program. To be called first in main: the signal may
// come in the first milliseconds.
void catch_save_signal();

// From here on, SIGUSR1 requests a stop as SIGTERM does; so does one received since catch_save_signal().
void catch_stop_signal_usr1();

// For a program that restarts itself: if it catches SIGUSR1, a SIGUSR1 that arrives before the new program catches it
// again is ignored and does not end the program.
void keep_save_signal_harmless();

// Whether SIGUSR1 came since the last call.
bool save_requested();

// The number of the signal that asked to stop, or 0. A relaxed load: cheap enough for inner loops.
int stop_requested();

// The exit status after saving: 143 for SIGTERM, 130 for SIGINT.
inline int exit_status_of(int signal) {
  return 128 + signal;
}

// Thrown in programs that have nothing to save; message and exit status name the signal.
struct Stopped : Error {
  explicit Stopped(int signal);
};

// Throws Stopped once a stop has been requested.
void throw_if_stopped();

}  // namespace heddle::cli

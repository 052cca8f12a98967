// Saving and stopping on request. SIGTERM, SIGINT and SIGHUP end a program as is usual, but leave no temporary file
// behind. In one that has something to save, SIGTERM and SIGINT ask: it saves and leaves; a second one ends it at once.
#pragma once

#include "heddle/base/error.hpp"

namespace heddle::cli {

// From here on a signal that ends the process removes what formats has under temporary names first. run() calls it.
// Signals that the process was started to ignore (by nohup, say) stay ignored.
void clean_up_on_signals();

// From here on the first SIGTERM or SIGINT is only noted, and the second ends the process with 128 + its number.
// For tools that poll stop_requested().
void catch_stop_signals();

// From here on SIGUSR1 sets save_requested() and does not end the program. The first call in the main of a program that
// uses it: it may come in the first milliseconds.
void catch_save_signal();

// From here on SIGUSR1 asks to stop as SIGTERM does; one that has come since catch_save_signal() does, too.
void catch_stop_signal_usr1();

// For a program that starts itself anew: where it catches SIGUSR1, one that comes before the new program catches it
// again is lost and ends nothing.
void keep_save_signal_harmless();

// Whether SIGUSR1 came since the last call.
bool save_requested();

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

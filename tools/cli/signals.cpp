#include "heddle/cli/signals.hpp"

#include <signal.h>
#include <unistd.h>

#include <atomic>

namespace heddle::cli {

namespace {

// A signal handler can reach nothing but globals.
std::atomic<int> requested{0};
static_assert(std::atomic<int>::is_always_lock_free);

void note(int signal) {
  if (requested.exchange(signal) != 0) _exit(exit_status_of(signal));
}

}  // namespace

void catch_stop_signals() {
  struct sigaction action {};
  action.sa_handler = note;
  sigemptyset(&action.sa_mask);
  // Without SA_RESTART: a read that waits for input must return to see the request.
  sigaction(SIGTERM, &action, nullptr);
  // A shell starts background jobs with SIGINT ignored, so that Ctrl-C is not meant for them.
  struct sigaction inherited {};
  sigaction(SIGINT, nullptr, &inherited);
  if (inherited.sa_handler != SIG_IGN) sigaction(SIGINT, &action, nullptr);
}

int stop_requested() {
  return requested.load(std::memory_order_relaxed);
}

Stopped::Stopped(int signal)
    : Error(signal == SIGINT ? "interrupted" : "stopped on request (SIGTERM)", exit_status_of(signal)) {}

void throw_if_stopped() {
  if (const int signal = stop_requested(); signal != 0) [[unlikely]]
    throw Stopped(signal);
}

}  // namespace heddle::cli

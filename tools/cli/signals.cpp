#include "heddle/cli/signals.hpp"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

namespace heddle::cli {

namespace {

// A signal handler can reach nothing but globals.
std::atomic<int> requested{0};
std::atomic<long> first_at{0};  // milliseconds
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<long>::is_always_lock_free);

// timeout(1) and batch systems send a signal to the process and to its group: that is one request, not two.
constexpr long same_request = 250;

long milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void note(int signal) {
  const long now = milliseconds();
  long none = 0;
  if (first_at.compare_exchange_strong(none, now)) {
    requested.store(signal);
  } else if (now - first_at.load() > same_request) {
    _exit(exit_status_of(signal));
  }
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

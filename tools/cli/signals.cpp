#include "tools/cli/signals.hpp"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <string_view>

#include "formats/files/temporary.hpp"

namespace heddle::cli {

namespace {

// A signal handler can reach nothing but globals.
std::atomic<int> requested{0};
std::atomic<long> first_at{0};  // milliseconds
std::atomic<bool> save{false};
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
    formats::remove_temporaries_and([](int last) { _exit(exit_status_of(last)); }, signal);
  }
}

// The signal's default action is restored before this is called, so that the parent process sees which signal ended it.
void clean_up(int signal) {
  formats::remove_temporaries_and([](int last) { raise(last); }, signal);
}

// Weights are read from files that are mapped into memory. The kernel sends SIGBUS where a page of one is no longer
// there.
void fail_for_lost_pages(int signal) {
  const std::string_view message =
      ": a file that was in use became shorter, or its disk cannot be read; write models elsewhere and rename them\n";
  const bool written = write(STDERR_FILENO, program_invocation_short_name, strlen(program_invocation_short_name)) > 0 &&
                       write(STDERR_FILENO, message.data(), message.size()) > 0;
  formats::remove_temporaries_and([](int) { _exit(1); }, written ? signal : 0);
}

void handle(int signal, void (*handler)(int), int flags) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

bool is_ignored(int signal) {
  struct sigaction inherited {};
  sigaction(signal, nullptr, &inherited);
  return inherited.sa_handler == SIG_IGN;
}

}  // namespace

void clean_up_on_signals() {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    if (!is_ignored(signal)) handle(signal, clean_up, SA_RESETHAND | SA_NODEFER);
  }
  handle(SIGBUS, fail_for_lost_pages, SA_RESETHAND);
}

void catch_stop_signals() {
  // No SA_RESTART: a read that waits for input must return to see the request.
  handle(SIGTERM, note, 0);
  // A shell starts background jobs with SIGINT ignored, so that Ctrl-C is not meant for them.
  if (!is_ignored(SIGINT)) handle(SIGINT, note, 0);
  // nohup has it ignored.
  if (!is_ignored(SIGHUP)) handle(SIGHUP, note, 0);
}

void catch_save_signal() {
  handle(
      SIGUSR1, [](int) { save.store(true); }, SA_RESTART);
}

void catch_stop_signal_usr1() {
  handle(SIGUSR1, note, 0);
  if (save_requested()) note(SIGUSR1);
}

void keep_save_signal_harmless() {
  struct sigaction action {};
  sigaction(SIGUSR1, nullptr, &action);
  if (action.sa_handler != SIG_DFL) handle(SIGUSR1, SIG_IGN, 0);
}

bool save_requested() {
  return save.load(std::memory_order_relaxed) && save.exchange(false);
}

int stop_requested() {
  return requested.load(std::memory_order_relaxed);
}

Stopped::Stopped(int signal)
    : Error(signal == SIGINT   ? "interrupted"
            : signal == SIGHUP ? "stopped: the terminal was closed (SIGHUP)"
                               : "stopped on request (SIGTERM)",
            exit_status_of(signal)) {}

void throw_if_stopped() {
  if (const int signal = stop_requested(); signal != 0) [[unlikely]]
    throw Stopped(signal);
}

}  // namespace heddle::cli

// Code that may crash or hang, run where that is an outcome like others.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>

namespace heddle::tests {

// What f() returns, 0 to 99, from a forked child; 100 when it throws; 128 and the signal's number when a signal ends
// it, SIGALRM after so many seconds. Checks of doctest in it are lost.
template <class F>
int outcome_in_child(const F& f, unsigned seconds = 60) {
  constexpr int thrown = 100, killed = 128;
  const pid_t child = ::fork();
  if (child == 0) {
    for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL}) ::signal(signal, SIG_DFL);  // not doctest's
    ::alarm(seconds);
    int outcome = thrown;
    try {
      outcome = f();
    } catch (...) {
    }
    ::_exit(outcome);
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child) throw std::runtime_error("cannot run a child process");
  return WIFEXITED(status) ? WEXITSTATUS(status) : killed + WTERMSIG(status);
}

}  // namespace heddle::tests

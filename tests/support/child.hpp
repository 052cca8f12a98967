// Code that may crash or hang, run where that is an outcome like others.
#pragma once

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <stdexcept>
#include <vector>

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

// Numbers that children write and their parent reads.
class SharedNumbers {
 public:
  explicit SharedNumbers(int count) : bytes_(static_cast<std::size_t>(count) * sizeof(int)) {
    void* const memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("cannot share memory with a child process");
    numbers_ = static_cast<int*>(memory);
  }
  ~SharedNumbers() { ::munmap(numbers_, bytes_); }
  SharedNumbers(const SharedNumbers&) = delete;
  SharedNumbers& operator=(const SharedNumbers&) = delete;

  int& operator[](int i) const { return numbers_[i]; }

 private:
  std::size_t bytes_;
  int* numbers_;
};

// The outcomes of f(0) to f(count - 1). One child computes them one after the other; where that ends it, another one
// continues with the next.
template <class F>
std::vector<int> outcomes_in_children(int count, const F& f, unsigned seconds = 60) {
  const SharedNumbers shared(count + 1);
  int& done = shared[count];
  std::vector<int> outcomes;
  while (static_cast<int>(outcomes.size()) < count) {
    const int first = done = static_cast<int>(outcomes.size());
    const int end = outcome_in_child([&] {
      for (int i = first; i < count; done = ++i) {
        ::alarm(seconds);
        shared[i] = f(i);
      }
      return 0;
    });
    for (int i = first; i < done; ++i) outcomes.push_back(shared[i]);
    if (done < count) outcomes.push_back(end);
  }
  return outcomes;
}

}  // namespace heddle::tests

// Preloaded into a program, makes one of its calls on files fail, or ends or stops the program just before it:
//
//   LD_PRELOAD=libheddle_faults.so HEDDLE_FAULT=CALL:NUMBER:WHAT [HEDDLE_FAULT_FILE=TEXT]
//
// CALL is write (or pwrite), fsync, fsync-file, fsync-directory, rename, link, any of these, or open; NUMBER counts
// such calls, writes on regular files only, from 1, and 0 means every one. WHAT is kill, kill+MICROSECONDS (which ends
// the program that long after the call, by SIGALRM), stop (SIGSTOP, so that signals can be sent to it right there), or
// the number of the error. With HEDDLE_FAULT_FILE, calls of open count only where the name contains the text.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>

namespace {

enum class What { fail, kill, kill_later, stop };

struct Fault {
  char call[20] = "";
  long number = 0;
  What what = What::fail;
  long value = 0;  // the error, or microseconds

  Fault() {
    const char* const text = getenv("HEDDLE_FAULT");
    if (text == nullptr) return;
    const char* const colon = strchr(text, ':');
    if (colon == nullptr || static_cast<size_t>(colon - text) >= sizeof(call)) return;
    char* end = nullptr;
    number = strtol(colon + 1, &end, 10);
    memcpy(call, text, static_cast<size_t>(colon - text));
    parse(end);
  }

  void parse(const char* text) {
    const char* const later = ":kill+";
    if (strcmp(text, ":kill") == 0) {
      what = What::kill;
    } else if (strcmp(text, ":stop") == 0) {
      what = What::stop;
    } else if (strncmp(text, later, strlen(later)) == 0) {
      what = What::kill_later;
      value = atol(text + strlen(later));
    } else {
      value = atol(text + 1);
    }
  }

  // "fsync" stands for both of its kinds.
  bool is_for(const char* name) const {
    const size_t length = strlen(call);
    if (length == 0) return false;
    if (strcmp(call, "any") == 0) return strcmp(name, "open") != 0;
    return strncmp(call, name, length) == 0 && (name[length] == 0 || name[length] == '-');
  }
};

void kill_after(long microseconds) {
  itimerval time{};
  time.it_value = {microseconds / 1000000, microseconds % 1000000 + 1};
  signal(SIGALRM, SIG_DFL);
  setitimer(ITIMER_REAL, &time, nullptr);
}

// Returns the error to fail with, or 0.
int fault_at(const char* call) {
  static const Fault fault;
  static std::atomic<long> count{0};
  if (!fault.is_for(call)) return 0;
  const long now = ++count;
  if (fault.number != 0 && now != fault.number) return 0;
  if (fault.what == What::kill) raise(SIGKILL);
  if (fault.what == What::stop) raise(SIGSTOP);
  if (fault.what == What::kill_later) kill_after(fault.value);
  return fault.what == What::fail ? static_cast<int>(fault.value) : 0;
}

bool is_named(const char* path) {
  const char* const text = getenv("HEDDLE_FAULT_FILE");
  return text == nullptr || strstr(path, text) != nullptr;
}

const char* fsync_of(int file) {
  struct stat status {};
  return fstat(file, &status) == 0 && S_ISDIR(status.st_mode) ? "fsync-directory" : "fsync-file";
}

bool is_regular(int file) {
  struct stat status {};
  return fstat(file, &status) == 0 && S_ISREG(status.st_mode);
}

template <class Function>
Function* original(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

bool fails(const char* call, bool counts) {
  const int error = counts ? fault_at(call) : 0;
  if (error != 0) errno = error;
  return error != 0;
}

}  // namespace

extern "C" {

ssize_t write(int file, const void* bytes, size_t size) {
  static auto* const next = original<ssize_t(int, const void*, size_t)>("write");
  return fails("write", is_regular(file)) ? -1 : next(file, bytes, size);
}

ssize_t pwrite64(int file, const void* bytes, size_t size, off64_t offset) {
  static auto* const next = original<ssize_t(int, const void*, size_t, off64_t)>("pwrite64");
  return fails("write", is_regular(file)) ? -1 : next(file, bytes, size, offset);
}

ssize_t pwrite(int file, const void* bytes, size_t size, off_t offset) {
  static auto* const next = original<ssize_t(int, const void*, size_t, off_t)>("pwrite");
  return fails("write", is_regular(file)) ? -1 : next(file, bytes, size, offset);
}

int fsync(int file) {
  static auto* const next = original<int(int)>("fsync");
  return fails(fsync_of(file), true) ? -1 : next(file);
}

int open(const char* path, int mode, ...) {
  static auto* const next = original<int(const char*, int, ...)>("open");
  va_list more;
  va_start(more, mode);
  const mode_t permissions = (mode & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  return fails("open", is_named(path)) ? -1 : next(path, mode, permissions);
}

int rename(const char* from, const char* to) noexcept {
  static auto* const next = original<int(const char*, const char*)>("rename");
  return fails("rename", true) ? -1 : next(from, to);
}

int link(const char* from, const char* to) noexcept {
  static auto* const next = original<int(const char*, const char*)>("link");
  return fails("link", true) ? -1 : next(from, to);
}

}  // extern "C"

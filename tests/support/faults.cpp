// Preloaded into a program, makes one of its calls that change files fail, or ends the program just before it:
//
//   LD_PRELOAD=libheddle_faults.so HEDDLE_FAULT=CALL:NUMBER:WHAT
//
// CALL is write (or pwrite), fsync, rename, link or any; NUMBER counts such calls on regular files from 1, 0 means every one; WHAT is
// kill, or the number of the error.
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>

namespace {

struct Fault {
  char call[16] = "";
  long number = 0;
  int error = 0;  // 0: kill

  Fault() {
    const char* const text = getenv("HEDDLE_FAULT");
    if (text == nullptr) return;
    const char* const colon = strchr(text, ':');
    if (colon == nullptr || static_cast<size_t>(colon - text) >= sizeof(call)) return;
    char* end = nullptr;
    number = strtol(colon + 1, &end, 10);
    memcpy(call, text, static_cast<size_t>(colon - text));
    error = strcmp(end, ":kill") == 0 ? 0 : atoi(end + 1);
  }
};

// Returns the error to fail with, or 0.
int fault_at(const char* call) {
  static const Fault fault;
  static std::atomic<long> count{0};
  if (fault.call[0] == 0 || (strcmp(fault.call, "any") != 0 && strcmp(fault.call, call) != 0)) return 0;
  const long now = ++count;
  if (fault.number != 0 && now != fault.number) return 0;
  if (fault.error == 0) raise(SIGKILL);
  return fault.error;
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
  return fails("fsync", true) ? -1 : next(file);
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

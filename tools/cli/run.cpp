#include "tools/cli/run.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <new>
#include <optional>
#include <system_error>

#include "libcore/base/printable.hpp"
#include "libcore/tensor/blas.hpp"
#include "libcore/tensor/precision.hpp"
#include "tools/cli/signals.hpp"
#include "tools/cli/streams.hpp"
#include "tools/cli/version.hpp"

namespace heddle::cli {

namespace {

// If the BLAS multiplies matrices: restarts the program with its best kernel, unless the user chose one.
void restart_with_better_kernel(char** argv) {
  if (f32_unit() != "BLAS" || std::getenv("OPENBLAS_CORETYPE") != nullptr) return;
  const std::optional<std::string> kernel = better_blas_kernel();
  if (!kernel) return;
  setenv("OPENBLAS_CORETYPE", kernel->c_str(), 1);
  setenv(kernel_marker, "1", 1);
  keep_save_signal_harmless();
  // By its real path: otherwise ps would show the name "exe". If this fails, the slower kernel is used.
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) execv(program.c_str(), argv);
}

// If a standard stream is closed, the next file opened would get its number, and messages would go into a
// model. The replacement fails on use.
void reserve_standard_streams() {
  for (int number = STDIN_FILENO; number <= STDERR_FILENO; ++number) {
    if (fcntl(number, F_GETFD) == -1) (void)!open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

// A training run may read more files than the usual 1,024. The usual limit is for programs that use select().
void allow_many_open_files() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

ExceptionHooks exception_hooks;

int fail(const About& about, std::string_view message, int status) {
  exception_hooks.before();
  const std::string who = exception_hooks.who.empty() ? "" : exception_hooks.who + ": ";
  std::cerr << concatenate(about.name, ": ", who, printable_message(message), "\n");
  const int exit_status = about.failure_status == 0 ? status : about.failure_status;
  exception_hooks.after(exit_status);
  return exit_status;
}

using Body = std::function<int(const std::vector<std::string>&)>;

int run_body(const std::vector<std::string>& words, const Body& body) {
  StandardOutput output;
  int status = 0;
  try {
    status = body(words);
  } catch (const Finished&) {
    exception_hooks.answered();
  } catch (const std::ios_base::failure&) {  // for a stream that had failed before
    output.flush();
    throw;
  }
  output.flush();
  return status;
}

std::chrono::steady_clock::time_point start_of_run;

[[noreturn]] void die_of_closed_pipe(int status) {
  signal(SIGPIPE, SIG_DFL);
  raise(SIGPIPE);
  _exit(status);  // only if the signal is blocked
}

}  // namespace

int detail::run(int argc, char** argv, const About& about, const Body& body) {
  start_of_run = std::chrono::steady_clock::now();
  restart_with_better_kernel(argv);
  stop_blas_threads();
  reserve_standard_streams();
  allow_many_open_files();
  signal(SIGPIPE, SIG_IGN);
  clean_up_on_signals();
  // So that exceeding a file size limit is an error of write(), after which no incomplete file is left.
  signal(SIGXFSZ, SIG_IGN);
  try {
    return run_body({argv + std::min(argc, 1), argv + argc}, body);
  } catch (const ClosedPipe& error) {
    die_of_closed_pipe(error.exit_status());
  } catch (const Error& error) {
    return fail(about, error.what(), error.exit_status());
  } catch (const std::bad_alloc&) {
    return fail(about, "out of memory; use a smaller batch, context or model", 1);
  } catch (const std::filesystem::filesystem_error& error) {
    return fail(about, concatenate(error.path1().string(), ": ", error.code().message()), 1);
  } catch (const std::ios_base::failure&) {
    return fail(about, "cannot write the output; the part that was written may be incomplete", 1);
  } catch (const std::exception& error) {
    return fail(about, error.what(), 1);
  }
}

void at_exception(ExceptionHooks hooks) {
  exception_hooks = std::move(hooks);
}

double seconds_since_start() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_of_run).count();
}

}  // namespace heddle::cli

#include "formats/symbolic/csdp.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "formats/files/temporary.hpp"
#include "libcore/base/error.hpp"

namespace heddle::formats {

namespace {

namespace fs = std::filesystem;
using symbolic::SemidefiniteProgram;

// A directory for the program's files.
class Workplace {
 public:
  Workplace() {
    std::error_code error;
    std::string name = (fs::temp_directory_path(error) / "heddle.csdp.XXXXXX").string();
    const Creating creating;
    if (mkdtemp(name.data()) == nullptr) throw_system_error(name, "cannot make a directory");
    directory_.created(name);
  }
  std::string file(const char* name) const { return directory_.path() + "/" + name; }

 private:
  Temporary directory_;
};

std::string sdpa_text(const SemidefiniteProgram& program) {
  std::ostringstream out;
  out.precision(17);
  out << program.right.size() << '\n' << program.orders.size() << '\n';
  for (const Index order : program.orders) out << order << ' ';
  out << '\n';
  for (const double right : program.right) out << right << ' ';
  out << '\n';
  for (const auto& entry : program.entries)
    out << entry.constraint << ' ' << entry.block + 1 << ' ' << entry.row + 1 << ' ' << entry.column + 1 << ' '
        << entry.value << '\n';
  return out.str();
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  check<DataError>(out.flush().good(), path, ": cannot be written");
}

// Waits for the process; ends it after the time.
bool finished(pid_t process, double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  for (auto pause = std::chrono::microseconds(500);; pause = std::min(2 * pause, std::chrono::microseconds(20'000))) {
    int status = 0;
    const pid_t done = waitpid(process, &status, WNOHANG);
    if (done == process) return WIFEXITED(status) != 0;
    if (done < 0 && errno != EINTR) return false;
    if (Clock::now() > end) {
      kill(process, SIGKILL);
      while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
      }
      return false;
    }
    std::this_thread::sleep_for(pause);
  }
}

// Suppresses its messages and uses one thread: the programs are small.
bool run(const std::string& path, const std::string& input, const std::string& output, double seconds) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int descriptor : {0, 1, 2}) posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0);
  std::string program = path, from = input, to = output, threads = "OMP_NUM_THREADS=1", blas = "OPENBLAS_NUM_THREADS=1";
  char* arguments[] = {program.data(), from.data(), to.data(), nullptr};
  char* environment[] = {threads.data(), blas.data(), nullptr};
  pid_t process = 0;
  const int failed = posix_spawn(&process, path.c_str(), &actions, nullptr, arguments, environment);
  posix_spawn_file_actions_destroy(&actions);
  return failed == 0 && finished(process, seconds);
}

std::optional<std::vector<std::vector<double>>> read_solution(const std::string& path,
                                                              const SemidefiniteProgram& program) {
  std::ifstream in(path);
  std::string dual;
  if (!std::getline(in, dual)) return std::nullopt;
  std::vector<std::vector<double>> matrices;
  for (const Index order : program.orders) matrices.emplace_back(static_cast<std::size_t>(order * order));
  Index matrix = 0, block = 0, row = 0, column = 0;
  std::string text;
  while (in >> matrix >> block >> row >> column >> text) {
    double value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_sound = read.ec == std::errc() && block >= 1 && block <= static_cast<Index>(matrices.size());
    const Index order = is_sound ? program.orders[static_cast<std::size_t>(block - 1)] : 0;
    if (row < 1 || column < row || column > order) return std::nullopt;
    if (matrix != 2) continue;  // 1 is the dual's
    auto& values = matrices[static_cast<std::size_t>(block - 1)];
    values[static_cast<std::size_t>((row - 1) * order + column - 1)] = value;
    values[static_cast<std::size_t>((column - 1) * order + row - 1)] = value;
  }
  return matrices;
}

}  // namespace

std::string find_csdp() {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string file = (folder.empty() ? "." : folder) + "/csdp";
    if (access(file.c_str(), X_OK) == 0) return file;
  }
  return "";
}

symbolic::SemidefiniteSolver csdp_solver(const std::string& path, double seconds) {
  const auto workplace = std::make_shared<const Workplace>();
  return [workplace, path,
          seconds](const SemidefiniteProgram& program) -> std::optional<std::vector<std::vector<double>>> {
    const std::string input = workplace->file("in"), output = workplace->file("out");
    write_file(input, sdpa_text(program));
    std::error_code ignored;
    fs::remove(output, ignored);
    if (!run(path, input, output, seconds)) return std::nullopt;
    return read_solution(output, program);
  };
}

}  // namespace heddle::formats

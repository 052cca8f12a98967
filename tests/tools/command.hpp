// Runs programs as a user's shell does, and keeps what they say.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/patience.hpp"

namespace heddle::testing {

// A folder that is removed, with what is in it, at the end of the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "heddle-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot create " + name);
    path_ = name;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

inline std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

inline std::string repeated(const std::string& text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

inline long lines_in(const std::string& text) {
  return std::count(text.begin(), text.end(), '\n');
}

struct Outcome {
  int status;  // as $? has it
  std::string out;
  std::string err;
};

// The process and those that it started, as far as their parents live.
inline void kill_with_children(pid_t process) {
  ::kill(process, SIGSTOP);  // it starts no more
  const std::string id = std::to_string(process);
  std::ifstream children("/proc/" + id + "/task/" + id + "/children");
  for (pid_t child = 0; children >> child;) kill_with_children(child);
  ::kill(process, SIGKILL);
}

// Its status as waitpid() has it. Throws where it does not end in time, after killing it: a test that waits for what
// never comes must not wait for ever.
inline int status_in_time(pid_t process, int seconds, const std::string& command) {
  const auto handle = static_cast<int>(::syscall(SYS_pidfd_open, process, 0));
  pollfd end{handle, POLLIN, 0};
  const bool is_late = handle >= 0 && ::poll(&end, 1, 1000 * seconds) == 0;
  if (handle >= 0) ::close(handle);
  if (is_late) kill_with_children(process);
  int status = -1;
  if (::waitpid(process, &status, 0) != process) throw std::runtime_error("cannot wait for bash");
  if (is_late) throw std::runtime_error("has not ended in " + std::to_string(seconds) + " seconds: " + command);
  return status;
}

// Runs bash with these arguments, and returns its status as waitpid() has it. Signals have their own effects there,
// though whoever started the test may have them ignored, as nohup does SIGHUP.
inline int run_bash(std::vector<std::string> arguments, const std::string& out, const std::string& err, int seconds) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  constexpr int mode = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, out.c_str(), mode, 0666);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, err.c_str(), mode, 0666);
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGUSR1}) sigaddset(&signals, signal);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  std::string shell = "bash";
  std::vector<char*> words{shell.data()};
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  pid_t process = -1;
  const bool started = posix_spawnp(&process, "bash", &files, &attributes, words.data(), environ) == 0;
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (!started) throw std::runtime_error("cannot run bash");
  return status_in_time(process, seconds, arguments.back());
}

// The command goes to bash, with an empty standard input unless it says otherwise. As one argument: then bash becomes
// its last command, where it can, which saves a process.
inline Outcome run_command(const std::string& command, int seconds = patient_seconds(120)) {
  constexpr std::size_t longest_argument = 100'000;
  const TemporaryFolder folder;
  std::vector<std::string> arguments{"-c", command};
  if (command.size() > longest_argument) {
    write_file(folder / "command", command + "\n");
    arguments = {folder / "command"};
  }
  const int status = run_bash(std::move(arguments), folder / "out", folder / "err", seconds);
  return {WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status), read_file(folder / "out"),
          read_file(folder / "err")};
}

}  // namespace heddle::testing

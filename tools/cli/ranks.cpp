#include "tools/cli/ranks.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <thread>

#include "libcore/base/values.hpp"
#include "libcore/parallel/connect.hpp"
#include "tools/cli/run.hpp"
#include "tools/cli/same_run.hpp"
#include "tools/cli/version.hpp"

namespace heddle::cli {

namespace {

// The first rank prints failures common to all ranks, and then ends the others.
constexpr std::chrono::milliseconds until_others_speak{1500};

// The machine, and the processors of it that this process may use.
std::string own_processors() {
  std::array<char, 256> host{};
  (void)gethostname(host.data(), host.size() - 1);
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("Cpus_allowed_list:")) return concatenate(host.data(), " ", line);
  }
  return host.data();
}

// HEDDLE_STALL_TIMEOUT, in seconds; 0: none. Without it ranks that divide answers have none, since texts may be waited
// for, and some take longer than others.
double stall_timeout(RanksShare share) {
  const char* const name = "HEDDLE_STALL_TIMEOUT";
  const char* const text = std::getenv(name);
  if (text == nullptr) return share == RanksShare::training ? 600 : 0;
  try {
    return std::string_view(text) == "none" ? 0 : parse_duration(text);
  } catch (const UsageError& error) {
    throw UsageError(concatenate(name, "=", text, " in the environment: ", error.what()));
  }
}

// Takes what is written, and keeps nothing.
class Nowhere : public std::streambuf {
 protected:
  int_type overflow(int_type character) override { return traits_type::not_eof(character); }
  std::streamsize xsputn(const char*, std::streamsize count) override { return count; }
};

ExceptionHooks hooks_of(int rank) {
  if (rank == 0) return {};
  return {.who = concatenate("rank ", rank), .before = [] { std::this_thread::sleep_for(until_others_speak); }};
}

}  // namespace

Ranks::Ranks(Arguments& arguments, RanksShare share) : exceptions_(std::uncaught_exceptions()) {
  const auto launched = parallel::launch();
  if (launched) at_exception(hooks_of(launched->rank));  // connect() itself may throw
  group_ = parallel::connect();
  if (!launched) return;
  group_->wait_at_most(stall_timeout(share));
  ExceptionHooks hooks = hooks_of(group_->rank());
  hooks.after = [group = group_](int status) { group->abort(status); };
  hooks.answered = [group = group_] { group->leave(); };
  at_exception(std::move(hooks));
  const std::vector<std::string> processors = group_->gather(own_processors());
  const auto sharing = std::ranges::count(processors, processors[static_cast<std::size_t>(group_->rank())]);
  arguments.be_one_of(static_cast<int>(sharing), group_->is_first());
  static Nowhere nowhere;
  if (!group_->is_first()) std::cout.rdbuf(&nowhere);
  if (share == RanksShare::training) return;
  check_same_facts(*group_, {{"how the processor computes", engine()}, {"the command", arguments.command_line()}});
  divided_.emplace(*group_);
}

Ranks::~Ranks() {
  if (std::uncaught_exceptions() > exceptions_) return;
  at_exception({});
  try {
    group_->leave();
  } catch (const Error& error) {
    std::cerr << "rank " << group_->rank() << ": " << error.what() << "\n";
    group_->abort(error.exit_status());
  }
}

void refuse_ranks(const About& about) {
  const auto launched = parallel::launch();
  if (about.has_ranks || !launched || launched->size.value_or(1) == 1) return;
  throw UsageError(concatenate(
      launched->by, " in the environment: several of ", about.command(),
      " were started, and each repeats the whole work; start one process, or set HEDDLE_RANKS=1 for separate runs"));
}

}  // namespace heddle::cli

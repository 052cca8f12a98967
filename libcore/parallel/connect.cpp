#include "libcore/parallel/connect.hpp"

#include <dlfcn.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "libcore/base/error.hpp"
#include "libcore/parallel/mpi.hpp"

namespace heddle::parallel {

namespace {

// Nothing where the variable is not set, or to something else.
std::optional<int> number_in(const char* variable) {
  const char* const text = variable == nullptr ? nullptr : std::getenv(variable);
  if (text == nullptr) return std::nullopt;
  const std::string_view digits = text;
  int number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() && end == digits.data() + digits.size() ? std::optional(number) : std::nullopt;
}

// Ends messages about ranks that may not be meant to be ranks of one run.
constexpr std::string_view otherwise_alone = "; HEDDLE_RANKS=1 in the environment makes each process a run of its own";

struct Variables {
  const char *size, *rank;
};
// A batch script of Slurm has SLURM_NTASKS without being one of so many tasks, so the variables of steps are read.
constexpr Variables launchers[] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                                   {"PMI_SIZE", "PMI_RANK"},
                                   {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}};

class MpiPending final : public Pending {
 public:
  MpiPending(const MpiFunctions& functions, void* pending, double seconds)
      : functions_(functions), pending_(pending), seconds_(seconds) {}
  ~MpiPending() override { functions_.forget(pending_); }
  MpiPending(const MpiPending&) = delete;
  MpiPending& operator=(const MpiPending&) = delete;

  bool is_done() override { return functions_.is_done(pending_); }
  void wait() override {
    const int missing = functions_.wait(pending_, seconds_);
    check<Error>(
        missing < 0, "rank ", missing, " has not answered for ", seconds_,
        " seconds: it may have stalled, or be lost; HEDDLE_STALL_TIMEOUT in the environment says how long ranks wait");
  }

 private:
  const MpiFunctions& functions_;
  void* pending_;
  double seconds_;
};

class MpiGroup final : public Group {
 public:
  MpiGroup(const MpiFunctions& functions, int rank, int size) : Group(rank, size), functions_(functions) {}

  std::unique_ptr<Pending> begin(std::span<const Outgoing> sent, std::span<const Incoming> received) const override {
    std::vector<MpiMessage> out, in;
    // MPI's sends take what they read by const pointers.
    for (const auto& [to, bytes] : sent) out.push_back({to, const_cast<std::byte*>(bytes.data()), bytes.size()});
    for (const auto& [from, bytes] : received) in.push_back({from, bytes.data(), bytes.size()});
    return std::make_unique<MpiPending>(functions_, functions_.begin(out.data(), out.size(), in.data(), in.size()),
                                        seconds_);
  }
  void wait_at_most(double seconds) const override { seconds_ = seconds; }
  void abort(int status) const override { functions_.abort(status); }
  // The end of MPI need not wait for the others.
  void leave() const override {
    barrier();
    functions_.finish();
  }

 private:
  const MpiFunctions& functions_;
  mutable double seconds_ = 0;
};

#ifdef HEDDLE_MPI_MODULE
// The module stays loaded: MPI cannot start twice.
const MpiFunctions& load_mpi(const Launch& launched) {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::string path = (program.parent_path() / HEDDLE_MPI_MODULE).lexically_normal();
  void* const module = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  const char* const reason = module == nullptr ? dlerror() : "";
  check<DataError>(module != nullptr, launched.by,
                   ": several ranks were started, but the MPI module cannot be loaded: ", reason,
                   "; install heddle's MPI component and the MPI library that it was built with", otherwise_alone);
  const auto functions = reinterpret_cast<const MpiFunctions* (*)()>(dlsym(module, mpi_functions_symbol));
  check<DataError>(functions != nullptr, path, ": is of another version of heddle");
  return *functions();
}
#else
[[noreturn]] const MpiFunctions& load_mpi(const Launch& launched) {
  throw DataError(concatenate(launched.by,
                              ": several ranks were started, but this build has no MPI: start one process, ",
                              "or build heddle where CMake finds MPI", otherwise_alone));
}
#endif

}  // namespace

std::optional<Launch> launch() {
  if (number_in("HEDDLE_RANKS") == 1) return std::nullopt;
  bool has_size = false;
  for (const Variables& launcher : launchers) {
    const std::optional<int> size = number_in(launcher.size), rank = number_in(launcher.rank);
    has_size = has_size || (size && rank);
    if (size && rank && *size > 1) return Launch{*rank, *size, concatenate(launcher.size, "=", *size)};
  }
  const std::optional<int> rank = number_in("PMIX_RANK");
  if (rank && !has_size) return Launch{*rank, std::nullopt, concatenate("PMIX_RANK=", *rank)};
  return std::nullopt;
}

std::shared_ptr<const Group> connect() {
  const std::optional<Launch> launched = launch();
  if (!launched) return {std::shared_ptr<const Group>(), &alone()};
  const MpiFunctions& functions = load_mpi(*launched);
  int rank = 0, size = 1;
  functions.start(&rank, &size);
  check<DataError>(size == launched->size.value_or(size), launched->by, ", but MPI finds ", size,
                   size == 1 ? " rank" : " ranks",
                   ": the launcher is of another MPI than the one that heddle was built with, or does not start it "
                   "(with Slurm, start it by srun with mpi=pmix)",
                   otherwise_alone);
  return std::make_shared<MpiGroup>(functions, rank, size);
}

}  // namespace heddle::parallel

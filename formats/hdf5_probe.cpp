#include "heddle/formats/hdf5_probe.hpp"

#include <malloc.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>
#include <map>
#include <optional>
#include <tuple>
#include <variant>
#include <vector>

#include "heddle/formats/hdf5_library.hpp"

namespace heddle::formats::hdf5 {

namespace {

constexpr int sound = 0, unreadable = 1;  // how a probe ends

// What a probe may visit: a hostile file can link groups into cycles.
struct Budget {
  int parts = 1'000'000;
  int depth = 32;
};

// Asks for something that may be refused; only the attempt matters.
template <class Attempt>
void attempt(const Attempt& ask) {
  try {
    ask();
  } catch (const DataError&) {
  }
}

template <class T>
void read_outer_rows(const Dataset& dataset) {
  if (dataset.size() == 0) return;
  Index elements = dataset.dtype() == DType::text ? dataset.layout().text_width : 1;
  for (std::size_t i = 1; i < dataset.extents().size(); ++i) elements *= dataset.extents()[i];
  std::vector<T> row(static_cast<std::size_t>(elements));
  dataset.read(0, 1, std::span(row));
  if (!dataset.extents().empty()) dataset.read(dataset.extents()[0] - 1, 1, std::span(row));
}

void probe(const Dataset& dataset) {
  switch (dataset.dtype()) {
    case DType::int8:
      return read_outer_rows<std::int8_t>(dataset);
    case DType::int64:
      return read_outer_rows<std::int64_t>(dataset);
    case DType::uint16:
      return read_outer_rows<std::uint16_t>(dataset);
    case DType::uint32:
      return read_outer_rows<std::uint32_t>(dataset);
    case DType::uint64:
      return read_outer_rows<std::uint64_t>(dataset);
    case DType::bfloat16:
      return read_outer_rows<BFloat16>(dataset);
    case DType::float32:
      return read_outer_rows<float>(dataset);
    case DType::float64:
      return read_outer_rows<double>(dataset);
    case DType::text:
      return read_outer_rows<char>(dataset);
  }
}

// Throws DataError where a list cannot be read whole: nobody can tell then what is in it.
void probe(const Group& group, Budget& budget) {
  group.read_attributes();
  if (budget.depth == 0) return;
  --budget.depth;
  for (const std::string& name : group.names()) {
    if (budget.parts-- <= 0) break;
    std::optional<std::variant<Group, Dataset>> part;
    attempt([&] { part = group.part(name); });
    if (!part) continue;
    if (const auto* const inner = std::get_if<Group>(&*part)) {
      probe(*inner, budget);
    } else {
      std::get<Dataset>(*part).read_attributes();
      attempt([&] { probe(std::get<Dataset>(*part)); });
    }
  }
  ++budget.depth;
}

[[noreturn]] void probe_in_child(const std::function<Group()>& open) {
  constexpr rlim_t most_seconds = 60;  // of computing; waiting for a slow disk does not count
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU, SIGINT, SIGTERM, SIGHUP}) {
    ::signal(signal, SIG_DFL);
  }
  const rlimit time{most_seconds, most_seconds};
  ::setrlimit(RLIMIT_CPU, &time);
  ::prctl(PR_SET_DUMPABLE, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::mallopt(M_PERTURB, 0xA5);  // memory that was never set is no pointer
  int outcome = sound;
  try {
    Budget budget;
    probe(open(), budget);
  } catch (...) {
    outcome = unreadable;
  }
  ::_exit(outcome);
}

// Tells a file from others, and from what it was before.
using Identity = std::tuple<dev_t, ino_t, off_t, time_t, long>;

// None for a file that changed just now: the clock of file systems is coarse, so that it could change again unseen.
std::optional<Identity> identity(int descriptor) {
  constexpr time_t settled = 2;  // seconds
  struct stat file {};
  if (::fstat(descriptor, &file) != 0 || ::time(nullptr) < file.st_ctim.tv_sec + settled) return std::nullopt;
  return Identity(file.st_dev, file.st_ino, file.st_size, file.st_ctim.tv_sec, file.st_ctim.tv_nsec);
}

}  // namespace

bool probe_file(int descriptor, const std::string& name, const std::function<Group()>& open) {
  const Lock lock;  // so that no other thread is within HDF5 when its state is copied
  static std::map<Identity, bool> known;
  const std::optional<Identity> file = identity(descriptor);
  const auto found = file ? known.find(*file) : known.end();
  if (found != known.end()) return found->second;
  const pid_t child = ::fork();
  if (child < 0) return true;
  if (child == 0) {
    forget_lock();
    probe_in_child(open);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return true;
  }
  check<DataError>(WIFEXITED(status), name, ": HDF5 ", WTERMSIG(status) == SIGXCPU ? "hangs" : "crashes",
                   " when it reads this file. It is damaged, or made to do harm");
  const bool readable = WEXITSTATUS(status) == sound;
  if (file) known[*file] = readable;
  return readable;
}

}  // namespace heddle::formats::hdf5

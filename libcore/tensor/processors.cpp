#include "libcore/tensor/processors.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <memory>
#include <system_error>

#include "libcore/base/error.hpp"
#include "libcore/base/strings.hpp"

namespace heddle {

namespace {

// cpu.max of version 2: "150000 100000", or "max 100000".
double quota_of_version_2(const std::filesystem::path& group) {
  std::string allowed;
  double period = 0;
  std::ifstream file(group / "cpu.max");
  if (!(file >> allowed >> period) || allowed == "max" || period <= 0) return 0;
  return std::strtod(allowed.c_str(), nullptr) / period;
}

double quota_of_version_1(const std::filesystem::path& group) {
  double allowed = 0, period = 0;
  std::ifstream quota(group / "cpu.cfs_quota_us"), length(group / "cpu.cfs_period_us");
  return quota >> allowed && length >> period && allowed > 0 && period > 0 ? allowed / period : 0;
}

// Memory that a group may still allocate: the number in the file `limit` minus that in the file `used`. Version 1
// writes a number beyond any memory for no limit.
double left_of(const std::filesystem::path& group, const char* limit, const char* used) {
  constexpr double beyond_any = 1e18;
  double most = 0, now = 0;
  std::ifstream limit_file(group / limit), used_file(group / used);
  if (!(limit_file >> most) || most >= beyond_any || !(used_file >> now)) return 0;  // "max"
  return std::max(1.0, most - now);
}

// The least of what `of` says from the group up to the hierarchy's root, where 0 is nothing.
template <class Of>
double least(const std::filesystem::path& hierarchy, const std::filesystem::path& group, const Of& of) {
  double result = of(hierarchy);
  std::filesystem::path place = hierarchy;
  for (const std::filesystem::path& part : group.relative_path()) {
    place /= part;
    const double value = of(place);
    if (value > 0 && (result == 0 || value < result)) result = value;
  }
  return result;
}

// By version 2 of control groups where that says something, else by the controller of version 1.
template <class Second, class First>
double least_of_groups(const std::filesystem::path& root, const std::string& controller, const Second& of_version_2,
                       const First& of_version_1) {
  const std::filesystem::path groups = root / "sys/fs/cgroup";
  std::ifstream memberships(root / "proc/self/cgroup");
  std::string first, second;
  // "3:cpu,cpuacct:/job" of version 1, "0::/job" of version 2.
  for (std::string line; std::getline(memberships, line);) {
    const std::vector<std::string> fields = split(line, ':');
    if (fields.size() != 3) continue;
    const std::vector<std::string> controllers = split(fields[1], ',');
    if (fields[1].empty()) second = fields[2];
    if (std::ranges::find(controllers, controller) != controllers.end()) first = fields[2];
  }
  const double value = least(groups, second, of_version_2);
  return value > 0 ? value : least(groups / controller, first, of_version_1);
}

// Bytes of addresses that the process has left; 0 without a limit.
double left_of_addresses() {
  rlimit limit{};
  double pages = 0;
  std::ifstream used("/proc/self/statm");
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || !(used >> pages)) return 0;
  return std::max(1.0, static_cast<double>(limit.rlim_cur) - pages * static_cast<double>(sysconf(_SC_PAGESIZE)));
}

// The least of these that says something.
double least_known(std::initializer_list<double> limits) {
  double result = 0;
  for (const double limit : limits) result = limit > 0 && (result == 0 || limit < result) ? limit : result;
  return result;
}

}  // namespace

double control_group_quota(const std::string& root) {
  return least_of_groups(root, "cpu", quota_of_version_2, quota_of_version_1);
}

double available_memory(const std::string& root) {
  double bytes = 0;
  std::ifstream status(std::filesystem::path(root) / "proc/meminfo");
  for (std::string word; status >> word;) {
    double kilobytes = 0;
    if (word == "MemAvailable:" && status >> kilobytes) bytes = kilobytes * 1024;
  }
  const double group = least_of_groups(
      root, "memory", [](const auto& place) { return left_of(place, "memory.max", "memory.current"); },
      [](const auto& place) { return left_of(place, "memory.limit_in_bytes", "memory.usage_in_bytes"); });
  return least_known({bytes, group, left_of_addresses()});
}

int Processors::count() const {
  const int limit = quota > 0 ? static_cast<int>(std::min(std::ceil(quota), 1e6)) : affinity;
  return std::max(1, std::min(limit, affinity));
}

std::string Processors::reason() const {
  if (count() < affinity) return concatenate("the control group allows ", quota, " of ", affinity, " processors");
  if (affinity < online) return concatenate("the affinity mask allows ", affinity, " of ", online, " processors");
  return online == 1 ? "the only processor" : concatenate("all ", online, " processors");
}

int affinity_count() {
  // The kernel refuses masks that are shorter than its own, whose length is not known.
  constexpr int most = 1 << 20;
  for (int processors = 1024; processors <= most; processors *= 2) {
    const std::size_t bytes = CPU_ALLOC_SIZE(processors);
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> mask(CPU_ALLOC(processors),
                                                                [](cpu_set_t* set) { CPU_FREE(set); });
    if (mask == nullptr) return 1;
    if (sched_getaffinity(0, bytes, mask.get()) == 0) return std::max(1, CPU_COUNT_S(bytes, mask.get()));
    if (errno != EINVAL) return 1;
  }
  return 1;
}

DefaultThreads default_threads(int sharing) {
  const Processors available = processors();
  DefaultThreads result;
  for (const char* variable : {"OMP_NUM_THREADS", "SLURM_CPUS_PER_TASK"}) {
    const char* const text = std::getenv(variable);
    if (text == nullptr) continue;
    const std::string first = split(text, ',').front();
    int wanted = 0;
    const auto [end, error] = std::from_chars(first.data(), first.data() + first.size(), wanted);
    if (error != std::errc() || end != first.data() + first.size() || wanted < 1) {
      result.warnings.push_back(concatenate(variable, "='", text, "' is not a number of threads; ignored"));
      continue;
    }
    result.count = std::min(wanted, available.count());
    result.reason = wanted == result.count ? std::string(variable)
                                           : concatenate(variable, " = ", wanted, ", but ", available.reason());
    return result;
  }
  result.count = std::max(1, available.count() / sharing);
  result.reason = available.reason();
  if (sharing > 1) result.reason += concatenate(", divided by ", sharing, " processes");
  return result;
}

Processors processors() {
  Processors result;
  result.online = std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
  result.affinity = affinity_count();
  result.quota = control_group_quota();
  return result;
}

}  // namespace heddle

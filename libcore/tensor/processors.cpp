#include "heddle/tensor/processors.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "heddle/base/error.hpp"
#include "heddle/base/strings.hpp"

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

// The least quota from the group up to the hierarchy's root.
template <class QuotaOf>
double least_quota(const std::filesystem::path& hierarchy, const std::filesystem::path& group,
                   const QuotaOf& quota_of) {
  double least = quota_of(hierarchy);
  std::filesystem::path place = hierarchy;
  for (const std::filesystem::path& part : group.relative_path()) {
    place /= part;
    const double quota = quota_of(place);
    if (quota > 0 && (least == 0 || quota < least)) least = quota;
  }
  return least;
}

}  // namespace

double control_group_quota(const std::string& root) {
  const std::filesystem::path groups = std::filesystem::path(root) / "sys/fs/cgroup";
  std::ifstream memberships(std::filesystem::path(root) / "proc/self/cgroup");
  std::string of_version_1, of_version_2;
  // "3:cpu,cpuacct:/job" of version 1, "0::/job" of version 2.
  for (std::string line; std::getline(memberships, line);) {
    const std::vector<std::string> fields = split(line, ':');
    if (fields.size() != 3) continue;
    const std::vector<std::string> controllers = split(fields[1], ',');
    if (fields[1].empty()) of_version_2 = fields[2];
    if (std::ranges::find(controllers, "cpu") != controllers.end()) of_version_1 = fields[2];
  }
  const double second = least_quota(groups, of_version_2, quota_of_version_2);
  return second > 0 ? second : least_quota(groups / "cpu", of_version_1, quota_of_version_1);
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

Processors processors() {
  Processors result;
  result.online = std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
  cpu_set_t mask;
  result.affinity = sched_getaffinity(0, sizeof mask, &mask) == 0 ? std::max(1, CPU_COUNT(&mask)) : 1;
  result.quota = control_group_quota();
  return result;
}

}  // namespace heddle

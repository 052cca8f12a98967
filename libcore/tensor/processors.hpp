// How many processors this process may use.
#pragma once

#include <string>

namespace heddle {

struct Processors {
  int online = 1;    // of the machine
  int affinity = 1;  // that the affinity mask allows
  double quota = 0;  // CPU time per time that the control groups allow, in processors; 0 without a limit

  // At least 1; a quota counts rounded up.
  int count() const;
  // The reason for that number: "all 8 processors", "the affinity mask allows 2 of 8 processors", …
  std::string reason() const;
};

// The least quota of the process's own control group and of those around it, of either version, as the kernel reports
// in proc/self/cgroup and sys/fs/cgroup below `root`; 0 where there is none. A container may see its own group as the
// root.
double control_group_quota(const std::string& root = "/");

// Bytes that the process could still get: what the machine has left, cut by the memory limits of its control group and
// the groups above, read as above, and by the limit of its addresses (ulimit -v). 0 where nothing says.
double available_memory(const std::string& root = "/");

// The number of processors that the affinity mask allows; 1 if the kernel reports none.
int affinity_count();

Processors processors();

}  // namespace heddle

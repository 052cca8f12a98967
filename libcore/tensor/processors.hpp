// How many processors this process may use.
#pragma once

#include <string>
#include <vector>

namespace heddle {

struct Processors {
  int online = 1;    // processors of the machine
  int affinity = 1;  // processors in the affinity mask
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

// How many threads compute where a program does not choose, at most as many as there are processors.
struct DefaultThreads {
  int count = 1;
  std::string reason;                 // the variable that asks for them, or why there are so many processors
  std::vector<std::string> warnings;  // about variables that are not a number of threads
};

// The first number of OMP_NUM_THREADS (OpenMP allows one for each level of nesting), else SLURM_CPUS_PER_TASK, else the
// number of processors, divided by that of the processes that are to share them.
DefaultThreads default_threads(int sharing = 1);

}  // namespace heddle

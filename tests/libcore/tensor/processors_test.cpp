// How many processors a process may use, by what the kernel says of it.
#include "libcore/tensor/processors.hpp"

#include <doctest/doctest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tools/command.hpp"

using namespace heddle;
using heddle::testing::TemporaryFolder;
using heddle::testing::write_file;

namespace {

// A folder like the root of a machine, with these files.
class Machine {
 public:
  void tell(const std::string& name, const std::string& text) const {
    const std::string path = folder_ / name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    write_file(path, text);
  }
  double quota() const { return control_group_quota(folder_ / ""); }
  double memory() const { return available_memory(folder_ / ""); }

 private:
  TemporaryFolder folder_;
};

// How many processors the kernel knows and allows, where the test says so; 0 asks the kernel itself.
int pretended_processors = 0;

}  // namespace

// In place of the C library's.
extern "C" int sched_getaffinity(pid_t process, std::size_t bytes, cpu_set_t* mask) noexcept {
  std::memset(mask, 0, bytes);
  if (pretended_processors == 0) return ::syscall(SYS_sched_getaffinity, process, bytes, mask) < 0 ? -1 : 0;
  if (bytes * 8 < static_cast<std::size_t>(pretended_processors)) {
    errno = EINVAL;
    return -1;
  }
  for (int processor = 0; processor < pretended_processors; ++processor) CPU_SET_S(processor, bytes, mask);
  return 0;
}

TEST_CASE("processors: more than the 1,024 of a mask of fixed size are counted") {
  const int here = affinity_count();
  CHECK(here >= 1);
  for (const int processors : {1, 1024, 1025, 5000, 1 << 20}) {
    pretended_processors = processors;
    CHECK(affinity_count() == processors);
  }
  pretended_processors = 0;
  CHECK(affinity_count() == here);
}

TEST_CASE("processors: the least quota of a group and those around it counts") {
  const Machine machine;
  CHECK(machine.quota() == 0);
  machine.tell("proc/self/cgroup", "0::/slurm/job_7/step_0\n");
  CHECK(machine.quota() == 0);
  machine.tell("sys/fs/cgroup/slurm/job_7/cpu.max", "350000 100000\n");
  CHECK(machine.quota() == 3.5);
  machine.tell("sys/fs/cgroup/slurm/job_7/step_0/cpu.max", "max 100000\n");
  machine.tell("sys/fs/cgroup/slurm/job_8/cpu.max", "100000 100000\n");
  CHECK(machine.quota() == 3.5);
  machine.tell("sys/fs/cgroup/slurm/cpu.max", "200000 100000\n");
  CHECK(machine.quota() == 2);
}

TEST_CASE("processors: quotas of version 1, and of a container that sees its group as the root") {
  const Machine old;
  old.tell("proc/self/cgroup", "4:memory:/other\n3:cpu,cpuacct:/job\n0::/\n");
  old.tell("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "150000\n");
  old.tell("sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
  CHECK(old.quota() == 1.5);
  old.tell("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1\n");
  CHECK(old.quota() == 0);
  const Machine container;
  container.tell("proc/self/cgroup", "0::/docker/0123\n");
  container.tell("sys/fs/cgroup/cpu.max", "400000 100000\n");
  CHECK(container.quota() == 4);
  container.tell("sys/fs/cgroup/cpu.max", "nonsense\n");
  CHECK(container.quota() == 0);
}

TEST_CASE("processors: memory is what the machine and the control groups have left") {
  const Machine machine;
  CHECK(machine.memory() == 0);
  machine.tell("proc/meminfo", "MemTotal: 2000 kB\nMemAvailable:    1000 kB\n");
  CHECK(machine.memory() == 1024000);
  machine.tell("proc/self/cgroup", "0::/slurm/job_7\n");
  machine.tell("sys/fs/cgroup/slurm/job_7/memory.max", "max\n");
  machine.tell("sys/fs/cgroup/slurm/job_7/memory.current", "1000\n");
  CHECK(machine.memory() == 1024000);
  machine.tell("sys/fs/cgroup/slurm/memory.max", "50000\n");
  machine.tell("sys/fs/cgroup/slurm/memory.current", "20000\n");
  CHECK(machine.memory() == 30000);
  const Machine old;
  old.tell("proc/meminfo", "MemAvailable: 1000 kB\n");
  old.tell("proc/self/cgroup", "4:memory:/job\n3:cpu,cpuacct:/other\n");
  old.tell("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  old.tell("sys/fs/cgroup/memory/memory.usage_in_bytes", "7\n");
  CHECK(old.memory() == 1024000);
  old.tell("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "4000\n");
  old.tell("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "1000\n");
  CHECK(old.memory() == 3000);
}

TEST_CASE("processors: the count and its reason") {
  CHECK(Processors{8, 8, 0}.count() == 8);
  CHECK(Processors{8, 8, 0}.reason() == "all 8 processors");
  CHECK(Processors{8, 2, 0}.count() == 2);
  CHECK(Processors{8, 2, 0}.reason() == "the affinity mask allows 2 of 8 processors");
  CHECK(Processors{8, 4, 1.5}.count() == 2);
  CHECK(Processors{8, 4, 1.5}.reason() == "the control group allows 1.5 of 4 processors");
  CHECK(Processors{8, 4, 1e300}.count() == 4);
  CHECK(Processors{1, 1, 0.1}.count() == 1);
  CHECK(processors().count() >= 1);
}

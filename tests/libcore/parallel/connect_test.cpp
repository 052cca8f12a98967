#include "libcore/parallel/connect.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <map>

using namespace heddle::parallel;

namespace {

// The environment of a launcher, and nothing of others.
class LauncherVariables {
 public:
  explicit LauncherVariables(const std::map<std::string, std::string>& variables) {
    for (const char* const name : {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "PMI_SIZE", "PMI_RANK", "PMIX_RANK",
                                   "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", "SLURM_PROCID", "HEDDLE_RANKS"}) {
      if (const char* const value = std::getenv(name)) before_[name] = value;
      unsetenv(name);
      names_.push_back(name);
    }
    for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
  }
  ~LauncherVariables() {
    for (const std::string& name : names_) unsetenv(name.c_str());
    for (const auto& [name, value] : before_) setenv(name.c_str(), value.c_str(), 1);
  }

 private:
  std::vector<std::string> names_;
  std::map<std::string, std::string> before_;
};

}  // namespace

TEST_CASE("connect: launchers are recognised by their variables") {
  using Variables = std::map<std::string, std::string>;
  for (const Variables& variables :
       {Variables{}, Variables{{"OMPI_COMM_WORLD_SIZE", "1"}, {"OMPI_COMM_WORLD_RANK", "0"}, {"PMIX_RANK", "0"}},
        Variables{{"PMI_SIZE", "1"}, {"PMI_RANK", "0"}}, Variables{{"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "0"}},
        Variables{{"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_PROCID", "0"}},
        Variables{{"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_PROCID", "0"}, {"HEDDLE_RANKS", "1"}},
        Variables{{"OMPI_COMM_WORLD_SIZE", "many"}, {"OMPI_COMM_WORLD_RANK", "0"}}}) {
    const LauncherVariables scope(variables);
    CHECK_FALSE(launch());
    CHECK(connect()->is_alone());
  }
  for (const Variables& variables :
       {Variables{{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "3"}, {"PMIX_RANK", "3"}},
        Variables{{"PMI_SIZE", "4"}, {"PMI_RANK", "3"}},
        Variables{{"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_PROCID", "3"}}}) {
    const LauncherVariables scope(variables);
    REQUIRE(launch());
    CHECK(launch()->rank == 3);
    CHECK(launch()->size == 4);
  }
  const LauncherVariables scope(Variables{{"PMIX_RANK", "2"}});
  REQUIRE(launch());
  CHECK(launch()->rank == 2);
  CHECK_FALSE(launch()->size);
  CHECK(launch()->by == "PMIX_RANK=2");
}

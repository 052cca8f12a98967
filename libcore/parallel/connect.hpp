// Connects a process to the other ranks: by MPI, if a launcher started it as one of several.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "libcore/parallel/group.hpp"

namespace heddle::parallel {

// The launcher, according to the environment: Open MPI's and MPICH's mpirun, Slurm's srun, or PMIx, which has no
// variable for the number of ranks.
struct Launch {
  int rank = 0;
  std::optional<int> size;
  std::string by;  // "OMPI_COMM_WORLD_SIZE=2"
};

// Nothing for a process that was started alone.
std::optional<Launch> launch();

// The ranks that were started together; for a process that was started alone, alone(), without starting MPI. Throws
// DataError where there are others and this build has no MPI, or has another one than the launcher.
std::shared_ptr<const Group> connect();

}  // namespace heddle::parallel

// The ranks of a training run under mpirun or srun.
#pragma once

#include <memory>

#include "libcore/parallel/group.hpp"
#include "tools/cli/arguments.hpp"

namespace heddle {

// Joins the ranks that a launcher started, to be made first in a tool's main. From here on a rank that fails ends all
// of them, after its message and with its exit status; the first rank alone speaks, and ranks that are bound to the
// same processors share them. A process that was started alone is the only rank, and nothing happens. Throws as
// parallel::connect() does.
class Ranks {
 public:
  explicit Ranks(cli::Arguments& arguments);
  // Unless an exception is on its way: waits until all ranks are here.
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  const parallel::Group& group() const { return *group_; }

 private:
  std::shared_ptr<const parallel::Group> group_;
  int exceptions_;  // on their way when it was made
};

}  // namespace heddle

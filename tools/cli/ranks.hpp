// The ranks of a run under mpirun or srun.
#pragma once

#include <memory>
#include <optional>

#include "libcore/parallel/divided.hpp"
#include "tools/cli/arguments.hpp"

namespace heddle::cli {

// Division of work among ranks: in training, which says itself what each does; or on texts, whose answers they divide
// among themselves (parallel::Divided).
enum class RanksShare { training, answers };

// Joins the ranks that a launcher started, to be made first in a tool's main. From here on a rank that fails ends all
// of them, after its message and with its exit status; the first rank alone speaks and writes to standard output, and
// ranks that are bound to the same processors share them. A process that was started alone is the only rank, and
// nothing happens. Throws as parallel::connect() does, and DataError where
// ranks that divide answers were started with other commands.
class Ranks {
 public:
  explicit Ranks(Arguments& arguments, RanksShare share = RanksShare::training);
  // Unless an exception is on its way: waits until all ranks are here.
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  const parallel::Group& group() const { return *group_; }

 private:
  std::shared_ptr<const parallel::Group> group_;
  std::optional<parallel::Divided> divided_;
  int exceptions_;  // on their way when it was made
};

// Throws UsageError where a launcher has started several of a program whose ranks would each do all of its work.
void refuse_ranks(const About& about);

}  // namespace heddle::cli

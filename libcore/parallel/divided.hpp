// Work on many texts that ranks divide among themselves: every rank asks for the same results and gets all of them,
// each of which one rank computes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "libcore/parallel/group.hpp"
#include "libcore/parallel/packed.hpp"

namespace heddle::parallel {

// While it lives, this thread and those of the other ranks that have one, too, divide what can be divided. All must
// then do the same things in the same order. The group must outlive it.
class Divided {
 public:
  explicit Divided(const Group& group);
  ~Divided();
  Divided(const Divided&) = delete;
  Divided& operator=(const Divided&) = delete;

 private:
  const Group* before_;
};

// The ranks with which this thread divides work; alone() outside of every Divided.
const Group& dividing();

// Calls work(). Where it throws on a rank, all ranks throw what the first such rank did: that rank the same exception,
// the others a UsageError, DataError or NumericError, or else an Error with its message and exit status.
void together(const Group& group, const std::function<void()>& work);

// compute(own) puts the results at the places that `own` lists; then every rank gets those of all. Each place must be
// listed by one rank. Throws as together() does.
template <class Result>
void complete(const Group& group, std::vector<Result>& results, const std::vector<std::size_t>& own,
              const std::function<void()>& compute) {
  if (group.is_alone()) return compute();
  together(group, compute);
  Packer packer;
  for (const std::size_t place : own) {
    packer(place);
    packer(results[place]);
  }
  const std::vector<std::string> all = group.gather(packer.bytes());
  for (int rank = 0; rank < group.size(); ++rank) {
    if (rank == group.rank()) continue;
    for (Unpacker unpacker(all[static_cast<std::size_t>(rank)]); !unpacker.is_at_end();) {
      std::size_t place = 0;
      unpacker(place);
      unpacker(results[place]);
    }
  }
}

}  // namespace heddle::parallel

// Random numbers drawn one after the other from a stream.
#pragma once

#include <vector>

#include "libcore/base/random.hpp"
#include "libcore/base/real.hpp"

namespace heddle::symbolic {

class Draws {
 public:
  explicit Draws(const RandomStream& stream) : stream_(stream) {}

  Index below(Index bound) { return static_cast<Index>(stream_.below(next_++, static_cast<std::uint64_t>(bound))); }
  Index between(Index least, Index most) { return least + below(most - least + 1); }
  Index with_sign(Index value) { return below(2) == 0 ? value : -value; }
  // A subset of 0 to n - 1 with one element at least.
  std::vector<std::size_t> subset(std::size_t n) {
    std::vector<std::size_t> chosen;
    while (chosen.empty())
      for (std::size_t i = 0; i < n; ++i)
        if (below(2) == 0) chosen.push_back(i);
    return chosen;
  }

 private:
  RandomStream stream_;
  std::uint64_t next_ = 0;
};

}  // namespace heddle::symbolic

// The order in which training reads the windows of a token stream.
#pragma once

#include <cstdint>
#include <vector>

#include "libcore/data/token_source.hpp"

namespace heddle::data {

// An epoch reads every window of a part as often as the part's weight says, once by default, in a random
// order of all; a weight of 1.5 reads each window once and half of them twice, 0.5 one half in one epoch and the other
// in the next. The window of sample g is a function of (seed, g), so that training can be resumed anywhere at once.
class SampleOrder {
 public:
  // Windows of `width` tokens, `windows` in all; a window belongs to the part of its first token. Throws DataError
  // where an epoch reads no window of a part.
  SampleOrder(const TokenSource& tokens, Index windows, Index width, std::uint64_t seed);

  Index samples_per_epoch() const { return samples_; }
  struct Place {
    Index window, pass;  // the window, and the number of earlier passes over it
  };
  Place operator()(Index sample) const;

 private:
  struct Part {
    Index first, windows, samples;  // its windows, and how many of them an epoch reads
  };
  std::vector<Part> parts_;
  Index samples_ = 0;
  std::uint64_t seed_;
};

}  // namespace heddle::data

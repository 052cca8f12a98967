// Small files of each of heddle's kinds, for fuzzers to start from and for tests to damage.
#pragma once

#include <string>
#include <vector>

namespace heddle::fuzz {

struct Seed {
  std::string target;  // fuzz target that reads it
  std::string name;
  std::string bytes;
};

const std::vector<Seed>& hdf5_seeds();

}  // namespace heddle::fuzz

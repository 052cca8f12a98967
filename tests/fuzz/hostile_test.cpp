// HDF5 files that someone has changed on purpose: HDF5's checksums are taken for right, so that what they guard is
// read whatever it has become. HEDDLE_DAMAGE says how many changes to make to each file.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "fuzz/hdf5_checksums.hpp"
#include "fuzz/hdf5_seeds.hpp"
#include "fuzz/target.hpp"
#include "libcore/base/random.hpp"
#include "support/peak_memory.hpp"

using namespace heddle;

namespace {

// One byte or one word of it other than it was.
std::string changed(std::string bytes, const RandomStream& random) {
  constexpr std::size_t most_changed = 65'536;  // where HDF5's own structures are
  const std::size_t at = random.below(0, std::min(bytes.size(), most_changed));
  const auto value = static_cast<char>(random.below(1, 256));
  const std::size_t width = std::size_t{1} << random.below(2, 4);
  for (std::size_t i = at; i < std::min(at + width, bytes.size()); ++i) {
    bytes[i] = random.below(3, 2) == 0 ? static_cast<char>(bytes[i] ^ (1 << (value & 7))) : value;
  }
  return bytes;
}

void read_with_trust(const std::string& target, const std::string& bytes) {
  const fuzz::TrustedChecksums trusted;
#define HEDDLE_FUZZ_TARGET(name) \
  if (target == #name) fuzz::name(bytes);
#include "fuzz/targets.def"
#undef HEDDLE_FUZZ_TARGET
}

}  // namespace

TEST_CASE("hostile HDF5 files are read or refused") {
  const char* number = std::getenv("HEDDLE_DAMAGE");
  const int changes = number != nullptr ? std::atoi(number) : 200;
  for (const fuzz::Seed& seed : fuzz::hdf5_seeds()) {
    CAPTURE(seed.target);
    CAPTURE(seed.name);
    for (int i = 0; i < changes; ++i) {
      CAPTURE(i);
      const std::string bytes =
          changed(seed.bytes, RandomStream(static_cast<std::uint64_t>(i), random_site("hostile")));
      CHECK_NOTHROW(read_with_trust(seed.target, bytes));
    }
    const auto read_some = [&] {
      for (int i = 0; i < 20; ++i) {
        read_with_trust(seed.target,
                        changed(seed.bytes, RandomStream(static_cast<std::uint64_t>(i), random_site("memory"))));
      }
    };
    CHECK(testing::peak_memory(read_some) < 20 * seed.bytes.size() + (std::size_t{64} << 20));
  }
}

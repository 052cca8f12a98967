#include "fuzz/hdf5_checksums.hpp"

#include "formats/hdf5/lookup3.hpp"

namespace heddle {

namespace {

int trusting = 0;

}  // namespace

// In the place of the library's own function.
bool formats::hdf5::is_sound(std::span<const std::byte> bytes, std::uint32_t checksum) {
  return trusting > 0 || lookup3(bytes) == checksum;
}

fuzz::TrustedChecksums::TrustedChecksums() {
  ++trusting;
}
fuzz::TrustedChecksums::~TrustedChecksums() {
  --trusting;
}

}  // namespace heddle

// Whoever makes a hostile HDF5 file also makes its checksums right; whoever only flips bits never gets past them.
#pragma once

namespace heddle::fuzz {

// While it lives, HDF5 in this program takes the checksums of its own structures for right, whatever they are.
// (Heddle's checksums of elements stay what they are.)
class TrustedChecksums {
 public:
  TrustedChecksums();
  ~TrustedChecksums();
  TrustedChecksums(const TrustedChecksums&) = delete;
  TrustedChecksums& operator=(const TrustedChecksums&) = delete;
};

}  // namespace heddle::fuzz

// Whoever makes a hostile HDF5 file also makes its checksums right; whoever only flips bits never gets past them.
// Programs with this have a function in the place of hdf5/sound.cpp's.
#pragma once

namespace heddle::fuzz {

// While it lives, this program's reader takes the checksums of HDF5's structures for right, whatever they are.
// (Heddle's checksums of elements stay what they are.)
class TrustedChecksums {
 public:
  TrustedChecksums();
  ~TrustedChecksums();
  TrustedChecksums(const TrustedChecksums&) = delete;
  TrustedChecksums& operator=(const TrustedChecksums&) = delete;
};

}  // namespace heddle::fuzz

// HDF5's access to files: through descriptors that heddle opened. This takes no locks (which fail on some network file
// systems), lets weights be mapped from the very file that HDF5 reads, and survives full disks: HDF5 1.10 cannot close
// a file that it failed to write, so the driver reports success and keeps the first error.
#pragma once

#include <cstdint>

namespace heddle::formats::hdf5 {

// An open file; must outlive every HDF5 handle to it.
struct DriverFile {
  int descriptor = -1;
  int write_error = 0;  // errno of the first write that failed; nothing is written from then on
};

// Makes a file access property list use the file. Returns whether HDF5 accepted.
bool use_descriptor(std::int64_t access_properties, DriverFile& file);

}  // namespace heddle::formats::hdf5

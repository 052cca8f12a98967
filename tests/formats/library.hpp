// HDF5 files changed by the library itself, as other programs would, but in the structures of HDF5 1.10, which heddle
// writes and reads.
#pragma once

#include <doctest/doctest.h>
#include <hdf5.h>

#include <cstdlib>
#include <string>

namespace heddle::tests {

// Opens a file, calls change(file) and closes it.
template <class Change>
void change_by_library(const std::string& path, const Change& change) {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, access);
  REQUIRE(file >= 0);
  change(file);
  H5Fclose(file);
  H5Pclose(access);
}

// While it lives, files are read by the library.
struct Trust : formats::hdf5::TrustScope {
  Trust() : TrustScope(true) {}
};

}  // namespace heddle::tests

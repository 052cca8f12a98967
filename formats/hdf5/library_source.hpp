// Files that the user trusts, read by the HDF5 library: whatever its version can read and heddle can represent. Some
// files crash the library, so it must not read untrusted ones.
#pragma once

#include <memory>
#include <string>

#include "formats/files/descriptor.hpp"
#include "formats/hdf5/source.hpp"

namespace heddle::formats::hdf5 {

// The root group, as Reader::open() gives it. Throws DataError with HDF5's reason.
std::shared_ptr<const GroupSource> open_by_library(std::shared_ptr<const Descriptor> file, const std::string& name);

}  // namespace heddle::formats::hdf5

// Files that the user trusts, read by the HDF5 library: whatever its version understands, as far as it says something
// in heddle's terms. The library crashes on some files that were made to have it crash.
#pragma once

#include <memory>
#include <string>

#include "heddle/formats/files/descriptor.hpp"
#include "heddle/formats/hdf5/source.hpp"

namespace heddle::formats::hdf5 {

// The root group, as Reader::open() gives it. Throws DataError with HDF5's reason.
std::shared_ptr<const GroupSource> open_by_library(std::shared_ptr<const Descriptor> file, const std::string& name);

}  // namespace heddle::formats::hdf5

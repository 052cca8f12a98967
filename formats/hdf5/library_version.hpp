// The version of the HDF5 library.
#pragma once

#include <string>

namespace heddle::formats::hdf5 {

// "1.10.8". Loads the library; throws DataError where it is missing.
std::string library_version();

// Loads the library, for programs that will write a file after long work: a missing library is an error at once. Throws
// as above.
void prepare_to_write();

}  // namespace heddle::formats::hdf5

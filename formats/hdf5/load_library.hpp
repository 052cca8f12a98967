// Loads the HDF5 library, which programs are not linked with: loaded.hpp says why.
#pragma once

#include <string>

namespace heddle::formats::hdf5 {

// Loads the library if it is not. What reads by it or writes does so itself; programs that will write a file after long
// work call it first, so that a missing library is an error at once. Throws DataError where the library that heddle was
// built with is missing.
void load_library();

// "1.10.8". Loads the library, and throws as above.
std::string library_version();

}  // namespace heddle::formats::hdf5

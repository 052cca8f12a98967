// HDF5 1.10 itself crashes on some files that are damaged in a way its checksums do not show: made on purpose. A child
// process goes over a file before this one does, so that such a file is an error like others.
#pragma once

#include <functional>
#include <string>

#include "heddle/formats/hdf5.hpp"

namespace heddle::formats::hdf5 {

// Calls `open` for the root group of the file of that name, and visits all that heddle could ask for: every list
// and attribute, and the first and last row of every data set. Returns whether all lists could be read. Throws
// DataError where HDF5 crashed, or took more than a minute of a processor. Where the system gives no child process,
// or does not say how it ended, nothing is known and the answer is yes. What was found once is not looked for again
// while the file that the descriptor has open is as it was, unless it changed in the last two seconds.
bool probe_file(int descriptor, const std::string& name, const std::function<Group()>& open);

}  // namespace heddle::formats::hdf5

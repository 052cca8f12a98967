// The HDF5 library, loaded when a file is written or a trusted one is read: with all that Debian's build of it depends
// on (network protocols, encryption), it takes longer to load than everything else that a tool needs. In this namespace
// its functions and ids are what load_library() loaded, so that code which uses them looks as it would elsewhere; a
// Lock (library.hpp) calls it first.
#pragma once

#include <hdf5.h>

namespace heddle::formats::hdf5 {

// The value of a variable of the library.
class LoadedId {
 public:
  LoadedId() = default;
  explicit LoadedId(const hid_t* variable) : variable_(variable) {}
  operator hid_t() const { return *variable_; }

 private:
  const hid_t* variable_ = nullptr;
};

#define HEDDLE_HDF5_FUNCTION(name) extern decltype(&::name) name;
#define HEDDLE_HDF5_ID(name) extern LoadedId name;
#include "formats/hdf5/loaded_names.def"

}  // namespace heddle::formats::hdf5

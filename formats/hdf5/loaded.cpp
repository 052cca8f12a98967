#include "formats/hdf5/loaded.hpp"

#include <dlfcn.h>

#include <string>

#include "formats/hdf5/load_library.hpp"
#include "libcore/base/error.hpp"

namespace heddle::formats::hdf5 {

#define HEDDLE_HDF5_FUNCTION(name) decltype(&::name) name = nullptr;
#define HEDDLE_HDF5_ID(name) LoadedId name;
#include "formats/hdf5/loaded_names.def"

namespace {

// The library of the program, if that is linked with one: it has copies of the library's variables. Otherwise by its
// name, as the system's loader finds it, or where it was when heddle was built.
void* open_library() {
  if (::dlsym(RTLD_DEFAULT, "H5open") != nullptr) return RTLD_DEFAULT;
  void* library = ::dlopen(HEDDLE_HDF5_NAME, RTLD_LAZY);
  if (library == nullptr) library = ::dlopen(HEDDLE_HDF5_PATH, RTLD_LAZY);
  if (library == nullptr) throw DataError(concatenate("cannot load the HDF5 library: ", ::dlerror()));
  return library;
}

template <class Symbol>
Symbol* find(void* library, const char* name) {
  void* const symbol = ::dlsym(library, name);
  check<DataError>(symbol != nullptr, "cannot use the HDF5 library " HEDDLE_HDF5_NAME ", which has no ", name);
  return reinterpret_cast<Symbol*>(symbol);
}

bool load() {
  void* const library = open_library();  // stays open
#define HEDDLE_TEXT(name) #name
#define HEDDLE_HDF5_FUNCTION(name) name = find<decltype(::name)>(library, HEDDLE_TEXT(name));
#define HEDDLE_HDF5_ID(name) name = LoadedId(find<const hid_t>(library, HEDDLE_TEXT(name)));
#include "formats/hdf5/loaded_names.def"
#undef HEDDLE_TEXT
  return true;
}

}  // namespace

void load_library() {
  static const bool loaded = load();
  static_cast<void>(loaded);
}

std::string library_version() {
  load_library();
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  return concatenate(major, ".", minor, ".", release);
}

}  // namespace heddle::formats::hdf5

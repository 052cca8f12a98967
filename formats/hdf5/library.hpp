// Helpers for the sources that call the HDF5 library; only they include this.
#pragma once

#include <hdf5.h>

#include <initializer_list>
#include <mutex>
#include <string>
#include <utility>

#include "formats/hdf5/handle.hpp"
#include "formats/hdf5/stored_type.hpp"
#include "libcore/base/error.hpp"

namespace heddle::formats::hdf5 {

static_assert(sizeof(hid_t) == sizeof(std::int64_t), "heddle needs HDF5 1.10 or newer");

inline constexpr double chunk_preemption = 0.75;  // preemption policy of the chunk cache: HDF5's own default

// Locks HDF5 for this thread, and keeps it from printing its errors and from loading filters as plugins.
class Lock {
 public:
  Lock();

 private:
  std::lock_guard<std::recursive_mutex> guard_;
};

// Throw DataError "WHERE: cannot ATTEMPT: REASON", the reason being the most specific entry of HDF5's error stack;
// reading adds the likely cause.
[[noreturn]] void fail_reading(const std::string& where, const std::string& attempt);
[[noreturn]] void fail_writing(const std::string& where, const std::string& attempt);

inline Handle reading(hid_t id, const std::string& where, const char* attempt) {
  if (id < 0) fail_reading(where, attempt);
  return Handle(id);
}
inline Handle writing(hid_t id, const std::string& where, const char* attempt) {
  if (id < 0) fail_writing(where, attempt);
  return Handle(id);
}

// For calls that only prepare another: throws DataError unless each of them worked.
void require(std::initializer_list<herr_t> statuses, const std::string& where);

// The type of an element, in the file and in memory.
Handle stored_dtype(DType dtype, Index text_width = 0);
// A text type of that width, which has room for a final NUL.
Handle text_type(Index width);
// The type that h5py writes and reads for Python's bool.
Handle boolean_type();

// The file's space with the rows selected, and the memory's. The rows exist.
std::pair<Handle, Handle> select_rows(const Handle& dataset, const DatasetLayout& layout, Index first, Index count,
                                      const std::string& where);

}  // namespace heddle::formats::hdf5

// What the sources that call HDF5 share; included by them alone.
#pragma once

#include <hdf5.h>

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <mutex>
#include <string>
#include <string_view>

#include "heddle/base/strings.hpp"
#include "heddle/formats/hdf5.hpp"

namespace heddle::formats::hdf5 {

static_assert(sizeof(hid_t) == sizeof(std::int64_t), "heddle needs HDF5 1.10 or newer");

// Holds HDF5 for this thread, and keeps it from printing its errors or loading filters from elsewhere.
class Lock {
 public:
  Lock();

 private:
  std::lock_guard<std::recursive_mutex> guard_;
};

// In a child process, which has the lock as it was when its parent forked, and no thread that could release it.
void forget_lock();

// The most specific entry of HDF5's error stack.
std::string last_reason();

// Throw DataError "WHERE: cannot ATTEMPT: REASON"; reading adds the likely cause.
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
Handle element_type(DType dtype, Index text_width = 0);
// A text type of that width, which has room for a final NUL.
Handle text_type(Index width);

// The layout of a data set in a file of that size, once it is sure to be of the kind that heddle writes.
DatasetLayout examine(const Handle& dataset, const std::string& where, Index file_size);

// UTF-8 without NUL: what text in a file may be.
inline bool is_text(std::string_view text) {
  return is_utf8(text) && text.find('\0') == std::string_view::npos;
}

// What parts of a file and attributes are called: text that messages can show.
inline bool is_name(std::string_view name) {
  return is_text(name) &&
         std::ranges::none_of(name, [](char letter) { return std::iscntrl(static_cast<unsigned char>(letter)) != 0; });
}

}  // namespace heddle::formats::hdf5

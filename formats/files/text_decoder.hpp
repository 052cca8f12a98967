// Text in other encodings as UTF-8, piece by piece, by iconv(3) of the C library.
#pragma once

#include <iconv.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "libcore/base/real.hpp"

namespace heddle::formats {

class TextDecoder {
 public:
  // `file` is for messages. Throws UsageError for an encoding that the system does not know.
  TextDecoder(std::string file, const std::string& encoding);
  ~TextDecoder();
  TextDecoder(const TextDecoder&) = delete;
  TextDecoder& operator=(const TextDecoder&) = delete;

  // UTF-8 of the next bytes, cut anywhere. Throws DataError, "FILE:LINE: …", for bytes that are no text in the
  // encoding.
  std::string add(std::string_view bytes);
  // The same at the end. Throws DataError for an incomplete character.
  std::string finish();

 private:
  std::string convert(char** bytes, std::size_t* left);
  [[noreturn]] void fail() const;

  std::string file_, encoding_;
  iconv_t converter_{};
  bool has_order_ = false;  // byte order of UTF-16 is known
  std::string rest_;        // bytes not converted yet
  Index line_ = 1;
};

// Throws UsageError for a name that is none that the system knows.
void check_encoding(const std::string& name);

}  // namespace heddle::formats

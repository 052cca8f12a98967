// Errors at a position in a text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "libcore/base/error.hpp"
#include "libcore/base/real.hpp"

namespace heddle::text {

// A place in a text: line and byte in the line, both from 1.
struct TextPosition {
  Index line = 1;
  Index byte = 1;

  // Moves past the text that follows.
  void advance(std::string_view text);
  // Moves by what lies before `relative` in the text that follows.
  void advance(const TextPosition& relative);
};

// A tokenizer has no token for what is at a position; what() is "LINE:BYTE: reason", so that "FILE:" fits before it.
class TextError : public DataError {
 public:
  TextError(const TextPosition& position, const std::string& reason)
      : DataError(concatenate(position.line, ":", position.byte, ": ", reason)), position_(position), reason_(reason) {}
  const TextPosition& position() const { return position_; }
  const std::string& reason() const { return reason_; }

 private:
  TextPosition position_;
  std::string reason_;
};

// No token stands for the text at an offset.
struct NoToken : DataError {
  NoToken(std::size_t at, const std::string& reason) : DataError(reason), offset(at) {}
  std::size_t offset;
};

}  // namespace heddle::text

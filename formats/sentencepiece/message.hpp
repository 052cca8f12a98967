// A message of protocol buffers from a stranger: fields, one after the other, each with a number and a value, which may
// be a message itself. Nothing is copied or allocated.
// Source: the documentation of protocol buffers, "Encoding".
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::formats {

class Message {
 public:
  enum class Wire : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

  // A field's value, read by what it is expected to be; other forms are refused. Throws DataError "FILE: at byte N: …".
  class Field {
   public:
    std::uint32_t number() const { return number_; }
    std::string_view bytes() const;
    std::string_view text() const;  // UTF-8
    std::int32_t int32() const;
    bool flag() const;
    float real() const;
    Message message() const;
    [[noreturn]] void refuse(const std::string& problem) const;

   private:
    friend class Message;
    const Message* in_;
    std::uint32_t number_;
    Wire wire_;
    std::uint64_t value_;     // set for numbers
    std::string_view bytes_;  // set for other types
    std::size_t at_;          // offset in the message
  };

  // `file` is for messages of errors; `at` is where in the file the bytes begin.
  Message(std::string_view bytes, const std::string& file, std::size_t at = 0) : bytes_(bytes), file_(&file), at_(at) {}

  std::size_t at() const { return at_; }

  // Calls take(field) for each field in order. Throws DataError for what is not a message.
  void for_each(const std::function<void(const Field&)>& take) const;

 private:
  std::uint64_t varint(std::size_t& at) const;
  Field read(std::size_t& at) const;
  [[noreturn]] void refuse(std::size_t at, const std::string& problem) const;

  std::string_view bytes_;
  const std::string* file_;
  std::size_t at_;
};

// The value of a field that a message has at most once.
template <class T>
class Single {
 public:
  // Throws DataError if there was one before.
  void set(const Message::Field& field, T value) {
    if (value_) field.refuse("the field must not repeat");
    value_ = std::move(value);
  }
  T value_or(T absent) const { return value_.value_or(absent); }

 private:
  std::optional<T> value_;
};

}  // namespace heddle::formats

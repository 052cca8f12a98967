// Values as bytes, for other ranks of the same run: numbers and structs of them, vectors, and structs whose parts()
// is a tuple of references to such values.
#pragma once

#include <cstring>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "libcore/base/real.hpp"

namespace heddle::parallel {

class Packer {
 public:
  template <class T>
  void operator()(const T& value) {
    if constexpr (std::is_trivially_copyable_v<T>) {
      bytes_.append(reinterpret_cast<const char*>(&value), sizeof(T));
    } else if constexpr (requires { value.parts(); }) {
      std::apply([this](const auto&... parts) { ((*this)(parts), ...); }, value.parts());
    } else {
      (*this)(std::ssize(value));
      for (const auto& element : value) (*this)(element);
    }
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// Reads what a Packer has written, in the same order. The bytes must outlive it.
class Unpacker {
 public:
  explicit Unpacker(const std::string& bytes) : next_(bytes.data()), end_(next_ + bytes.size()) {}

  bool is_at_end() const { return next_ == end_; }
  template <class T>
  void operator()(T& value) {
    if constexpr (std::is_trivially_copyable_v<T>) {
      std::memcpy(&value, next_, sizeof(T));
      next_ += sizeof(T);
    } else if constexpr (requires { value.parts(); }) {
      std::apply([this](auto&... parts) { ((*this)(parts), ...); }, value.parts());
    } else {
      std::ptrdiff_t count = 0;
      (*this)(count);
      value.resize(static_cast<std::size_t>(count));
      for (auto& element : value) (*this)(element);
    }
  }

 private:
  const char* next_;
  const char* end_;
};

}  // namespace heddle::parallel

// A set of different byte strings, numbered in the order in which they came: 0, 1, 2, …
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::text {

class StringTable {
 public:
  struct Added {
    std::size_t index;
    bool is_new;
  };
  // The number of the string, which is the next free one if it is new.
  Added add(std::string_view text);
  std::optional<std::size_t> find(std::string_view text) const;

  std::size_t size() const { return ends_.size() - 1; }
  std::string_view operator[](std::size_t index) const {
    return std::string_view(bytes_).substr(ends_[index], ends_[index + 1] - ends_[index]);
  }

 private:
  // Open addressing: a slot holds a string's number plus 1, or 0, and the upper half of the string's hash.
  struct Slot {
    std::uint32_t number = 0;
    std::uint32_t tag = 0;
  };
  std::size_t slot_of(std::string_view text, std::uint64_t hash) const;
  void grow();

  std::string bytes_;
  std::vector<std::size_t> ends_ = {0};
  std::vector<Slot> slots_ = std::vector<Slot>(64);
};

}  // namespace heddle::text

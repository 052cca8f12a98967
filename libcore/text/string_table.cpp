#include "libcore/text/string_table.hpp"

#include <functional>
#include <limits>
#include <utility>

#include "libcore/base/error.hpp"

namespace heddle::text {

namespace {

std::uint64_t hash_of(std::string_view text) {
  return std::hash<std::string_view>{}(text);
}

std::uint32_t tag_of(std::uint64_t hash) {
  return static_cast<std::uint32_t>(hash >> 32);
}

}  // namespace

// The slot that holds the text, or the empty one where it belongs.
std::size_t StringTable::slot_of(std::string_view text, std::uint64_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  while (slots_[at].number != 0 && !(slots_[at].tag == tag_of(hash) && (*this)[slots_[at].number - 1] == text)) {
    at = (at + 1) & mask;
  }
  return at;
}

std::optional<std::size_t> StringTable::find(std::string_view text) const {
  const std::uint32_t number = slots_[slot_of(text, hash_of(text))].number;
  return number == 0 ? std::nullopt : std::optional<std::size_t>(number - 1);
}

StringTable::Added StringTable::add(std::string_view text) {
  const std::uint64_t hash = hash_of(text);
  std::size_t at = slot_of(text, hash);
  if (slots_[at].number != 0) return {slots_[at].number - 1, false};
  check<DataError>(size() < std::numeric_limits<std::uint32_t>::max(), "more than ", size(), " different strings");
  if (2 * (size() + 1) > slots_.size()) {
    grow();
    at = slot_of(text, hash);
  }
  bytes_ += text;
  ends_.push_back(bytes_.size());
  slots_[at] = {static_cast<std::uint32_t>(size()), tag_of(hash)};
  return {size() - 1, true};
}

void StringTable::grow() {
  const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(2 * slots_.size()));
  for (const Slot& slot : old) {
    if (slot.number == 0) continue;
    const std::string_view text = (*this)[slot.number - 1];
    slots_[slot_of(text, hash_of(text))] = slot;
  }
}

}  // namespace heddle::text

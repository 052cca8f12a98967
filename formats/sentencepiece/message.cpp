#include "formats/sentencepiece/message.hpp"

#include <bit>

#include "libcore/base/error.hpp"
#include "libcore/base/strings.hpp"

namespace heddle::formats {

void Message::refuse(std::size_t at, const std::string& problem) const {
  throw DataError(concatenate(*file_, ": at byte ", at_ + at, ": ", problem));
}

// Each byte has seven bits, the lowest first; its highest bit says that another byte follows.
std::uint64_t Message::varint(std::size_t& at) const {
  const std::size_t begin = at;
  std::uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    if (at >= bytes_.size()) refuse(begin, "the file ends within a number");
    const auto byte = static_cast<unsigned char>(bytes_[at++]);
    if (shift == 63 && byte > 1) refuse(begin, "a number of more than 64 bits");
    value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if (byte >= 0x80) continue;
    if (byte == 0 && shift > 0) refuse(begin, "a number with more bytes than it needs");
    return value;
  }
}

Message::Field Message::read(std::size_t& at) const {
  Field field;
  field.in_ = this;
  field.at_ = at;
  const std::uint64_t key = varint(at);
  constexpr std::uint64_t most_fields = (1u << 29) - 1;
  if (key >> 3 == 0 || key >> 3 > most_fields) refuse(field.at_, "a field whose number is out of range");
  field.number_ = static_cast<std::uint32_t>(key >> 3);
  field.wire_ = static_cast<Wire>(key & 7);
  std::uint64_t size = 0;
  switch (field.wire_) {
    case Wire::varint:
      field.value_ = varint(at);
      return field;
    case Wire::fixed64:
      size = 8;
      break;
    case Wire::fixed32:
      size = 4;
      break;
    case Wire::bytes:
      size = varint(at);
      break;
    default:
      refuse(field.at_, concatenate("a field of the unknown form ", key & 7));
  }
  if (size > bytes_.size() - at) {
    refuse(field.at_, concatenate("a field of ", size, " bytes, and ", bytes_.size() - at, " are left"));
  }
  field.bytes_ = bytes_.substr(at, size);
  at += size;
  if (field.wire_ != Wire::bytes) {
    field.value_ = 0;
    for (std::size_t i = size; i-- > 0;) {
      field.value_ = field.value_ << 8 | static_cast<unsigned char>(field.bytes_[i]);
    }
  }
  return field;
}

void Message::for_each(const std::function<void(const Field&)>& take) const {
  for (std::size_t at = 0; at < bytes_.size();) take(read(at));
}

void Message::Field::refuse(const std::string& problem) const {
  in_->refuse(at_, problem);
}

std::string_view Message::Field::bytes() const {
  if (wire_ != Wire::bytes) refuse(concatenate("field ", number_, " is a number, not text"));
  return bytes_;
}

std::string_view Message::Field::text() const {
  if (!is_utf8(bytes())) refuse(concatenate("field ", number_, " is not UTF-8"));
  return bytes_;
}

std::int32_t Message::Field::int32() const {
  if (wire_ != Wire::varint) refuse(concatenate("field ", number_, " is not a whole number"));
  const auto value = static_cast<std::int64_t>(value_);  // negative ones have 64 bits
  if (value != static_cast<std::int32_t>(value)) refuse(concatenate("field ", number_, " is out of range"));
  return static_cast<std::int32_t>(value);
}

bool Message::Field::flag() const {
  if (wire_ != Wire::varint || value_ > 1) refuse(concatenate("field ", number_, " is neither true nor false"));
  return value_ == 1;
}

float Message::Field::real() const {
  if (wire_ != Wire::fixed32) refuse(concatenate("field ", number_, " is not a number of 32 bits"));
  return std::bit_cast<float>(static_cast<std::uint32_t>(value_));
}

Message Message::Field::message() const {
  const std::string_view inner = bytes();
  return {inner, *in_->file_, in_->at_ + static_cast<std::size_t>(inner.data() - in_->bytes_.data())};
}

}  // namespace heddle::formats

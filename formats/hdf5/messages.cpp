#include "formats/hdf5/messages.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "libcore/base/error.hpp"

namespace heddle::formats::hdf5 {

namespace {

constexpr unsigned enumeration_class = 8, text_class = 3;

// A number as the file describes it: class, flags, bytes, and then the properties of its class.
struct NumberType {
  DType dtype;
  unsigned type_class;  // 0: whole, 1: floating-point
  std::uint64_t flags;  // little-endian; whether there is a sign, or where it is
  std::uint64_t width;
  std::array<unsigned char, 12> properties;  // whole numbers use the first four
};

constexpr std::array numbers{
    NumberType{DType::int8, 0, 0x08, 1, {0, 0, 8, 0}},
    NumberType{DType::int64, 0, 0x08, 8, {0, 0, 64, 0}},
    NumberType{DType::uint16, 0, 0x00, 2, {0, 0, 16, 0}},
    NumberType{DType::uint32, 0, 0x00, 4, {0, 0, 32, 0}},
    NumberType{DType::uint64, 0, 0x00, 8, {0, 0, 64, 0}},
    // First bit and number of bits; place and size of exponent and fraction; the exponent of 1.
    NumberType{DType::bfloat16, 1, 0x0f20, 2, {0, 0, 16, 0, 7, 8, 0, 7, 127, 0, 0, 0}},
    NumberType{DType::float32, 1, 0x1f20, 4, {0, 0, 32, 0, 23, 8, 0, 23, 127, 0, 0, 0}},
    NumberType{DType::float64, 1, 0x3f20, 8, {0, 0, 64, 0, 52, 11, 0, 52, 0xff, 3, 0, 0}},
};

bool is_of(const NumberType& type, Bytes properties) {
  const std::size_t count = type.type_class == 0 ? 4 : type.properties.size();
  return properties.size() >= count && std::memcmp(properties.data(), type.properties.data(), count) == 0;
}

// The part of an enumeration after its prefix: the type of its numbers, names, numbers.
bool is_boolean(Cursor cursor, std::uint64_t members, unsigned version) {
  const NumberType& base = numbers[0];
  constexpr std::uint64_t aligned = 8;
  const unsigned type_class = cursor.byte() & 15;
  const std::uint64_t flags = cursor.number(3), width = cursor.number(4);
  if (members != 2 || type_class != base.type_class || flags != base.flags || width != base.width) return false;
  if (!is_of(base, cursor.take(4))) return false;
  for (const std::string_view name : {"FALSE", "TRUE"}) {
    if (cursor.text_until_nul() != name) return false;
    if (version < 3) cursor.take((aligned - (name.size() + 1) % aligned) % aligned);
  }
  return cursor.byte() == 0 && cursor.byte() == 1;
}

bool is_plain_text(std::uint64_t flags) {
  constexpr std::uint64_t filled_with_nul = 1, utf8 = 1;
  return (flags & 15) <= filled_with_nul && (flags >> 4) <= utf8;
}

std::string text_until_nul(Bytes bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return std::string(text.substr(0, text.find('\0')));
}

// The value of an attribute that is a single element.
decltype(Attribute::value) value_of(const Datatype& type, Bytes bytes) {
  using Kind = Datatype::Kind;
  if (type.kind == Kind::boolean) {
    if (bytes[0] > std::byte{1}) return Attribute::Unreadable{"is not true or false"};
    return bytes[0] == std::byte{1};
  }
  if (type.kind == Kind::text) {
    std::string text = text_until_nul(bytes);
    if (!is_text(text)) return Attribute::Unreadable{"is not UTF-8 text"};
    return text;
  }
  std::array<std::byte, 8> eight{};
  if (type.kind == Kind::number && (type.dtype == DType::int64 || type.dtype == DType::float64)) {
    std::copy_n(bytes.begin(), eight.size(), eight.begin());
    if (type.dtype == DType::int64) return std::bit_cast<Index>(eight);
    return std::bit_cast<double>(eight);
  }
  return Attribute::Unreadable{"is of a type that heddle does not write"};
}

Index number_of_elements(const std::vector<Index>& extents, const std::string& where) {
  return bytes_of({.dtype = DType::int8, .extents = extents}, where);
}

}  // namespace

std::vector<Index> read_extents(Bytes message, const std::string& where) {
  constexpr unsigned has_limits = 1, simple = 1, most_dimensions = 32;
  Cursor cursor(message, where);
  cursor.expect_version(2, "a shape of version");
  const unsigned rank = cursor.byte(), flags = cursor.byte(), kind = cursor.byte();
  if (kind > simple) fail_foreign(where, "elements without a shape");
  if (rank > most_dimensions || (kind < simple && rank > 0)) fail_damaged(where, "impossible shape");
  std::vector<Index> extents;
  for (unsigned i = 0; i < rank; ++i) extents.push_back(static_cast<Index>(cursor.number(8)));
  if (flags & has_limits) cursor.take(8 * rank);
  number_of_elements(extents, where);
  return extents;
}

Datatype read_datatype(Bytes message, const std::string& where) {
  using Kind = Datatype::Kind;
  constexpr unsigned newest_version = 3;
  Cursor cursor(message, where);
  const unsigned first = cursor.byte(), type_class = first & 15, version = first >> 4;
  const std::uint64_t flags = cursor.number(3), width = cursor.number(4);
  Datatype type{.width = static_cast<Index>(width)};
  if (width == 0) fail_damaged(where, "elements of no width");
  if (version < 1 || version > newest_version) fail_foreign(where, concatenate("a type of version ", version));
  if (type_class == text_class && is_plain_text(flags)) type.kind = Kind::text;
  if (type_class == enumeration_class && width == 1 && is_boolean(cursor, flags, version)) type.kind = Kind::boolean;
  const Bytes properties = cursor.take(cursor.left());
  const auto found = std::ranges::find_if(numbers, [&](const NumberType& one) {
    return one.type_class == type_class && one.flags == flags && one.width == width && is_of(one, properties);
  });
  if (found != numbers.end()) {
    type.kind = Kind::number;
    type.dtype = found->dtype;
  }
  return type;
}

namespace {

// Chunks of whole rows, with an index that can grow in their number. The last dimension of a chunk is the element.
StoragePlace read_chunked(Cursor cursor, const Datatype& element) {
  const std::string& where = cursor.where();
  constexpr unsigned extensible_array = 4, filtered_single_chunk = 2;
  const unsigned flags = cursor.byte(), dimensions = cursor.byte(), width = cursor.byte();
  if (dimensions < 2 || dimensions > 3) fail_foreign(where, "chunks of several dimensions");
  if (width < 1 || width > 8) fail_damaged(where, "impossible shape of chunks");
  StoragePlace place{.chunk = static_cast<Index>(cursor.number(width))};
  if (dimensions == 3) place.chunk_columns = static_cast<Index>(cursor.number(width));
  if (cursor.number(width) != static_cast<std::uint64_t>(element.width) || place.chunk <= 0 ||
      (dimensions == 3 && place.chunk_columns <= 0)) {
    fail_damaged(where, "impossible shape of chunks");
  }
  const unsigned index = cursor.byte();
  if (index != extensible_array || (flags & filtered_single_chunk)) {
    fail_foreign(where, concatenate("chunks with an index of type ", index));
  }
  // Constants of the library: bits of a chunk's number; elements in the index block; minimum pointers of a secondary
  // block; minimum elements of a data block; bits of an element's place in a page.
  constexpr std::uint64_t usual = 0x0a10040420;
  if (cursor.number(5) != usual) fail_foreign(where, "chunks with an index of unusual proportions");
  place.address = cursor.address();
  return place;
}

}  // namespace

StoragePlace read_storage(Bytes message, const Datatype& element, const std::string& where) {
  constexpr unsigned contiguous = 1, chunked = 2;
  Cursor cursor(message, where);
  const unsigned version = cursor.byte();
  if (version != 3 && version != 4) fail_foreign(where, concatenate("a layout of version ", version));
  const unsigned kind = cursor.byte();
  if (kind == chunked && version == 3) fail_foreign(where, "chunks with an index of HDF5 1.8");
  if (kind == chunked) return read_chunked(cursor, element);
  check<DataError>(kind == contiguous, where, ": stored in a way that heddle does not use");
  StoragePlace place;
  place.address = cursor.address();
  place.size = static_cast<Index>(cursor.number(8));
  return place;
}

Filters read_filters(Bytes message, const std::string& where) {
  constexpr std::uint64_t deflate = 1, shuffle = 2;
  Cursor cursor(message, where);
  cursor.expect_version(2, "filters of version");
  const unsigned count = cursor.byte();
  Filters filters;
  for (unsigned i = 0; i < count; ++i) {
    const std::uint64_t filter = cursor.number(2);
    const bool is_known = (filter == shuffle && i == 0) || (filter == deflate && i + 1 == count && i < 2);
    check<DataError>(is_known, where, ": stored with a filter that heddle does not use");
    (filter == shuffle ? filters.shuffle : filters.deflate) = true;
    cursor.take(2);  // flags
    cursor.take(4 * cursor.number(2));
  }
  return filters;
}

Link read_link(Bytes message, const std::string& where) {
  constexpr unsigned width_of_length = 3, has_order = 4, has_kind = 8, has_encoding = 16;
  Cursor cursor(message, where);
  cursor.expect_version(1, "a link of version");
  const unsigned flags = cursor.byte();
  Link link;
  if (flags & has_kind) link.is_hard = cursor.byte() == 0;
  if (flags & has_order) link.order = cursor.number(8);
  if (flags & has_encoding) cursor.take(1);
  link.name = cursor.text(cursor.number(std::uint64_t{1} << (flags & width_of_length)));
  if (!is_name(link.name)) fail_damaged(where, "has a part with an unprintable name");
  if (link.is_hard) link.address = cursor.address();
  return link;
}

Attribute read_attribute(Bytes message, const std::string& where) {
  Cursor cursor(message, where);
  cursor.expect_version(3, "an attribute of version");
  if (cursor.byte() != 0) fail_foreign(where, "an attribute of a type that objects share");
  const std::uint64_t name_width = cursor.number(2), type_width = cursor.number(2), shape_width = cursor.number(2);
  cursor.take(1);  // encoding of the name
  Attribute attribute;
  attribute.name = cursor.text(name_width);
  if (!attribute.name.empty() && attribute.name.back() == '\0') attribute.name.pop_back();
  const Datatype type = read_datatype(cursor.take(type_width), where);
  const Index count = number_of_elements(read_extents(cursor.take(shape_width), where), where);
  if (count == 1) {
    attribute.value = value_of(type, cursor.take(static_cast<std::uint64_t>(type.width)));
  } else {
    attribute.value = Attribute::Unreadable{"is not a single value"};
  }
  return attribute;
}

namespace {

// `order_bytes`: of the largest creation order so far, which is there where order is tracked.
DensePlace read_place(Bytes message, const char* structure, std::uint64_t order_bytes, const std::string& where) {
  constexpr unsigned tracks_order = 1;
  Cursor cursor(message, where);
  cursor.expect_version(0, structure);
  DensePlace place;
  place.is_ordered = cursor.byte() & tracks_order;
  if (place.is_ordered) cursor.take(order_bytes);
  place.heap = cursor.address();
  place.index = cursor.address();
  return place;
}

}  // namespace

DensePlace read_group_place(Bytes message, const std::string& where) {
  return read_place(message, "a group of version", 8, where);
}

DensePlace read_attributes_place(Bytes message, const std::string& where) {
  return read_place(message, "a list of attributes of version", 2, where);
}

}  // namespace heddle::formats::hdf5

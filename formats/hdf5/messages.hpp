// The contents of the messages of object headers.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/hdf5/source.hpp"
#include "formats/hdf5/structure.hpp"

namespace heddle::formats::hdf5 {

using Bytes = std::span<const std::byte>;

struct Datatype {
  enum class Kind { number, text, boolean, other };
  Kind kind = Kind::other;
  DType dtype = DType::text;  // type of numbers and text
  Index width = 0;            // bytes
};

struct Filters {
  bool shuffle = false, deflate = false;  // in this order
  bool any() const { return shuffle || deflate; }
};

// The place of the elements of a data set.
struct StoragePlace {
  Address address = undefined_address;  // address of the elements, or of the chunk index
  Index size = 0;                       // bytes, where contiguous
  Index chunk = 0;                      // rows per chunk; 0 where contiguous
  Index chunk_columns = 0;              // columns of a chunk, if rows have several elements; else 0
};

// A link to a part of a group.
struct Link {
  std::string name;
  std::uint64_t order = 0;  // creation order
  Address address = undefined_address;
  bool is_hard = true;
};

// The place of many parts or attributes: a heap with an index; both are undefined if there are few.
struct DensePlace {
  bool is_ordered = false;  // parts have a creation order
  Address heap = undefined_address, index = undefined_address;
  bool exists() const { return heap != undefined_address; }
};

// All throw DataError, with `where`, for damage and for features that heddle does not write.
std::vector<Index> read_extents(Bytes message, const std::string& where);
Datatype read_datatype(Bytes message, const std::string& where);
StoragePlace read_storage(Bytes message, const Datatype& element, const std::string& where);
Filters read_filters(Bytes message, const std::string& where);
Link read_link(Bytes message, const std::string& where);
Attribute read_attribute(Bytes message, const std::string& where);
DensePlace read_group_place(Bytes message, const std::string& where);
DensePlace read_attributes_place(Bytes message, const std::string& where);

}  // namespace heddle::formats::hdf5

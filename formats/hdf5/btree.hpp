// Version 2 B-trees: records of one size, in nodes of one size. Heddle's files have them if a group has more than 64
// parts, or if an object's attributes do not fit into its header.
#pragma once

#include <functional>

#include "formats/hdf5/messages.hpp"

namespace heddle::formats::hdf5 {

enum class RecordType : unsigned { huge_object = 1, link_by_name = 5, attribute_by_name = 8 };

// Calls `visit` with each record, in the order of the tree. Throws DataError if the tree is damaged or has records of
// another type or size.
void visit_records(StructureReader& file, Address tree, RecordType type, std::uint64_t record_width,
                   const std::string& where, const std::function<void(Bytes record)>& visit);

}  // namespace heddle::formats::hdf5

// What graphs have in common as groups of a file: their columns of features in /schema, and what is known of them in
// /targets, but for the values.
#pragma once

#include "formats/hdf5/hdf5.hpp"
#include "formats/hdf5/writer.hpp"
#include "libcore/data/graph_schema.hpp"
#include "libcore/data/graphs.hpp"

namespace heddle::formats {

inline constexpr const char* targets_group = "targets";

void write_schema(const hdf5::OutputGroup& root, const data::GraphSchema& schema);
// Throws DataError.
data::GraphSchema read_schema(const hdf5::Group& root);

// Nothing where there are no columns.
void write_target_columns(const hdf5::OutputGroup& root, const data::GraphTargets& targets);
// Throws DataError.
data::GraphTargets read_target_columns(const hdf5::Group& root);

}  // namespace heddle::formats

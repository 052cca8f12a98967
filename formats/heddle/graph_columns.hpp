// Groups of a file that all graphs share: their feature columns in /schema, and the columns of their targets in
// /targets, without the values.
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

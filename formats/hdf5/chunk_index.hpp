// The places of a data set's chunks: an extensible array, which is the library's index of chunks that grow in one
// dimension. Its elements are in the index block, then in data blocks, whose addresses are in the index block and in
// secondary blocks; large data blocks consist of pages.
#pragma once

#include <string>
#include <vector>

#include "formats/hdf5/structure.hpp"

namespace heddle::formats::hdf5 {

struct Chunk {
  Address address = undefined_address;
  std::uint64_t size = 0;              // bytes as stored; 0 if the index has no sizes because no filter is used
  std::uint32_t filters_left_out = 0;  // bit mask, one bit per filter
};

// The places of the first `count` chunks, `count` being no more than the file could have. Throws DataError.
std::vector<Chunk> read_chunk_index(StructureReader& file, Address index, Index count, bool filtered,
                                    const std::string& where);

}  // namespace heddle::formats::hdf5

// Attention weights in files of kind "tensors".
#pragma once

#include <string>
#include <vector>

#include "formats/heddle/file.hpp"
#include "formats/heddle/provenance.hpp"
#include "formats/heddle/tensor_group.hpp"

namespace heddle::formats {

// Kind of attention ("self", "encoder" or "source"), and the pieces of its queries and keys.
struct AttentionGroup {
  std::string name;
  std::vector<std::string> query_pieces, key_pieces;
  std::vector<NamedTensor> layers;  // [heads, queries, keys] each, all values finite or not
};

// The weights of a layer are the data set /attention/GROUP/LAYER, pieces are the columns /query_pieces/GROUP and
// /key_pieces/GROUP.
using AttentionWeights = std::vector<AttentionGroup>;

// Throws DataError where the file cannot be written.
void write_attention(const std::string& path, const AttentionWeights& weights, const Provenance& provenance);

// Reads everything and returns the problems, one line each; empty if there are none.
std::vector<std::string> verify_attention(const InputFile& file);

}  // namespace heddle::formats

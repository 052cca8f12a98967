// Attention weights in files of kind "tensors".
#pragma once

#include <string>
#include <vector>

#include "heddle/formats/heddle/file.hpp"
#include "heddle/formats/heddle/provenance.hpp"
#include "heddle/formats/heddle/tensor_group.hpp"

namespace heddle::formats {

// The group /attention: for each layer [heads, queries, keys], and the pieces that queries and keys stand for.
struct AttentionWeights {
  std::vector<NamedTensor> layers;
  std::vector<std::string> query_pieces, key_pieces;
};

// Throws DataError where the file cannot be written.
void write_attention(const std::string& path, const AttentionWeights& weights, const Provenance& provenance);

// Reads everything and returns the problems, one line each; empty if there are none.
std::vector<std::string> verify_attention(const InputFile& file);

}  // namespace heddle::formats

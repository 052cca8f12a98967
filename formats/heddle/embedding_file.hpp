// Hidden states in files of kind "tensors".
#pragma once

#include <string>
#include <vector>

#include "heddle/formats/heddle/file.hpp"
#include "heddle/formats/heddle/provenance.hpp"
#include "heddle/tensor/tensor.hpp"

namespace heddle::formats {

struct Embeddings {
  Tensor hidden;  // [rows, width]: a row a token, text after text, or a row a text

  // Where rows are tokens; else empty.
  std::vector<Index> ids;           // of each row
  std::vector<std::string> pieces;  // of each row, as the tokenizer spells them
  std::vector<Index> texts;         // where each text's rows begin, and behind the last one's
};

// The data sets hidden, ids, pieces and texts of a new file. Throws DataError where it cannot be written.
void write_embeddings(const std::string& path, const Embeddings& embeddings, const Provenance& provenance);

// Reads everything and returns what is wrong, a line each; nothing when all is well.
std::vector<std::string> verify_embeddings(const InputFile& file);

}  // namespace heddle::formats

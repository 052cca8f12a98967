// Hidden states in files of kind "tensors".
#pragma once

#include <string>
#include <vector>

#include "formats/heddle/file.hpp"
#include "formats/heddle/provenance.hpp"
#include "libcore/tensor/tensor.hpp"

namespace heddle::formats {

struct Embeddings {
  Tensor hidden;  // [rows, width]: one row per token, text after text, or one row per text

  // Set if rows are tokens; else empty.
  std::vector<Index> ids;           // id of each row
  std::vector<std::string> pieces;  // piece of each row, as the tokenizer spells it
  std::vector<Index> texts;         // the first row of each text, then the number of rows
};

// The data sets hidden, ids, pieces and texts of a new file. Throws DataError where it cannot be written.
void write_embeddings(const std::string& path, const Embeddings& embeddings, const Provenance& provenance);

// Reads everything and returns the problems, one line each; empty if there are none.
std::vector<std::string> verify_embeddings(const InputFile& file);

}  // namespace heddle::formats

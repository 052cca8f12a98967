// Decoders in model files.
#pragma once

#include <string>
#include <vector>

#include "heddle/formats/model_file.hpp"
#include "heddle/models/decoder.hpp"

namespace heddle::formats {

// The parameters of a model as a file has them.
std::vector<NamedTensor> named_tensors(const Parameters& parameters);

struct LoadedDecoder {
  models::Decoder model;
  text::Tokenizer tokenizer;
};

// Reads configuration, weights and tokenizer. Throws DataError where the file is damaged, or its weights or its
// tokenizer do not fit its configuration.
LoadedDecoder load_decoder(const ModelFile& file);

}  // namespace heddle::formats

// Models as GGUF files, as llama.cpp and what is built on it read them: decoders as GPT-2 is, with a byte-level BPE
// tokenizer.
#pragma once

#include <string>

#include "formats/gguf/gguf.hpp"
#include "formats/heddle/weight_type.hpp"
#include "formats/huggingface/foreign_model.hpp"

namespace heddle::formats {

// Whether the path is a file that begins as GGUF does.
bool is_gguf(const std::string& path);

// Reads the model in the file. Weights that need no change stay in the mapped file and must not be written to. Throws
// DataError that names the value or the tensor for anything that is not as heddle can have it.
ModelParts read_gguf_model(const std::string& path);

// Writes the file. Matrices are F16 where `type` says so, else as they are (bf16 as BF16, q8 and q4 as Q8_0 and Q4_0,
// int8 as F32); vectors are F32. Biases that the model lacks are zeros. Throws DataError that names what such a model
// cannot have.
void write_gguf_model(const std::string& path, const ModelParts& parts, WeightType type, const GgufExamine& examine);

}  // namespace heddle::formats

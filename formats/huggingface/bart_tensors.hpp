// The common part of BART and Marian in Hugging Face's directories: the encoder-decoder of Vaswani et al. (2017).
#pragma once

#include "formats/huggingface/foreign_architecture.hpp"
#include "libcore/models/encoder_decoder.hpp"

namespace heddle::formats {

TensorNames bart_tensors();
// The fields of config.json that they read.
std::vector<std::string_view> bart_fields();

// The fields that they share, with everything but positions and the norm of embeddings. Throws DataError.
models::EncoderDecoderConfig read_bart_config(const JsonNode& json, const TensorSet& tensors);
nlohmann::ordered_json write_bart_config(const models::EncoderDecoderConfig& config,
                                         const text::TokenizerModel& tokenizer);

}  // namespace heddle::formats

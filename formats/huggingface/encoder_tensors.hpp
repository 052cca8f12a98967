// The common part of BERT and its successors in Hugging Face directories.
#pragma once

#include <optional>
#include <string>

#include "formats/huggingface/foreign_architecture.hpp"
#include "libcore/models/encoder.hpp"

namespace heddle::formats {

// The names of the tensors of the head for masked tokens.
struct MaskedHeadNames {
  std::string dense, norm, bias, decoder;
};

// The tensors of an encoder whose names begin with the prefix.
TensorNames encoder_tensors(const std::string& prefix, const MaskedHeadNames& head);

// The fields of config.json that they share.
std::vector<std::string_view> encoder_fields();
// Throws DataError.
models::EncoderConfig read_encoder_config(const JsonNode& json);
// The task of a model with a classifier of texts or of their tokens; none of other models.
std::optional<models::TaskConfig> read_encoder_task(const JsonNode& json, const TensorSet& tensors);
nlohmann::ordered_json write_encoder_config(const models::EncoderConfig& config);

}  // namespace heddle::formats

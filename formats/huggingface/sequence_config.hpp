// The common part of models that read a source text and write a target text, in Hugging Face's directories.
#pragma once

#include <nlohmann/json.hpp>

#include "formats/json/node.hpp"
#include "libcore/models/config.hpp"
#include "libcore/text/tokenizer_model.hpp"

namespace heddle::formats {

// The id of the token that ends a text, as data::text_frame() has it; -1 for none.
Index text_end(const text::TokenizerModel& tokenizer);

// Replaces a start token of -1 by the token that stands for it.
void set_start_token(models::SourceConfig& config, const text::TokenizerModel& tokenizer);

// The tokenizer with the token that ends texts as its separator where it has none, so that its template puts it there.
text::TokenizerModel with_text_end(text::TokenizerModel tokenizer);

// Throws DataError unless texts end with the token that config.json names.
void check_text_end(const JsonNode& json, const text::TokenizerModel& tokenizer);

// Writes the ids of the tokens that begin and end targets and pad them: without padding, the one that ends them.
void write_sequence_ids(nlohmann::ordered_json& json, const models::SourceConfig& config,
                        const text::TokenizerModel& tokenizer);

// A field of which config.json has one for each stack, and heddle one for both. Throws DataError if they differ.
Index read_for_both(const JsonNode& json, const char* of_encoder, const char* of_decoder);

}  // namespace heddle::formats

#include "formats/huggingface/sequence_config.hpp"

namespace heddle::formats {

Index text_end(const text::TokenizerModel& tokenizer) {
  return tokenizer.classification >= 0 && tokenizer.separator >= 0 ? tokenizer.separator : tokenizer.end_of_text;
}

void set_start_token(models::SourceConfig& config, const text::TokenizerModel& tokenizer) {
  if (config.start_token < 0) config.start_token = text_end(tokenizer);
}

text::TokenizerModel with_text_end(text::TokenizerModel tokenizer) {
  if (tokenizer.classification < 0 && tokenizer.separator < 0) tokenizer.separator = tokenizer.end_of_text;
  return tokenizer;
}

void check_text_end(const JsonNode& json, const text::TokenizerModel& tokenizer) {
  const JsonNode field = json["eos_token_id"];
  const Index end = text_end(tokenizer);
  if (end < 0) field.refuse("the tokenizer has no token that ends texts");
  if (field.is_count() && field.number() != end) {
    field.refuse(concatenate("is ", field.number(), ", but the tokenizer ends texts with ", end));
  }
}

void write_sequence_ids(nlohmann::ordered_json& json, const models::SourceConfig& config,
                        const text::TokenizerModel& tokenizer) {
  const auto set_id = [&](const char* name, Index id) {
    if (id >= 0) json[name] = id;
  };
  set_id("bos_token_id", tokenizer.classification);
  set_id("pad_token_id", tokenizer.padding >= 0 ? tokenizer.padding : text_end(tokenizer));
  set_id("eos_token_id", text_end(tokenizer));
  set_id("decoder_start_token_id", config.start_token);
}

Index read_for_both(const JsonNode& json, const char* of_encoder, const char* of_decoder) {
  const Index encoder = json[of_encoder].number(), decoder = json[of_decoder].number();
  if (encoder != decoder) {
    json[of_decoder].refuse(concatenate("is ", decoder, " and ", of_encoder, " is ", encoder,
                                        "; heddle supports stacks of the same shape"));
  }
  return encoder;
}

}  // namespace heddle::formats

// BART as Hugging Face has it.  Source: Lewis et al. 2020; the names in the published config.json and
// model.safetensors. Positions begin with the third row of their table.
#include "formats/huggingface/bart_tensors.hpp"

namespace heddle::formats {

namespace {

constexpr Index position_offset = 2;
constexpr Index usual_start = 2;  // </s>

models::ModelConfig read_bart(const JsonNode& json, const TensorSet& tensors) {
  expect_fixed(json, {{"normalize_embedding", true}, {"static_position_embeddings", false}});
  models::EncoderDecoderConfig config = read_bart_config(json, tensors);
  config.embedding_norm = true;
  config.positions = concatenate("learned:offset=", position_offset);
  if (json["scale_embedding"].flag_or(false)) config.positions += ",scaled=1";
  config.start_token = json["decoder_start_token_id"].number_or(usual_start);
  return config;
}

nlohmann::ordered_json write_bart(const models::ModelConfig& model, const text::TokenizerModel& tokenizer) {
  const auto& config = *model.as<models::EncoderDecoderConfig>();
  nlohmann::ordered_json json = write_bart_config(config, tokenizer);
  json["architectures"] = {"BartForConditionalGeneration"};
  json["scale_embedding"] = Settings(config.positions).index("scaled", 0, 0, 1) == 1;
  return json;
}

}  // namespace

ForeignArchitecture bart_architecture() {
  return {.model_type = "bart",
          .arch = models::EncoderDecoderConfig::kind_name,
          .tensors = bart_tensors(),
          .fields = bart_fields(),
          .read_config = read_bart,
          .write_config = write_bart};
}

}  // namespace heddle::formats

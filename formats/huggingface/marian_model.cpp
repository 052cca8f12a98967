// Marian's translation models as Hugging Face has them.  Source: Junczys-Dowmunt et al. 2018; the names in the
// published config.json and model.safetensors. Positions are sinusoids, all sines before all cosines.
#include "formats/huggingface/bart_tensors.hpp"

namespace heddle::formats {

namespace {

TensorNames marian_tensor_names() {
  TensorNames names = bart_tensors();
  // In models whose source and target have embeddings of their own:
  const std::string source = names.prefix + "encoder.embed_tokens.weight",
                    target = names.prefix + "decoder.embed_tokens.weight";
  names.rules.push_back({source, {"encoder/embedding/token/weight"}});
  names.rules.push_back({target, {"decoder/embedding/token/weight"}});
  names.copies.emplace_back("lm_head.weight", target);
  // Sinusoids, which are computed.
  names.ignored.push_back(names.prefix + "encoder.embed_positions.weight");
  names.ignored.push_back(names.prefix + "decoder.embed_positions.weight");
  return names;
}

models::ModelConfig read_marian(const JsonNode& json, const TensorSet& tensors) {
  expect_fixed(json, {{"normalize_embedding", false}, {"static_position_embeddings", true}});
  models::EncoderDecoderConfig config = read_bart_config(json, tensors);
  const Index sources = config.vocab_size, targets = json["decoder_vocab_size"].number_or(sources);
  config.share_embeddings = json["share_encoder_decoder_embeddings"].flag_or(true);
  if (targets != sources) {
    if (config.share_embeddings) {
      json["decoder_vocab_size"].refuse(concatenate("is ", targets, " and vocab_size is ", sources,
                                                    ", but share_encoder_decoder_embeddings is true"));
    }
    config.source_vocab_size = sources;
    config.vocab_size = targets;
  }
  config.positions = "sinusoidal:interleaved=0";
  if (!json["scale_embedding"].flag_or(false)) config.positions += ",scaled=0";
  config.start_token = json["decoder_start_token_id"].number_or(json["pad_token_id"].number_or(config.vocab_size - 1));
  return config;
}

nlohmann::ordered_json write_marian(const models::ModelConfig& model, const text::TokenizerModel& tokenizer) {
  const auto& config = *model.as<models::EncoderDecoderConfig>();
  nlohmann::ordered_json json = write_bart_config(config, tokenizer);
  json["architectures"] = {"MarianMTModel"};
  if (json["activation_function"] == "silu") json["activation_function"] = "swish";  // its other name
  json["scale_embedding"] = Settings(config.positions).index("scaled", 1, 0, 1) == 1;
  json["static_position_embeddings"] = true;
  json["normalize_embedding"] = false;
  json["share_encoder_decoder_embeddings"] = config.share_embeddings;
  json["vocab_size"] = config.source_vocabulary(config.vocab_size);
  json["decoder_vocab_size"] = config.vocab_size;
  if (tokenizer.padding >= 0) json["bad_words_ids"] = {{tokenizer.padding}};
  return json;
}

}  // namespace

ForeignArchitecture marian_architecture() {
  std::vector<std::string_view> fields = bart_fields();
  fields.insert(fields.end(), {"decoder_vocab_size", "share_encoder_decoder_embeddings", "pad_token_id"});
  return {.model_type = "marian",
          .arch = models::EncoderDecoderConfig::kind_name,
          .tensors = marian_tensor_names(),
          .fields = fields,
          .read_config = read_marian,
          .write_config = write_marian};
}

}  // namespace heddle::formats

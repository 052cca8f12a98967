// RoBERTa as Hugging Face has it.  Source: Liu et al. 2019; the names in the published config.json and
// model.safetensors. Positions begin after the padding token's id, 1, so the first rows of their table are not used.
#include "formats/huggingface/encoder_tensors.hpp"

namespace heddle::formats {

namespace {

// The classifier of texts has the pooler's layer as its own first one; that of tokens has none.
TensorNames roberta_tensor_names() {
  TensorNames names = encoder_tensors(
      "roberta.",
      {.dense = "lm_head.dense", .norm = "lm_head.layer_norm", .bias = "lm_head.bias", .decoder = "lm_head.decoder"});
  constexpr std::string_view pooler = "encoder/pooler/weight", of_task = "task/weight";
  for (TensorRule& rule : names.rules) {
    if (rule.parameters.front().starts_with("encoder/pooler/")) rule.without = of_task;
  }
  const auto plain = TensorRule::Form::plain;
  names.rules.push_back({"classifier.dense.weight", {pooler}, plain, of_task});
  names.rules.push_back({"classifier.dense.bias", {"encoder/pooler/bias"}, plain, of_task});
  names.rules.push_back({"classifier.out_proj.weight", {of_task}, plain, pooler});
  names.rules.push_back({"classifier.out_proj.bias", {"task/bias"}, plain, pooler});
  names.rules.push_back({"classifier.weight", {of_task}, plain, {}, pooler});
  names.rules.push_back({"classifier.bias", {"task/bias"}, plain, {}, pooler});
  return names;
}

models::ModelConfig read_roberta(const JsonNode& json, const TensorSet& tensors) {
  models::EncoderConfig config = read_encoder_config(json);
  const Index offset = json["pad_token_id"].number_or(1) + 1;
  config.positions = concatenate("learned:offset=", offset);
  config.context -= offset;
  config.pooler = tensors.has("roberta.pooler.dense.weight") || tensors.has("classifier.dense.weight");
  config.masked_head = tensors.has("lm_head.dense.weight");
  return config;
}

nlohmann::ordered_json write_roberta(const models::ModelConfig& model, const text::TokenizerModel& tokenizer) {
  const auto& config = *model.as<models::EncoderConfig>();
  nlohmann::ordered_json json = write_encoder_config(config);
  json["architectures"] = {config.masked_head ? "RobertaForMaskedLM" : "RobertaModel"};
  const Index offset = Settings(config.positions).index("offset", 0, 0, 1000);
  json["max_position_embeddings"] = config.max_positions().value_or(0) + offset;
  const auto set_id = [&](const char* name, Index id) {
    if (id >= 0) json[name] = id;
  };
  set_id("pad_token_id", tokenizer.padding);
  set_id("bos_token_id", tokenizer.classification);
  set_id("eos_token_id", tokenizer.separator);
  return json;
}

}  // namespace

ForeignArchitecture roberta_architecture() {
  std::vector<std::string_view> fields = encoder_fields();
  fields.emplace_back("pad_token_id");
  return {.model_type = "roberta",
          .arch = models::EncoderConfig::kind_name,
          .tensors = roberta_tensor_names(),
          .fields = fields,
          .read_config = read_roberta,
          .read_task = read_encoder_task,
          .write_config = write_roberta};
}

}  // namespace heddle::formats

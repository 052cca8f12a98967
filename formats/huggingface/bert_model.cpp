// BERT as Hugging Face has it.  Source: Devlin et al. 2019; the names in the published config.json and
// model.safetensors.
#include "formats/huggingface/encoder_tensors.hpp"

namespace heddle::formats {

namespace {

TensorNames bert_tensor_names() {
  TensorNames names = encoder_tensors("bert.", {.dense = "cls.predictions.transform.dense",
                                                .norm = "cls.predictions.transform.LayerNorm",
                                                .bias = "cls.predictions.bias",
                                                .decoder = "cls.predictions.decoder"});
  names.rules.push_back({"cls.seq_relationship.weight", {"head/next_sentence/weight"}});
  names.rules.push_back({"cls.seq_relationship.bias", {"head/next_sentence/bias"}});
  names.rules.push_back({"classifier.weight", {"task/weight"}});
  names.rules.push_back({"classifier.bias", {"task/bias"}});
  return names;
}

models::ModelConfig read_bert(const JsonNode& json, const TensorSet& tensors) {
  models::EncoderConfig config = read_encoder_config(json);
  config.pooler = tensors.has("bert.pooler.dense.weight");
  config.masked_head = tensors.has("cls.predictions.transform.dense.weight");
  config.next_sentence = tensors.has("cls.seq_relationship.weight");
  return config;
}

nlohmann::ordered_json write_bert(const models::ModelConfig& model, const text::TokenizerModel& tokenizer) {
  const auto& config = *model.as<models::EncoderConfig>();
  nlohmann::ordered_json json = write_encoder_config(config);
  json["architectures"] = {!config.masked_head    ? "BertModel"
                           : config.next_sentence ? "BertForPreTraining"
                                                  : "BertForMaskedLM"};
  if (tokenizer.padding >= 0) json["pad_token_id"] = tokenizer.padding;
  return json;
}

}  // namespace

ForeignArchitecture bert_architecture() {
  return {.model_type = "bert",
          .arch = models::EncoderConfig::kind_name,
          .tensors = bert_tensor_names(),
          .fields = encoder_fields(),
          .read_config = read_bert,
          .read_task = read_encoder_task,
          .write_config = write_bert};
}

}  // namespace heddle::formats

#include "formats/huggingface/encoder_tensors.hpp"

namespace heddle::formats {

TensorNames encoder_tensors(const std::string& prefix, const MaskedHeadNames& head) {
  const std::string embeddings = prefix + "embeddings.", layer = prefix + "encoder.layer.#.";
  TensorNames names{
      .prefix = prefix,
      .rules = {{embeddings + "word_embeddings.weight", {"encoder/embedding/token/weight"}},
                {embeddings + "position_embeddings.weight", {"encoder/embedding/position/weight"}},
                {embeddings + "token_type_embeddings.weight", {"encoder/embedding/segment/weight"}},
                {embeddings + "LayerNorm.weight", {"encoder/embedding/norm/gain"}},
                {embeddings + "LayerNorm.bias", {"encoder/embedding/norm/bias"}},
                {layer + "attention.output.LayerNorm.weight", {"encoder/#/attention_norm/gain"}},
                {layer + "attention.output.LayerNorm.bias", {"encoder/#/attention_norm/bias"}},
                {layer + "output.LayerNorm.weight", {"encoder/#/feed_forward_norm/gain"}},
                {layer + "output.LayerNorm.bias", {"encoder/#/feed_forward_norm/bias"}},
                {head.norm + ".weight", {"head/norm/gain"}},
                {head.norm + ".bias", {"head/norm/bias"}},
                {head.bias, {"head/bias"}},
                {head.decoder + ".weight", {"head/weight"}}},
      .copies = {{head.decoder + ".weight", embeddings + "word_embeddings.weight"},
                 {head.decoder + ".bias", head.bias}},
      // 0, 1, 2, …, and zeros.
      .ignored = {embeddings + "position_ids", embeddings + "token_type_ids"},
      .endings = {{".gamma", ".weight"}, {".beta", ".bias"}},
  };
  const auto add_linear = [&](const std::string& foreign, std::string_view weight, std::string_view bias) {
    names.rules.push_back({foreign + ".weight", {weight}});
    names.rules.push_back({foreign + ".bias", {bias}});
  };
  add_linear(layer + "attention.self.query", "encoder/#/attention/query/weight", "encoder/#/attention/query/bias");
  add_linear(layer + "attention.self.key", "encoder/#/attention/key/weight", "encoder/#/attention/key/bias");
  add_linear(layer + "attention.self.value", "encoder/#/attention/value/weight", "encoder/#/attention/value/bias");
  add_linear(layer + "attention.output.dense", "encoder/#/attention/output/weight", "encoder/#/attention/output/bias");
  add_linear(layer + "intermediate.dense", "encoder/#/feed_forward/up/weight", "encoder/#/feed_forward/up/bias");
  add_linear(layer + "output.dense", "encoder/#/feed_forward/down/weight", "encoder/#/feed_forward/down/bias");
  add_linear(prefix + "pooler.dense", "encoder/pooler/weight", "encoder/pooler/bias");
  add_linear(head.dense, "head/dense/weight", "head/dense/bias");
  return names;
}

std::vector<std::string_view> encoder_fields() {
  return {"num_hidden_layers", "hidden_size",         "num_attention_heads", "max_position_embeddings",
          "intermediate_size", "vocab_size",          "type_vocab_size",     "hidden_act",
          "layer_norm_eps",    "hidden_dropout_prob", "tie_word_embeddings", "position_embedding_type",
          "is_decoder",        "add_cross_attention", "architectures",       "id2label",
          "label2id",          "num_labels",          "problem_type"};
}

models::EncoderConfig read_encoder_config(const JsonNode& json) {
  expect_fixed(json, {{"position_embedding_type", "absolute"}, {"is_decoder", false}, {"add_cross_attention", false}});
  models::EncoderConfig config = models::EncoderConfig::bert();
  config.layers = json["num_hidden_layers"].number();
  config.width = json["hidden_size"].number();
  config.heads = json["num_attention_heads"].number();
  config.context = json["max_position_embeddings"].number();
  config.ffn_width = json["intermediate_size"].number();
  config.vocab_size = json["vocab_size"].number();
  config.segments = json["type_vocab_size"].number();
  const JsonNode activation = json["hidden_act"];
  config.activation = to_text(activation.is_null() ? Activation::gelu : read_activation(activation));
  config.norm_epsilon = json["layer_norm_eps"].real_or(1e-12);
  config.dropout = json["hidden_dropout_prob"].real_or(0.1);
  config.tie_embeddings = json["tie_word_embeddings"].flag_or(true);
  return config;
}

std::optional<models::TaskConfig> read_encoder_task(const JsonNode& json, const TensorSet& tensors) {
  if (!tensors.has("classifier.weight") && !tensors.has("classifier.out_proj.weight")) return std::nullopt;
  const JsonNode names = json["architectures"];
  const std::string_view name = names.is_list() && names.size() == 1 ? (*names.list().begin()).text() : "";
  const bool of_texts = name.ends_with("ForSequenceClassification");
  if (!of_texts && !name.ends_with("ForTokenClassification")) {
    names.refuse("names no model whose classifier heddle has: ForSequenceClassification or ForTokenClassification");
  }
  json["problem_type"].expect_any_of(
      {nullptr, "single_label_classification", "multi_label_classification", "regression"});
  models::TaskConfig task{.task = of_texts ? models::Task::classify : models::Task::label,
                          .pooling = of_texts ? models::Pooling::first : models::Pooling::mean};
  const JsonNode labels = json["id2label"];
  const Index count = labels.is_object() ? static_cast<Index>(labels.size()) : json["num_labels"].number_or(2);
  for (Index id = 0; id < count; ++id) {
    const JsonNode label = labels.find(std::to_string(id));
    if (label.is_null() && labels.is_object()) labels.refuse(concatenate("has no label for ", id));
    task.labels.push_back(label.is_null() ? concatenate("LABEL_", id) : std::string(label.text()));
  }
  const JsonNode problem = json["problem_type"];
  if (!problem.is_null() && problem.text() == "multi_label_classification") {
    if (!of_texts || count < 2) problem.refuse(concatenate("is for texts with two labels or more, not ", count));
    task.task = models::Task::multilabel;
    return task;
  }
  const bool is_number = count == 1 || (!problem.is_null() && problem.text() == "regression");
  if (!is_number) return task;
  if (!of_texts || count != 1) problem.refuse(concatenate("is a regression of ", count, " numbers; heddle has one"));
  task.task = models::Task::regress;
  task.labels.clear();
  return task;
}

nlohmann::ordered_json write_encoder_config(const models::EncoderConfig& config) {
  return {{"num_hidden_layers", config.layers},
          {"hidden_size", config.width},
          {"num_attention_heads", config.heads},
          {"max_position_embeddings", config.max_positions().value_or(0)},
          {"intermediate_size", config.inner_width()},
          {"vocab_size", config.vocab_size},
          {"type_vocab_size", config.segments},
          {"hidden_act", foreign_name(from_text<Activation>(config.activation))},
          {"layer_norm_eps", config.norm_epsilon},
          {"hidden_dropout_prob", config.dropout},
          {"attention_probs_dropout_prob", config.dropout},
          {"position_embedding_type", "absolute"},
          {"tie_word_embeddings", config.tie_embeddings}};
}

}  // namespace heddle::formats

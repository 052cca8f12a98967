// T5 as Hugging Face has it, and its version 1.1, whose feed-forward layers are gated and whose output has a matrix of
// its own.  Source: Raffel et al. 2020; the names in the published config.json and model.safetensors.
#include <array>

#include "formats/huggingface/foreign_architecture.hpp"
#include "formats/huggingface/sequence_config.hpp"
#include "libcore/models/encoder_decoder.hpp"
#include "libcore/text/spelling.hpp"

namespace heddle::formats {

namespace {

using models::EncoderDecoderConfig;

void add_attention(TensorNames& names, const std::string& foreign, const std::array<std::string_view, 4>& parameters) {
  constexpr std::array parts{".q.weight", ".k.weight", ".v.weight", ".o.weight"};
  for (std::size_t i = 0; i < parts.size(); ++i) names.rules.push_back({foreign + parts[i], {parameters[i]}});
}

struct FeedForwardNames {
  std::string_view norm, gate, up, down;
};

void add_feed_forward(TensorNames& names, const std::string& layer, const FeedForwardNames& of) {
  const std::string dense = layer + ".DenseReluDense.";
  names.rules.push_back({layer + ".layer_norm.weight", {of.norm}});
  names.rules.push_back({.foreign = dense + "wi.weight", .parameters = {of.up}, .without = of.gate});
  names.rules.push_back({dense + "wi_0.weight", {of.gate}});
  names.rules.push_back({.foreign = dense + "wi_1.weight", .parameters = {of.up}, .beside = of.gate});
  names.rules.push_back({dense + "wo.weight", {of.down}});
}

TensorNames t5_tensor_names() {
  const std::string encoder = "encoder.block.#.layer.", decoder = "decoder.block.#.layer.",
                    bias = ".layer.0.SelfAttention.relative_attention_bias.weight";
  TensorNames names{
      .prefix = "",
      .rules = {{"shared.weight", {"embedding/token/weight"}},
                {"encoder.block.0" + bias, {"encoder/embedding/position/weight"}},
                {"decoder.block.0" + bias, {"decoder/embedding/position/weight"}},
                {encoder + "0.layer_norm.weight", {"encoder/#/attention_norm/gain"}},
                {decoder + "0.layer_norm.weight", {"decoder/#/attention_norm/gain"}},
                {decoder + "1.layer_norm.weight", {"decoder/#/cross_attention_norm/gain"}},
                {"encoder.final_layer_norm.weight", {"encoder/norm/gain"}},
                {"decoder.final_layer_norm.weight", {"decoder/norm/gain"}},
                {"lm_head.weight", {"head/weight"}}},
      .copies = {{"encoder.embed_tokens.weight", "shared.weight"},
                 {"decoder.embed_tokens.weight", "shared.weight"},
                 {"lm_head.weight", "shared.weight"}},
      // Not used by the model.
      .ignored = {"decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"},
      .endings = {},
  };
  add_attention(names, encoder + "0.SelfAttention",
                {"encoder/#/attention/query/weight", "encoder/#/attention/key/weight",
                 "encoder/#/attention/value/weight", "encoder/#/attention/output/weight"});
  add_attention(names, decoder + "0.SelfAttention",
                {"decoder/#/attention/query/weight", "decoder/#/attention/key/weight",
                 "decoder/#/attention/value/weight", "decoder/#/attention/output/weight"});
  add_attention(names, decoder + "1.EncDecAttention",
                {"decoder/#/cross_attention/query/weight", "decoder/#/cross_attention/key/weight",
                 "decoder/#/cross_attention/value/weight", "decoder/#/cross_attention/output/weight"});
  add_feed_forward(names, encoder + "1",
                   {"encoder/#/feed_forward_norm/gain", "encoder/#/feed_forward/gate/weight",
                    "encoder/#/feed_forward/up/weight", "encoder/#/feed_forward/down/weight"});
  add_feed_forward(names, decoder + "2",
                   {"decoder/#/feed_forward_norm/gain", "decoder/#/feed_forward/gate/weight",
                    "decoder/#/feed_forward/up/weight", "decoder/#/feed_forward/down/weight"});
  return names;
}

constexpr Index usual_buckets = 32, usual_distance = 128;

// "relu", "gated-gelu", …; in the latter GELU is the approximation by tanh.
void read_feed_forward(const JsonNode& field, EncoderDecoderConfig& config) {
  const std::string_view text = field.is_null() ? "relu" : field.text();
  constexpr std::string_view gated = "gated-";
  config.gated = text.starts_with(gated);
  const std::string_view name = text == "gated-gelu" ? "gelu_new" : text.substr(config.gated ? gated.size() : 0);
  const std::optional<Activation> activation = activation_of(name);
  if (!activation)
    field.refuse(concatenate("is ", text::quoted(text), "; heddle supports relu, gelu, silu and others, ",
                             "and gated- before them"));
  config.activation = to_text(*activation);
}

std::string feed_forward_text(const EncoderDecoderConfig& config) {
  const auto activation = from_text<Activation>(config.activation);
  if (config.gated && activation == Activation::gelu_tanh) return "gated-gelu";
  return (config.gated ? "gated-" : "") + foreign_name(activation);
}

// Older files say by one flag whether the output shares the embeddings and is scaled; newer ones have a field for the
// scale, and their flag is about the embeddings of the stacks.
void read_output(const JsonNode& json, const TensorSet& tensors, EncoderDecoderConfig& config) {
  const JsonNode scaled = json["scale_decoder_outputs"];
  const bool tied = json["tie_word_embeddings"].flag_or(true);
  config.tie_embeddings = scaled.is_null() ? tied : !tensors.has("lm_head.weight");
  config.scale_logits = scaled.flag_or(tied);
}

models::ModelConfig read_t5(const JsonNode& json, const TensorSet& tensors) {
  expect_fixed(json, {{"is_encoder_decoder", true}, {"is_decoder", false}});
  EncoderDecoderConfig config;
  config.block = to_text(BlockOrder::pre);
  config.norm = to_text(NormKind::rms);
  config.bias = false;
  config.attention = "dot:scale=1";
  config.layers = json["num_decoder_layers"].number_or(json["num_layers"].number());
  config.encoder_layers = json["num_layers"].number();
  config.width = json["d_model"].number();
  config.heads = json["num_heads"].number();
  config.head_width = json["d_kv"].number();
  config.ffn_width = json["d_ff"].number();
  config.vocab_size = json["vocab_size"].number();
  config.norm_epsilon = json["layer_norm_epsilon"].real_or(1e-6);
  config.dropout = json["dropout_rate"].real_or(0.1);
  read_output(json, tensors, config);
  config.start_token = json["decoder_start_token_id"].number_or(json["pad_token_id"].number_or(0));
  read_feed_forward(json["feed_forward_proj"], config);
  const Index buckets = json["relative_attention_num_buckets"].number_or(usual_buckets);
  const Index distance = json["relative_attention_max_distance"].number_or(usual_distance);
  const bool is_usual = buckets == usual_buckets && distance == usual_distance;
  config.positions =
      is_usual ? "relative-scalar" : concatenate("relative-scalar:buckets=", buckets, ",max-distance=", distance);
  return config;
}

nlohmann::ordered_json write_t5(const models::ModelConfig& model, const text::TokenizerModel& tokenizer) {
  auto config = *model.as<EncoderDecoderConfig>();
  config.spell_out();
  Settings positions(config.positions);
  nlohmann::ordered_json json{
      {"architectures", {"T5ForConditionalGeneration"}},
      {"d_model", config.width},
      {"d_kv", config.head_width},
      {"d_ff", config.ffn_width},
      {"num_layers", config.encoder_layers},
      {"num_decoder_layers", config.layers},
      {"num_heads", config.heads},
      {"relative_attention_num_buckets", positions.index("buckets", usual_buckets, 1, 1000000)},
      {"relative_attention_max_distance", positions.index("max-distance", usual_distance, 1, 1000000)},
      {"dropout_rate", config.dropout},
      {"layer_norm_epsilon", config.norm_epsilon},
      {"feed_forward_proj", feed_forward_text(config)},
      {"is_encoder_decoder", true},
      {"tie_word_embeddings", config.tie_embeddings},
      {"vocab_size", config.vocab_size}};
  write_sequence_ids(json, config, tokenizer);
  return json;
}

}  // namespace

ForeignArchitecture t5_architecture() {
  return {.model_type = "t5",
          .arch = EncoderDecoderConfig::kind_name,
          .tensors = t5_tensor_names(),
          .fields = {"is_encoder_decoder", "is_decoder", "num_decoder_layers", "num_layers", "d_model", "num_heads",
                     "d_kv", "d_ff", "vocab_size", "layer_norm_epsilon", "dropout_rate", "scale_decoder_outputs",
                     "tie_word_embeddings", "decoder_start_token_id", "pad_token_id", "eos_token_id",
                     "feed_forward_proj", "relative_attention_num_buckets", "relative_attention_max_distance"},
          .read_config = read_t5,
          .write_config = write_t5};
}

}  // namespace heddle::formats

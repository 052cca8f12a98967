#include "formats/huggingface/bart_tensors.hpp"

#include <array>

#include "formats/huggingface/sequence_config.hpp"

namespace heddle::formats {

namespace {

// A module's weight and bias, or a norm's gain and bias.
struct Pair {
  const char* foreign;
  std::string_view weight, bias;
};

constexpr std::array<Pair, 23> pairs{{
    {"encoder.layernorm_embedding", "encoder/embedding/norm/gain", "encoder/embedding/norm/bias"},
    {"encoder.layers.#.self_attn.q_proj", "encoder/#/attention/query/weight", "encoder/#/attention/query/bias"},
    {"encoder.layers.#.self_attn.k_proj", "encoder/#/attention/key/weight", "encoder/#/attention/key/bias"},
    {"encoder.layers.#.self_attn.v_proj", "encoder/#/attention/value/weight", "encoder/#/attention/value/bias"},
    {"encoder.layers.#.self_attn.out_proj", "encoder/#/attention/output/weight", "encoder/#/attention/output/bias"},
    {"encoder.layers.#.self_attn_layer_norm", "encoder/#/attention_norm/gain", "encoder/#/attention_norm/bias"},
    {"encoder.layers.#.fc1", "encoder/#/feed_forward/up/weight", "encoder/#/feed_forward/up/bias"},
    {"encoder.layers.#.fc2", "encoder/#/feed_forward/down/weight", "encoder/#/feed_forward/down/bias"},
    {"encoder.layers.#.final_layer_norm", "encoder/#/feed_forward_norm/gain", "encoder/#/feed_forward_norm/bias"},
    {"decoder.layernorm_embedding", "decoder/embedding/norm/gain", "decoder/embedding/norm/bias"},
    {"decoder.layers.#.self_attn.q_proj", "decoder/#/attention/query/weight", "decoder/#/attention/query/bias"},
    {"decoder.layers.#.self_attn.k_proj", "decoder/#/attention/key/weight", "decoder/#/attention/key/bias"},
    {"decoder.layers.#.self_attn.v_proj", "decoder/#/attention/value/weight", "decoder/#/attention/value/bias"},
    {"decoder.layers.#.self_attn.out_proj", "decoder/#/attention/output/weight", "decoder/#/attention/output/bias"},
    {"decoder.layers.#.self_attn_layer_norm", "decoder/#/attention_norm/gain", "decoder/#/attention_norm/bias"},
    {"decoder.layers.#.encoder_attn.q_proj", "decoder/#/cross_attention/query/weight",
     "decoder/#/cross_attention/query/bias"},
    {"decoder.layers.#.encoder_attn.k_proj", "decoder/#/cross_attention/key/weight",
     "decoder/#/cross_attention/key/bias"},
    {"decoder.layers.#.encoder_attn.v_proj", "decoder/#/cross_attention/value/weight",
     "decoder/#/cross_attention/value/bias"},
    {"decoder.layers.#.encoder_attn.out_proj", "decoder/#/cross_attention/output/weight",
     "decoder/#/cross_attention/output/bias"},
    {"decoder.layers.#.encoder_attn_layer_norm", "decoder/#/cross_attention_norm/gain",
     "decoder/#/cross_attention_norm/bias"},
    {"decoder.layers.#.fc1", "decoder/#/feed_forward/up/weight", "decoder/#/feed_forward/up/bias"},
    {"decoder.layers.#.fc2", "decoder/#/feed_forward/down/weight", "decoder/#/feed_forward/down/bias"},
    {"decoder.layers.#.final_layer_norm", "decoder/#/feed_forward_norm/gain", "decoder/#/feed_forward_norm/bias"},
}};

}  // namespace

TensorNames bart_tensors() {
  const std::string prefix = "model.", shared = prefix + "shared.weight";
  TensorNames names{.prefix = prefix,
                    .rules = {{shared, {"embedding/token/weight"}},
                              {prefix + "encoder.embed_positions.weight", {"encoder/embedding/position/weight"}},
                              {prefix + "decoder.embed_positions.weight", {"decoder/embedding/position/weight"}},
                              {"lm_head.weight", {"head/weight"}},
                              {"final_logits_bias", {"head/bias"}, TensorRule::Form::row}},
                    .copies = {{prefix + "encoder.embed_tokens.weight", shared},
                               {prefix + "decoder.embed_tokens.weight", shared},
                               {"lm_head.weight", shared}},
                    .ignored = {prefix + "encoder.version", prefix + "decoder.version"},
                    .zeros_or_none = {"final_logits_bias"},
                    .endings = {}};
  for (const auto& [foreign, weight, bias] : pairs) {
    names.rules.push_back({prefix + foreign + ".weight", {weight}});
    names.rules.push_back({prefix + foreign + ".bias", {bias}});
  }
  return names;
}

std::vector<std::string_view> bart_fields() {
  return {"is_encoder_decoder",
          "normalize_before",
          "add_final_layer_norm",
          "normalize_embedding",
          "static_position_embeddings",
          "decoder_layers",
          "encoder_layers",
          "d_model",
          "encoder_attention_heads",
          "decoder_attention_heads",
          "encoder_ffn_dim",
          "decoder_ffn_dim",
          "vocab_size",
          "max_position_embeddings",
          "activation_function",
          "dropout",
          "tie_word_embeddings",
          "scale_embedding",
          "decoder_start_token_id",
          "eos_token_id",
          "forced_bos_token_id"};
}

models::EncoderDecoderConfig read_bart_config(const JsonNode& json, const TensorSet& tensors) {
  expect_fixed(json, {{"is_encoder_decoder", true}, {"normalize_before", false}, {"add_final_layer_norm", false}});
  models::EncoderDecoderConfig config;
  config.block = to_text(BlockOrder::post);
  config.norm_epsilon = 1e-5;
  config.layers = json["decoder_layers"].number();
  config.encoder_layers = json["encoder_layers"].number();
  config.width = json["d_model"].number();
  config.heads = read_for_both(json, "encoder_attention_heads", "decoder_attention_heads");
  config.ffn_width = read_for_both(json, "encoder_ffn_dim", "decoder_ffn_dim");
  config.vocab_size = json["vocab_size"].number();
  config.context = json["max_position_embeddings"].number();
  const JsonNode activation = json["activation_function"];
  config.activation = to_text(activation.is_null() ? Activation::gelu : read_activation(activation));
  config.dropout = json["dropout"].real_or(0.1);
  config.tie_embeddings = json["tie_word_embeddings"].flag_or(true);
  config.logit_bias = tensors.has("final_logits_bias");
  return config;
}

nlohmann::ordered_json write_bart_config(const models::EncoderDecoderConfig& given,
                                         const text::TokenizerModel& tokenizer) {
  models::EncoderDecoderConfig config = given;
  config.spell_out();
  nlohmann::ordered_json json{{"d_model", config.width},
                              {"encoder_layers", config.encoder_layers},
                              {"decoder_layers", config.layers},
                              {"num_hidden_layers", config.encoder_layers},
                              {"encoder_attention_heads", config.heads},
                              {"decoder_attention_heads", config.heads},
                              {"encoder_ffn_dim", config.ffn_width},
                              {"decoder_ffn_dim", config.ffn_width},
                              {"vocab_size", config.vocab_size},
                              {"max_position_embeddings", config.context},
                              {"activation_function", foreign_name(from_text<Activation>(config.activation))},
                              {"dropout", config.dropout},
                              {"is_encoder_decoder", true},
                              {"normalize_before", false},
                              {"add_final_layer_norm", false},
                              {"tie_word_embeddings", config.tie_embeddings}};
  write_sequence_ids(json, config, tokenizer);
  return json;
}

}  // namespace heddle::formats

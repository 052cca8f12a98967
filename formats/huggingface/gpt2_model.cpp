// GPT-2 as Hugging Face has it.  Source: Radford et al. 2019; the names in the published config.json and
// model.safetensors.
#include "formats/huggingface/foreign_architecture.hpp"
#include "libcore/models/decoder.hpp"

namespace heddle::formats {

namespace {

TensorNames gpt2_tensor_names() {
  constexpr auto transposed = TensorRule::Form::transposed;
  return {
      .prefix = "transformer.",
      .rules = {{"transformer.wte.weight", {"decoder/embedding/token/weight"}},
                {"transformer.wpe.weight", {"decoder/embedding/position/weight"}},
                {"transformer.h.#.ln_1.weight", {"decoder/#/attention_norm/gain"}},
                {"transformer.h.#.ln_1.bias", {"decoder/#/attention_norm/bias"}},
                {"transformer.h.#.attn.c_attn.weight",
                 {"decoder/#/attention/query/weight", "decoder/#/attention/key/weight",
                  "decoder/#/attention/value/weight"},
                 transposed},
                {"transformer.h.#.attn.c_attn.bias",
                 {"decoder/#/attention/query/bias", "decoder/#/attention/key/bias", "decoder/#/attention/value/bias"}},
                {"transformer.h.#.attn.c_proj.weight", {"decoder/#/attention/output/weight"}, transposed},
                {"transformer.h.#.attn.c_proj.bias", {"decoder/#/attention/output/bias"}},
                {"transformer.h.#.ln_2.weight", {"decoder/#/feed_forward_norm/gain"}},
                {"transformer.h.#.ln_2.bias", {"decoder/#/feed_forward_norm/bias"}},
                {"transformer.h.#.mlp.c_fc.weight", {"decoder/#/feed_forward/up/weight"}, transposed},
                {"transformer.h.#.mlp.c_fc.bias", {"decoder/#/feed_forward/up/bias"}},
                {"transformer.h.#.mlp.c_proj.weight", {"decoder/#/feed_forward/down/weight"}, transposed},
                {"transformer.h.#.mlp.c_proj.bias", {"decoder/#/feed_forward/down/bias"}},
                {"transformer.ln_f.weight", {"decoder/norm/gain"}},
                {"transformer.ln_f.bias", {"decoder/norm/bias"}},
                {"lm_head.weight", {"head/weight"}}},
      .copies = {{"lm_head.weight", "transformer.wte.weight"}},
      // Masks of attention.
      .ignored = {"transformer.h.#.attn.bias", "transformer.h.#.attn.masked_bias"},
      .endings = {},
  };
}

models::ModelConfig read_gpt2(const JsonNode& json, const TensorSet&) {
  expect_fixed(
      json, {{"scale_attn_weights", true}, {"scale_attn_by_inverse_layer_idx", false}, {"add_cross_attention", false}});
  models::DecoderConfig config;
  config.layers = json["n_layer"].number();
  config.width = json["n_embd"].number();
  config.heads = json["n_head"].number();
  config.positions = "learned";
  config.context = json["n_positions"].number();
  config.vocab_size = json["vocab_size"].number();
  config.ffn_width = json["n_inner"].number_or(0);
  const JsonNode activation = json["activation_function"];
  config.activation = to_text(activation.is_null() ? Activation::gelu_tanh : read_activation(activation));
  config.norm_epsilon = json["layer_norm_epsilon"].real_or(1e-5);
  config.dropout = json["resid_pdrop"].real_or(0.1);
  config.tie_embeddings = json["tie_word_embeddings"].flag_or(true);
  return config;
}

nlohmann::ordered_json write_gpt2(const models::ModelConfig& model, const text::TokenizerModel& tokenizer) {
  const auto& config = *model.as<models::DecoderConfig>();
  const Index context = config.max_positions().value_or(0);
  nlohmann::ordered_json json{{"architectures", {"GPT2LMHeadModel"}},
                              {"n_layer", config.layers},
                              {"n_embd", config.width},
                              {"n_head", config.heads},
                              {"n_positions", context},
                              {"n_ctx", context},
                              {"n_inner", nullptr},
                              {"vocab_size", config.vocab_size},
                              {"activation_function", foreign_name(from_text<Activation>(config.activation))},
                              {"layer_norm_epsilon", config.norm_epsilon},
                              {"tie_word_embeddings", config.tie_embeddings}};
  if (config.ffn_width > 0) json["n_inner"] = config.ffn_width;
  for (const char* dropout : {"resid_pdrop", "embd_pdrop", "attn_pdrop"}) json[dropout] = config.dropout;
  for (const char* token : {"bos_token_id", "eos_token_id"}) {
    json[token] = tokenizer.end_of_text >= 0 ? nlohmann::ordered_json(tokenizer.end_of_text) : nullptr;
  }
  return json;
}

}  // namespace

ForeignArchitecture gpt2_architecture() {
  return {.model_type = "gpt2",
          .arch = models::DecoderConfig::kind_name,
          .tensors = gpt2_tensor_names(),
          .fields = {"scale_attn_weights", "scale_attn_by_inverse_layer_idx", "add_cross_attention", "n_layer",
                     "n_embd", "n_head", "n_positions", "vocab_size", "n_inner", "activation_function",
                     "layer_norm_epsilon", "resid_pdrop", "tie_word_embeddings", "eos_token_id"},
          .read_config = read_gpt2,
          .write_config = write_gpt2};
}

}  // namespace heddle::formats

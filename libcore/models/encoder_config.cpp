#include "libcore/models/encoder_config.hpp"

#include <algorithm>

#include "libcore/models/roles.hpp"

namespace heddle::models {

EncoderConfig::EncoderConfig() {
  width = 256;
  positions = "rope";
  norm = "rms";
  gated = true;
  activation = "silu";
}

EncoderConfig EncoderConfig::bert() {
  EncoderConfig config;
  config.positions = "learned";
  config.norm = "layer";
  config.gated = false;
  config.activation = "gelu";
  config.block = "post";
  config.norm_epsilon = 1e-12;
  config.dropout = 0.1;
  config.embedding_norm = true;
  return config;
}

TransformerConfig EncoderConfig::generator() const {
  TransformerConfig result = *this;
  result.width = generator_width;
  if (generator_layers > 0) result.layers = generator_layers, result.distinct_layers = 0;
  const bool has_usual = ffn_width == 0 || ffn_width == usual_inner_width();
  result.ffn_width = has_usual ? 0 : std::max<Index>(1, ffn_width * generator_width / width);
  result.kv_heads = 0;
  if (head_width * heads == width) result.head_width = 0;
  result.heads = std::max<Index>(1, heads * generator_width / width);
  while (generator_width % result.heads != 0) --result.heads;
  return result;
}

void EncoderConfig::prepare_for(std::string_view role) {
  if (role != ReplacementDetector::ability || has_generator()) return;
  generator_width = std::max<Index>(1, width >= 256 ? width / 4 : width / 2);
}

void EncoderConfig::spell_out() {
  TransformerConfig::spell_out();
  embedding_width = token_width();
  if (has_generator() && generator_layers == 0) generator_layers = layers;
}

void EncoderConfig::validate() const {
  check_transformer(*this, {});
  check_layers(layers);
  if (has_generator()) {
    check<UsageError>(!next_sentence, "`next_sentence` is not for models with a generator; ",
                      "leave out one of `next_sentence` and `generator_width`");
    naming_errors(concatenate("`generator_width` = ", generator_width), [&] { check_transformer(generator(), {}); });
  }
  check<UsageError>(has_generator() || generator_layers == 0, "`generator_layers` = ", generator_layers,
                    ": the model has no generator; give `generator_width`");
  check<UsageError>(masked_head || !(has_generator() || next_sentence),
                    "`masked_head` = false: ", has_generator() ? "`generator_width`" : "`next_sentence`",
                    " needs that head");
  check<UsageError>(!next_sentence || (pooler && segments >= 2),
                    "`next_sentence` needs a pooler and at least 2 segments");
}

}  // namespace heddle::models

#include "heddle/models/config.hpp"

#include "heddle/attention/attention.hpp"

namespace heddle::models {

namespace {

ModelConfig gpt2(Index layers, Index width, Index heads) {
  ModelConfig config;
  config.layers = layers;
  config.width = width;
  config.heads = heads;
  config.context = 1024;
  config.vocab_size = 50257;
  return config;
}

ModelConfig nano() {
  ModelConfig config;
  config.bias = false;
  return config;
}

}  // namespace

void check_config(const ModelConfig& config) {
  check_ranges(config);
  check<UsageError>(config.width % config.heads == 0, "width = ", config.width, " is not divisible by heads = ",
                    config.heads);
  make_attention(config.attention, {config.heads, config.width / config.heads});
}

const std::vector<Preset>& presets() {
  // Source: Radford et al. 2019, "Language models are unsupervised multitask learners", table 2; nano is the CPU recipe
  // of the nanoGPT repository (4 layers, 4 heads, width 128, context 64, no biases).
  static const std::vector<Preset> list = {
      {"nano", "4 layers, width 128, context 64: minutes on a CPU", nano()},
      {"gpt2", "GPT-2 small, 124 M parameters", gpt2(12, 768, 12)},
      {"gpt2-medium", "355 M parameters", gpt2(24, 1024, 16)},
      {"gpt2-large", "774 M parameters", gpt2(36, 1280, 20)},
      {"gpt2-xl", "1.56 G parameters", gpt2(48, 1600, 25)},
  };
  return list;
}

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const Preset& entry : presets()) names.push_back(entry.name);
  return names;
}

const ModelConfig& preset(const std::string& name) {
  for (const Preset& entry : presets()) {
    if (entry.name == name) return entry.config;
  }
  throw UsageError(concatenate("preset '", name, "' is not one of ", join(preset_names())));
}

double training_flops_per_token(const ModelConfig& config, Index parameters, Index time) {
  const Index positions = config.positions == PositionKind::learned ? config.context * config.width : 0;
  return 6.0 * static_cast<double>(parameters - positions) +
         12.0 * static_cast<double>(config.layers * config.width * time);
}

}  // namespace heddle::models

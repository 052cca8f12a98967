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

ModelConfig bert(Index layers, Index width, Index heads) {
  ModelConfig config;
  config.arch = Architecture::encoder;
  config.layers = layers;
  config.width = width;
  config.heads = heads;
  config.context = 512;
  config.vocab_size = 30522;
  config.activation = Activation::gelu;
  config.norm_position = NormPosition::post;
  config.norm_epsilon = 1e-12;
  config.dropout = 0.1;
  config.segments = 2;
  config.embedding_norm = true;
  config.pooler = true;
  return config;
}

ModelConfig roberta() {
  ModelConfig config = bert(12, 768, 12);
  config.vocab_size = 50265;
  config.norm_epsilon = 1e-5;
  config.segments = 1;
  config.position_offset = 2;
  return config;
}

}  // namespace

void check_config(const ModelConfig& config, Naming naming) {
  const auto name = [naming](const char* field) {
    return naming == Naming::options ? "--" + Field(field, "").option() : std::string(field);
  };
  check_ranges(config);
  check<UsageError>(config.width % config.heads == 0, name("width"), " = ", config.width, " is not divisible by ",
                    name("heads"), " = ", config.heads);
  check<UsageError>(config.position_offset == 0 || config.positions == PositionKind::learned, name("position_offset"),
                    " is for learned positions only");
  check<UsageError>(config.arch == Architecture::encoder || !(config.pooler || config.next_sentence), name("pooler"),
                    " and ", name("next_sentence"), " are for encoders only");
  check<UsageError>(!config.next_sentence || (config.pooler && config.segments >= 2), name("next_sentence"),
                    " needs a pooler and at least 2 segments");
  make_attention(config.attention, {config.heads, config.width / config.heads});
}

const std::vector<Preset>& presets() {
  // Source: Radford et al. 2019, "Language models are unsupervised multitask learners", table 2; nano is the CPU recipe
  // of the nanoGPT repository (4 layers, 4 heads, width 128, context 64, no biases); Devlin et al. 2019, "BERT",
  // section 3, and Liu et al. 2019, "RoBERTa", with the context, epsilons and positions of the models they published.
  static const std::vector<Preset> list = {
      {"nano", "4 layers, width 128, context 64: minutes on a CPU", nano()},
      {"gpt2", "GPT-2 small, 124 M parameters", gpt2(12, 768, 12)},
      {"gpt2-medium", "355 M parameters", gpt2(24, 1024, 16)},
      {"gpt2-large", "774 M parameters", gpt2(36, 1280, 20)},
      {"gpt2-xl", "1.56 G parameters", gpt2(48, 1600, 25)},
      {"bert-base", "BERT, 109 M parameters without the head", bert(12, 768, 12)},
      {"bert-large", "335 M parameters without the head", bert(24, 1024, 16)},
      {"roberta-base", "RoBERTa, 125 M parameters without the head", roberta()},
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
  const std::string near = nearest(name, preset_names());
  throw UsageError(concatenate("preset '", name, "' is not one of ", join(preset_names()),
                               near.empty() ? "" : "; did you mean '" + near + "'?"));
}

double training_flops_per_token(const ModelConfig& config, Index parameters, Index time) {
  const Index positions = config.positions == PositionKind::learned ? config.context * config.width : 0;
  return 6.0 * static_cast<double>(parameters - positions) +
         12.0 * static_cast<double>(config.layers * config.width * time);
}

}  // namespace heddle::models

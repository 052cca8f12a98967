#include "tools/pretrain/options.hpp"

namespace heddle {

models::ModelConfig chosen_model(const PretrainOptions& options, const cli::Arguments& arguments) {
  models::ModelConfig config =
      options.model.chosen(arguments, options.preset.empty() ? nullptr : &models::preset(options.preset));
  training::prepare(config, options.settings.objective);
  return config;
}

}  // namespace heddle

#include "tools/pretrain/options.hpp"

namespace heddle {

models::ModelConfig chosen_model(const PretrainOptions& options, const cli::Arguments& arguments) {
  return options.model.chosen(arguments, options.preset.empty() ? nullptr : &models::preset(options.preset));
}

}  // namespace heddle

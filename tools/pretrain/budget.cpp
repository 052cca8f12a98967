#include "tools/pretrain/budget.hpp"

#include "libcore/base/strings.hpp"
#include "libcore/models/architecture.hpp"
#include "libcore/models/roles.hpp"

namespace heddle {

std::string small_budget(const models::ModelConfig& model, Index steps, const training::TrainingOptions& training) {
  if (!models::architecture(model.arch()).plays(models::MaskedPredictor::what)) return "";
  constexpr Index enough = 5000000;  // tokens
  const Index per_step = training.samples_per_step() * model->training_length();
  if (steps * per_step >= enough) return "";
  return concatenate(grouped(steps * per_step),
                     " tokens are a small budget: encoders of 4 layers were no better than a bag of words (finetune "
                     "--arch bag) before they had read about ",
                     grouped(enough), "; --steps ", (enough + per_step - 1) / per_step, " reads so many");
}

}  // namespace heddle

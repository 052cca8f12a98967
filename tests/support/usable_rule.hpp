// Update rules of the list with what they need besides their settings.
#pragma once

#include "libcore/models/model.hpp"
#include "libcore/training/optimizer.hpp"

namespace heddle::testing {

// The rule; where a model takes its steps, with a small one.
inline training::OptimizerChoice usable(training::OptimizerChoice rule) {
  if (rule->rule_file())
    rule->use(models::make_model(models::ModelConfig::from("lstm-rule:layers=1,width=3,scale=0.1"), 3));
  return rule;
}

}  // namespace heddle::testing

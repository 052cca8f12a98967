// AdamW for rules that use it for a part of the parameters.
#pragma once

#include <memory>

#include "libcore/training/optimizer.hpp"

namespace heddle::training {

// AdamW over those parameters that are taken.
std::unique_ptr<Optimizer> make_adamw_of(const OptimizerOptions& options, Parameters& parameters,
                                         bool (*takes)(const Parameter&));

}  // namespace heddle::training

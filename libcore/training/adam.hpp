// Common parts of Adam and the rules derived from it.
#pragma once

#include <memory>

#include "libcore/training/slices.hpp"

namespace heddle::training {

struct AdamSettings : OptimizerSettings {
  double beta1 = 0.9, beta2 = 0.98, epsilon = 1e-8;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("beta1", "decay of the first moment").range(0, 0.999999).takes("X"), self.beta1);
    visitor(Field("beta2", "decay of the second moment").range(0, 0.999999).takes("X"), self.beta2);
    visitor(Field("epsilon", "added to the square root of the second moment").above(0, 1).takes("X"), self.epsilon);
    OptimizerSettings::visit(self, visitor);
  }
};

// AdamW over those parameters that are taken, for rules that use it for a part of them.
std::unique_ptr<Optimizer> make_adamw(const AdamSettings& settings, Parameters& parameters, const Takes& takes);
// The same with coupled.cpp's rule for output embeddings.
std::unique_ptr<Optimizer> make_coupled(const AdamSettings& settings, Parameters& parameters, const Takes& takes);

}  // namespace heddle::training

// Update rules that are models: each coordinate of what is trained gets its step from its own gradients so far, by one
// network for all coordinates (SPEC 6.3, A12, A13).
#pragma once

#include <vector>

#include "libcore/models/architecture.hpp"

namespace heddle::models {

// Settings of update-rule models.
struct RuleConfig : CommonConfig {
  double scale = 0.01;
  double precision = 10;
  std::string learned_on;  // "": nothing yet
  Index horizon = 0;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("scale", "factor of the updates").above(0, 1000).takes("X"), self.scale);
    visitor(Field("precision", "p: gradients below e^-p count in proportion, larger ones by their logarithms / p")
                .above(0, 100)
                .takes("P"),
            self.precision);
    visitor(Field("learned_on", "the problems on which it was trained").computed(), self.learned_on);
    visitor(Field("horizon", "steps of these problems; 0: none yet").range(0).computed(), self.horizon);
  }
};

// (log|g| / p, sign g) for |g| >= e^-p, else (-1, e^p g): [coordinates] -> [coordinates, 2].
// Source: Andrychowicz et al. 2016, appendix A.
Tensor gradient_features(const Tensor& gradients, double precision);

}  // namespace heddle::models

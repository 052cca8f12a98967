// Measured recipe for pre-training a new model: an update rule, a schedule, and what shapes of which size reach with
// how much text.
#pragma once

#include <string>
#include <vector>

#include "libcore/base/real.hpp"

namespace heddle::models {

// Scale of a training run, which determines the loss.
struct TrainingScale {
  double parameters;  // in the layers, without embeddings and output
  double units;       // tokens that training reads
  double unique;      // distinct ones: a pass over the data
};

// The validation loss L, N the parameters, D the units (tokens), U those of one pass:
//   L = floor + width (N / 10^6)^-width_power + data (D' / 10^6)^-data_power,
//   D' = min(D, U) + U r (1 - exp(-max(0, D / U - 1) / r)),
// so that what is read again counts less each time: r passes more count (1 - 1/e) r.
// Sources: Hoffmann et al. 2022, "Training compute-optimal large language models", section 3.3; Muennighoff et al.
// 2023, "Scaling data-constrained language models", section 3.1.
struct ScalingLaw {
  double floor = 0, width = 0, width_power = 1, data = 0, data_power = 1, repeats = 15;
  double error = 0;  // margin for other texts and tokenizers: relative error of the loss
  // Whether losses are those of next tokens in nats per byte of text; else they only rank shapes.
  bool is_per_byte = false;

  double loss(const TrainingScale& of) const;
};

struct Recipe {
  std::string optimizer = "adamw", schedule = "cosine";
  // Settings of a model and its `batch_size`, from small to large, among which a budget chooses; none: it cannot.
  struct Shape {
    std::string settings;
    Index batch_size;
  };
  std::vector<Shape> shapes = {};
  ScalingLaw law = {};
  // Where a budget allows more steps than these, each has as many times as many micro-batches instead; 0:
  // however many.
  Index most_steps = 0;
};

}  // namespace heddle::models

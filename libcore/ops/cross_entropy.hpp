// The loss of predicting classes, usually tokens.
#pragma once

#include <vector>

#include "libcore/autograd/tape.hpp"

namespace heddle::ops {

struct CrossEntropy {
  // Each target's distribution is (1 - smoothing) on the target plus smoothing / classes on every class (SPEC 4.1).
  double smoothing = 0;
  // The sum of losses is divided by this; 0 means by the number of targets that count. With gradient accumulation it is
  // the number of targets in the whole step, so that splitting a batch into micro-batches does not change the loss.
  double divisor = 0;
  // A row counts as much as its target's weight says, in the default divisor too; empty means one for every class.
  std::vector<double> class_weights{};
  // linear_cross_entropy: the logits are c tanh(z / c) for this c and z = hidden W^T + b; 0: z (Gemma Team 2024, "Gemma
  // 2", section 2).
  double cap = 0;
};

// loss = sum over rows of -sum_c q_c log softmax(logits)_c / divisor, in nats; rows whose target is negative are
// ignored. Shapes: logits [..., classes], one target a row -> [1]. Backward: d logits = (p - q) / divisor, stored in
// the memory of the logits if nothing else uses them, so that only one [rows, classes] array exists.  Throws DataError
// for a target outside the classes.
Variable cross_entropy(const Variable& logits, const std::vector<TokenId>& targets, const CrossEntropy& options = {});

// The same of the logits hidden W^T + b, computed for some rows at a time if there are many; b may be empty.
// Shapes: hidden [..., width], weight [classes, width], bias [classes], one target a row -> [1].
Variable linear_cross_entropy(const Variable& hidden, const Variable& weight, const Variable& bias,
                              const std::vector<TokenId>& targets, const CrossEntropy& options = {});

// -log softmax(logits)[target] for each row, nats; 0 where the target is negative.  Shapes: as above -> [rows].
std::vector<double> negative_log_likelihoods(const Tensor& logits, const std::vector<TokenId>& targets);

}  // namespace heddle::ops

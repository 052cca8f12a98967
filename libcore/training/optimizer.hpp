// Update rules. One pass over memory: weights, gradients and moments are read once and written once.
#pragma once

#include <string>
#include <vector>

#include "heddle/autograd/parameters.hpp"
#include "heddle/training/options.hpp"

namespace heddle::training {

// A tensor of the optimizer's memory, by the name under which files keep it: "m/decoder/0/…".
struct OptimizerMoment {
  std::string name;
  Tensor value;
};

// t counts from 1; decay applies to parameters declared with Decay::yes.
//   adamw:   m = b1 m + (1 - b1) g, v = b2 v + (1 - b2) g^2, w -= r (m^ / (sqrt v^ + eps) + decay w),
//            m^ = m / (1 - b1^t), v^ = v / (1 - b2^t)                       (Loshchilov and Hutter 2019)
//   adam:    the same with g + decay w for g and no decay outside           (Kingma and Ba 2015)
//   adagrad: v += g^2, w -= r g / (sqrt v + eps)                            (Duchi et al. 2011)
//   sgd:     m = momentum m + g, w -= r m                                   (decay as adam)
class Optimizer {
 public:
  Optimizer(const OptimizerOptions& options, Parameters& parameters);

  // One update with gradients times gradient_scale. step counts from 0.
  void update(Index step, double learning_rate, double gradient_scale);
  // Zeros before the first update; for saving and restoring.
  const std::vector<OptimizerMoment>& moments() const { return moments_; }

 private:
  struct Slot {
    Index parameter, begin, end;  // elements of one parameter
  };
  OptimizerOptions options_;
  Parameters& parameters_;
  std::vector<OptimizerMoment> moments_;
  std::vector<Tensor> first_, second_;  // one a parameter; empty where the rule has none
  std::vector<Slot> slots_;
};

// The norm of all gradients as one vector, accumulated in double in a fixed order.
double gradient_norm(const Parameters& parameters);

}  // namespace heddle::training

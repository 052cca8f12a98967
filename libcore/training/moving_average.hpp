// A moving average of the weights, which generalises better than the last ones and evens out their noise (Polyak and
// Juditsky 1992; Izmailov et al. 2018).
#pragma once

#include <vector>

#include "libcore/autograd/parameters.hpp"
#include "libcore/training/state.hpp"

namespace heddle::training {

// a = d a + (1 - d) w after each step, from the weights as they were at first; in the n-th step d = min(decay,
// (1 + n) / (10 + n)), so that the beginning does not count for long.
//
// One of the two is in the model, the other is kept here: exchange() before and after the model is evaluated or saved
// with its average, and the file keeps the weights that training resumes with as "trained/NAME".
class MovingAverage {
 public:
  // A decay of 0 means no average.
  MovingAverage(double decay, Parameters& parameters);

  // The model must have the trained weights; step counts from 0.
  void update(Index step) const;
  void exchange() const;
  // Exchanges the two, and back at its end.
  class Exchanged {
   public:
    explicit Exchanged(const MovingAverage& average) : average_(average) { average_.exchange(); }
    ~Exchanged() { average_.exchange(); }
    Exchanged(const Exchanged&) = delete;
    Exchanged& operator=(const Exchanged&) = delete;

   private:
    const MovingAverage& average_;
  };
  // State that is not in the model; for saving and restoring.
  const std::vector<StateTensor>& kept() const { return kept_; }

 private:
  double decay_;
  std::vector<StateTensor> kept_;
  std::vector<Tensor> weights_;  // the model's, in the same order
};

}  // namespace heddle::training

// The state of training from step to step besides the weights.
#pragma once

#include <string>

#include "libcore/tensor/tensor.hpp"

namespace heddle::training {

// A tensor of it, by the name under which files keep it: "m/decoder/0/…". Copies share the elements, so that restoring
// a state is writing into its tensors.
struct StateTensor {
  std::string name;
  Tensor value;
};

}  // namespace heddle::training

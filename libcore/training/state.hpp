// The state of training from step to step besides the weights.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "libcore/nn/model_ranks.hpp"
#include "libcore/parallel/group.hpp"
#include "libcore/tensor/tensor.hpp"

namespace heddle::training {

// A tensor of it, by the name under which files keep it: "m/decoder/0/…". Copies share the elements, so that restoring
// a state is writing into its tensors.
struct StateTensor {
  std::string name;
  Tensor value;
  std::optional<nn::PartOfWhole> part{};  // set if the file has a larger tensor, of which this rank has a part
};

// A tensor of which other ranks may have parts, or all; they send these when the first one calls get().
struct StateSource {
  std::string name;
  std::function<Tensor()> get;
};

// To be called on all ranks: calls save() on the first, with its own tensors and those that only others have, each
// whole, and returns when that has returned. What save() throws is thrown on the first rank.
void show_state(const std::vector<StateTensor>& own, const parallel::Group& group,
                const std::function<void(const std::vector<StateSource>&)>& save);

}  // namespace heddle::training

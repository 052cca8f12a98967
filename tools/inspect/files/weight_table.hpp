// The table of a model's weights.
#pragma once

#include <span>
#include <string>

#include "formats/heddle/tensor_group.hpp"

namespace heddle {

// One line per kind of tensor: tensors that differ only in the layer number share a line, which has the number of their
// parameters; the last line has the total.
std::string weight_table(std::span<const formats::TensorInfo> weights);

}  // namespace heddle

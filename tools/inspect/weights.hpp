// The table of a model's weights.
#pragma once

#include <span>
#include <string>

#include "heddle/formats/heddle/tensor_group.hpp"

namespace heddle {

// A line for each kind of tensor: those that differ only in the number of their layer share one, with the parameters of
// all of them; the last line has the total.
std::string weight_table(std::span<const formats::TensorInfo> weights);

}  // namespace heddle

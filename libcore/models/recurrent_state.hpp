// States of recurrent layers during generation.
#pragma once

#include <vector>

#include "libcore/nn/recurrent.hpp"

namespace heddle::models {

// Row i of the result is row rows[i].
nn::Recurrent::State picked_rows(const nn::Recurrent::State& state, const std::vector<Index>& rows);

// `next` in the rows that add a token at time t of a step, `state` in the others, for which it is padding.
void replace_rows(nn::Recurrent::State& state, const nn::Recurrent::State& next, const std::vector<Index>& added,
                  Index t);

}  // namespace heddle::models

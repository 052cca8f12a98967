#include "libcore/models/recurrent_state.hpp"

#include <algorithm>

namespace heddle::models {

nn::Recurrent::State picked_rows(const nn::Recurrent::State& state, const std::vector<Index>& rows) {
  nn::Recurrent::State picked;
  for (const Variable& all : state) {
    const Tensor some({static_cast<Index>(rows.size()), all.shape()[1]});
    for (std::size_t i = 0; i < rows.size(); ++i) {
      some.narrowed(0, static_cast<Index>(i), 1).assign(all.value().narrowed(0, rows[i], 1));
    }
    picked.emplace_back(some);
  }
  return picked;
}

void replace_rows(nn::Recurrent::State& state, const nn::Recurrent::State& next, const std::vector<Index>& added,
                  Index t) {
  if (std::ranges::all_of(added, [t](Index count) { return t < count; })) {
    state = next;
    return;
  }
  for (std::size_t part = 0; part < state.size(); ++part) {
    const Tensor merged = state[part].value().copy();
    for (std::size_t b = 0; b < added.size(); ++b) {
      const auto row = static_cast<Index>(b);
      if (t < added[b]) merged.narrowed(0, row, 1).assign(next[part].value().narrowed(0, row, 1));
    }
    state[part] = Variable(merged);
  }
}

}  // namespace heddle::models

#include "heddle/nn/position.hpp"

#include <algorithm>
#include <cmath>

#include "heddle/ops/arithmetic.hpp"
#include "heddle/ops/embedding.hpp"
#include "heddle/tensor/threads.hpp"

namespace heddle::nn {

Tensor sinusoidal_positions(Index time, Index width) {
  const Tensor table({time, width});
  parallel_for(time, [&](Index t) {
    for (Index i = 0; i < width; ++i) {
      const double frequency = std::pow(10000.0, -static_cast<double>(i - i % 2) / static_cast<double>(width));
      const double angle = frequency * static_cast<double>(t);
      table[t * width + i] = static_cast<Real>(i % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  });
  return table;
}

Position::Position(const Scope& scope, const PositionOptions& options, double deviation)
    : context_(options.context), offset_(options.offset) {
  if (options.kind == PositionKind::learned) {
    table_ = scope.parameter("weight", {offset_ + context_, options.width}, Initializer::normal(deviation), Decay::yes);
  } else if (options.kind == PositionKind::sinusoidal) {
    table_ = Variable(sinusoidal_positions(context_, options.width));
  }
}

Variable Position::operator()(const Variable& x, const std::vector<Index>& starts) const {
  const Index batch = x.shape()[0], time = x.shape()[1];
  const Index first = starts.empty() ? 0 : *std::min_element(starts.begin(), starts.end());
  check<DataError>(first + time <= context_, "a sequence of ", first + time, " tokens is longer than the context of ",
                   context_);
  if (table_.empty()) return x;
  if (starts.empty()) {
    return ops::add_to_each(
        x, view(table_, [time, row = offset_](const Tensor& t) { return t.narrowed(0, row, time).as(Element::real); }));
  }
  TokenIds positions(Shape{batch, time});
  for (Index b = 0; b < batch; ++b) {
    for (Index t = 0; t < time; ++t) {
      positions.ids[static_cast<std::size_t>(b * time + t)] =
          static_cast<TokenId>(offset_ + std::min(starts[static_cast<std::size_t>(b)] + t, context_ - 1));
    }
  }
  return ops::add(x, ops::embed(positions, table_));
}

}  // namespace heddle::nn

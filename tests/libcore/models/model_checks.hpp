// Properties of every model that plays a role, as checks for tests of one model and of all of them. For double.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "libcore/base/random.hpp"
#include "libcore/models/model.hpp"

namespace heddle::testing {

inline TokenIds some_ids(Index batch, Index time, Index vocab) {
  TokenIds ids(Shape{batch, time});
  const RandomStream stream(5, 6);
  for (std::size_t i = 0; i < ids.ids.size(); ++i) {
    ids.ids[i] = static_cast<TokenId>(stream.below(i, static_cast<std::uint64_t>(vocab)));
  }
  return ids;
}

// Signs of 1 / sqrt(size): a direction of length 1 in which every element moves.
inline std::vector<double> some_direction(Index size, std::uint64_t number) {
  const RandomStream stream(7, number);
  std::vector<double> direction(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < direction.size(); ++i) {
    direction[i] = (stream.below(i, 2) == 0 ? -1.0 : 1.0) / std::sqrt(static_cast<double>(size));
  }
  return direction;
}

// The loss where a parameter has moved by h in the direction.
inline double loss_at(const Parameter& parameter, const std::vector<double>& direction, double h,
                      const std::function<Variable()>& loss) {
  const std::vector<Real> kept = parameter.value().elements();
  for (Index i = 0; i < parameter.size(); ++i) parameter.value()[i] += h * direction[static_cast<std::size_t>(i)];
  const double moved = loss().value()[0];
  for (Index i = 0; i < parameter.size(); ++i) parameter.value()[i] = kept[static_cast<std::size_t>(i)];
  return moved;
}

// The gradient of every parameter matches finite differences of the loss [1], which is the same at each call, in two
// directions: each depends on every element.
inline void check_gradients(Parameters& parameters, const std::function<Variable()>& loss) {
  parameters.clear_gradients();
  {
    Recording recording;
    recording.backward(loss());
  }
  for (const Parameter& parameter : parameters.all()) {
    CAPTURE(parameter.name);
    const Tensor gradient = parameter.gradient();
    for (const std::uint64_t number : {1, 2}) {
      const std::vector<double> direction = some_direction(parameter.size(), number);
      constexpr double h = 1e-5;
      const double numeric =
          (loss_at(parameter, direction, h, loss) - loss_at(parameter, direction, -h, loss)) / (2 * h);
      double analytic = 0;
      for (std::size_t i = 0; i < direction.size(); ++i) analytic += direction[i] * gradient[static_cast<Index>(i)];
      // Differences of a loss near 3 carry rounding of about 1e-11.
      CHECK(std::abs(numeric - analytic) < 1e-6 * (std::abs(numeric) + std::abs(analytic)) + 1e-10);
    }
  }
}

// For each row of ids, the first added[row] tokens after those of `seen`, padded to the most that a row adds.
inline TokenIds next_ids(const TokenIds& ids, const std::vector<Index>& seen, const std::vector<Index>& added) {
  const Index most = *std::ranges::max_element(added), batch = ids.shape[0], time = ids.shape[1];
  TokenIds part(Shape{batch, most});
  for (Index b = 0; b < batch; ++b) {
    const auto row = static_cast<std::size_t>(b);
    std::copy_n(ids.ids.begin() + b * time + seen[row], added[row], part.ids.begin() + b * most);
  }
  return part;
}

// The logits after each row's last token are those of the whole: logits [rows, vocab], whole [batch, time, vocab],
// where row i has seen seen[i] tokens of row rows[i].
inline void check_logits(const Tensor& logits, const Tensor& whole, const std::vector<Index>& rows,
                         const std::vector<Index>& seen) {
  const Index time = whole.shape()[1], vocab = whole.shape()[2];
  REQUIRE(logits.shape() == Shape{static_cast<Index>(rows.size()), vocab});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Index at = (rows[i] * time + seen[i] - 1) * vocab;
    for (Index v = 0; v < vocab; ++v) {
      CHECK(logits[static_cast<Index>(i) * vocab + v] == doctest::Approx(whole[at + v]).epsilon(1e-10));
    }
  }
}

// Token by token, and with rows of different lengths, a generator says what the model says of whole texts: ids [2, 8],
// whole [2, 8, vocab].
inline void check_steps(const models::Generator& model, const TokenIds& ids, const Tensor& whole) {
  const auto state = model.start({2, 8});
  for (const auto& added : std::vector<std::vector<Index>>{{3, 1}, {1, 1}, {1, 1}, {2, 4}, {1, 1}}) {
    const Tensor logits = model.step(next_ids(ids, state->seen(), added), added, *state);
    check_logits(logits, whole, {0, 1}, state->seen());
  }
  CHECK(state->seen() == std::vector<Index>{8, 8});
}

}  // namespace heddle::testing

#include "libcore/ops/pass.hpp"

#include "libcore/ops/arithmetic.hpp"

namespace heddle {

Index Pass::position_number(Index sample, Index position, Index time) const {
  check<ShapeError>(sample_positions == 0 || time <= sample_positions, "a batch of ", time,
                    " positions, of samples of ", sample_positions);
  return (first_sample + sample) * (sample_positions > 0 ? sample_positions : time) + position;
}

Variable Pass::drop(const Variable& x, std::uint64_t site, double rate) const {
  if (rate == 0) return x;
  const Shape& shape = x.shape();
  const Index batch = shape[0], width = shape[-1];
  std::vector<Index> first;
  if (shape.rank() == 2) {  // a row for each sample
    first.push_back(first_sample * width);
  } else {
    const Index time = shape[1];
    const bool on_end = sample_positions == 0 || time == sample_positions;
    for (Index b = 0; b < (on_end ? 1 : batch); ++b) first.push_back(position_number(b, 0, time) * width);
  }
  return ops::dropout(x, rate, RandomStream(seed, site, step), std::move(first));
}

Variable Pass::drop_samples(const Variable& x, std::uint64_t site) const {
  if (sample_dropout == 0) return x;
  const RandomStream stream(seed, site, step);
  std::vector<Real> factors;
  for (Index b = 0; b < x.shape()[0]; ++b) {
    const bool is_kept = stream.uniform(static_cast<std::uint64_t>(first_sample + b)) >= sample_dropout;
    factors.push_back(is_kept ? static_cast<Real>(1 / (1 - sample_dropout)) : Real(0));
  }
  return ops::scale_samples(x, factors);
}

Pass Pass::again(Index times) const {
  Pass result = *this;
  if (times > 0) result.seed = random_site(concatenate("again ", times)) ^ seed;
  return result;
}

Variable Pass::drop_rows(const Variable& x, std::uint64_t site, const std::vector<Index>& positions, Index time) const {
  if (dropout == 0) return x;
  std::vector<Index> first;
  for (const Index position : positions) {
    first.push_back(position_number(position / time, position % time, time) * x.shape()[-1]);
  }
  return ops::dropout(x, dropout, RandomStream(seed, site, step), std::move(first));
}

}  // namespace heddle

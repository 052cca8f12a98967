#include "libcore/training/optimizer.hpp"

#include <cmath>
#include <numeric>
#include <string>

#include "libcore/tensor/kernel.hpp"
#include "libcore/tensor/profile.hpp"
#include "libcore/tensor/threads.hpp"
#include "libcore/training/slices.hpp"

namespace heddle::training {

#define HEDDLE_OPTIMIZER(name, summary) OptimizerChoice name##_defaults();
#include "libcore/training/optimizers.def"
#undef HEDDLE_OPTIMIZER

namespace {

HEDDLE_KERNEL double sum_of_squares(const Real* x, Index count) {
  double sum = 0;
  HEDDLE_SIMD_SUM(sum)
  for (Index i = 0; i < count; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  return sum;
}

// The sum of part(begin, end) over ranges of `grain`, in their order whatever the threads do.
template <class Part>
double sum_of_parts(Index count, Index grain, const Part& part) {
  std::vector<double> sums(static_cast<std::size_t>((count + grain - 1) / grain), 0.0);
  parallel_ranges(count, grain,
                  [&](Index begin, Index end) { sums[static_cast<std::size_t>(begin / grain)] = part(begin, end); });
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

double sum_of_squares(const Tensor& table, const std::vector<Index>& rows) {
  const Index width = table.shape()[1];
  return sum_of_parts(static_cast<Index>(rows.size()), rows_per_task, [&](Index begin, Index end) {
    double sum = 0;
    for (Index i = begin; i < end; ++i) {
      sum += sum_of_squares(table.data() + rows[static_cast<std::size_t>(i)] * width, width);
    }
    return sum;
  });
}

}  // namespace

double sum_of_squares(const Tensor& tensor) {
  return sum_of_parts(tensor.size(), slice_elements,
                      [&](Index begin, Index end) { return sum_of_squares(tensor.data() + begin, end - begin); });
}

bool is_embedding(const Parameter& parameter) {
  const std::string path = "/" + parameter.name;
  const auto has = [&](const char* name) { return path.find(name) != path.npos; };
  return has("/embedding/") && !has("/embedding/projection/") && !has("/readout/") && parameter.value().rank() == 2;
}

double Treatment::rate_of(const Parameter& parameter) const {
  return embedding_rate_ == 1 || !is_embedding(parameter) ? parameter.rate : parameter.rate * embedding_rate_;
}

bool Treatment::decays(const Parameter& parameter) const {
  return parameter.decay == Decay::yes && (embedding_decay_ || !is_embedding(parameter));
}

double squared_norm_of_gradient(const Parameter& parameter) {
  Section section("gradient norm");
  const Tensor gradient = parameter.gradient();
  const std::optional<std::vector<Index>> rows = parameter.variable.gradient()->rows();
  section.add_bytes((rows ? fraction_of_rows(*rows, gradient) : 1) * static_cast<double>(gradient.bytes()));
  return rows ? sum_of_squares(gradient, *rows) : sum_of_squares(gradient);
}

double gradient_norm(const Parameters& parameters) {
  double sum = 0;
  for (const Parameter& parameter : parameters.all()) {
    if (parameter.is_trained()) sum += squared_norm_of_gradient(parameter);
  }
  return std::sqrt(sum);
}

}  // namespace heddle::training

namespace heddle {

template <>
const KindList<training::OptimizerSettings>& kinds() {
  static const KindList<training::OptimizerSettings> list{"optimizer",
                                                          {
#define HEDDLE_OPTIMIZER(name, summary) {#name, summary, training::name##_defaults()},
#include "libcore/training/optimizers.def"
#undef HEDDLE_OPTIMIZER
                                                          }};
  return list;
}

}  // namespace heddle

#include "libcore/nn/stacked_linear.hpp"

namespace heddle::nn {

namespace {

std::vector<std::string> each(const std::vector<std::string>& names, const char* parameter) {
  std::vector<std::string> paths;
  for (const std::string& name : names) paths.push_back(name + parameter);
  return paths;
}

}  // namespace

StackedLinear::StackedLinear(const Scope& scope, const std::vector<std::string>& names, Index in, Index out, Bias bias,
                             double stddev, Divided divided)
    : parts_(static_cast<Index>(names.size())),
      weight_(divided_weight(scope, each(names, "/weight"), {out, in}, Initializer::normal(stddev), divided)),
      out_(weight_.shape()[0] / parts_),
      bias_(bias == Bias::yes ? divided_bias(scope, each(names, "/bias"), out, Initializer::zeros(), divided)
                              : Variable()),
      adapters_(LowRank::of(scope, names, in, out, divided)) {}

Variable StackedLinear::some(const Variable& x, Index first, Index count, const Pass& pass) const {
  const ProductColumns columns{first * out_, count * out_};
  const auto rows = [&](const Variable& parameter) {
    if (count == parts_ || parameter.empty()) return parameter;
    return view(parameter, [columns](const Tensor& t) { return t.narrowed(0, columns.first, columns.count); });
  };
  return ops::linear(x, rows(weight_), rows(bias_), {.low_rank = correction(adapters_, x, pass, columns)});
}

}  // namespace heddle::nn

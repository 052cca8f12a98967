#include "heddle/nn/stacked_linear.hpp"

namespace heddle::nn {

namespace {

std::vector<std::string> each(const std::vector<std::string>& names, const char* parameter) {
  std::vector<std::string> paths;
  for (const std::string& name : names) paths.push_back(name + parameter);
  return paths;
}

}  // namespace

StackedLinear::StackedLinear(const Scope& scope, const std::vector<std::string>& names, Index in, Index out, Bias bias,
                             double stddev)
    : parts_(static_cast<Index>(names.size())),
      weight_(scope.stacked(each(names, "/weight"), {out, in}, Initializer::normal(stddev), Decay::yes)),
      bias_(bias == Bias::yes ? scope.stacked(each(names, "/bias"), {out}, Initializer::zeros(), Decay::no)
                              : Variable()),
      adapters_(LowRank::of(scope, names, in, out)) {}

Variable StackedLinear::operator()(const Variable& x, const Pass& pass) const {
  return ops::linear(x, weight_, bias_, {.low_rank = correction(adapters_, x, pass)});
}

}  // namespace heddle::nn

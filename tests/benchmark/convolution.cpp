// Heads of attention as the taps of a convolution: K heads, of which head k adds `height` to the scores of the key k
// positions after the query and has no other scores, give x_(t+k); weighted by a kernel and added up they are a
// convolution. Prints tab-separated lines: seed, height, the largest difference from the convolution, and the weight of
// all other keys, o / (1 + o) with o = (T - 1) exp(-height).
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "libcore/attention/attention.hpp"
#include "libcore/base/random.hpp"
#include "libcore/ops/convolution.hpp"
#include "tools/cli/run.hpp"

using namespace heddle;

namespace {

struct Options {
  Index seeds = 3, time = 64, width = 16, taps = 3;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("seeds", "number of draws of states and kernel").range(1, 1000).takes("N"), self.seeds);
    visitor(Field("time", "number of positions").range(2, 4096).takes("N"), self.time);
    visitor(Field("width", "width of the states").range(1, 1024).takes("N"), self.width);
    visitor(Field("taps", "taps of the convolution, and heads").range(1, 64).takes("N"), self.taps);
  }
};

Tensor random_tensor(const Shape& shape, Index seed, const char* site) {
  const Tensor values(shape);
  const RandomStream stream(static_cast<std::uint64_t>(seed), random_site(site));
  for (Index i = 0; i < values.size(); ++i) values[i] = static_cast<Real>(stream.normal(static_cast<std::uint64_t>(i)));
  return values;
}

// Inputs that the heads attend to, [1, time, taps, width].
Tensor heads_of(const Tensor& states, const Options& options, double height) {
  const Index reach = options.taps, entries = 2 * reach + 1;
  const Tensor zeros({1, options.taps, options.time, options.width}, Real(0)), values(zeros.shape()),
      bias({options.taps, entries}, Real(0));
  for (Index tap = 0; tap < options.taps; ++tap) {
    bias[tap * entries + reach + tap] = static_cast<Real>(height);
    for (Index i = 0; i < options.time * options.width; ++i) values[tap * options.time * options.width + i] = states[i];
  }
  Parameters parameters(ParameterSource(1));
  const Scope scope(parameters, "");
  const auto attention = make_attention("dot", {scope, scope}, {options.taps, options.width});
  AttentionCall call{.query = Variable(zeros), .key = Variable(zeros), .value = Variable(values)};
  call.offsets.bias = Variable(bias);
  return attention->mix(call).value();
}

double largest_difference(const Options& options, Index seed, double height) {
  const Tensor states = random_tensor({1, options.time, options.width}, seed, "states"),
               kernel = random_tensor({options.taps, options.width}, seed, "kernel");
  const Tensor convolved = ops::convolution(Variable(states), Variable(kernel)).value();
  const Tensor heads = heads_of(states, options, height);
  double largest = 0;
  for (Index t = 0; t + options.taps <= options.time; ++t) {
    for (Index c = 0; c < options.width; ++c) {
      double attended = 0;
      for (Index tap = 0; tap < options.taps; ++tap) {
        attended += kernel[tap * options.width + c] * heads[(t * options.taps + tap) * options.width + c];
      }
      largest = std::max(largest, std::abs(attended - convolved[t * options.width + c]));
    }
  }
  return largest;
}

const cli::About about{
    .name = "benchmark_convolution",
    .summary = "Prints how closely heads of attention with scores of positions alone are a convolution.",
    .synopsis = {"[options]"},
    .operands = {}};

}  // namespace

int main(int argc, char** argv) {
  return cli::run(argc, argv, about, [](cli::Arguments& arguments) {
    const auto options = arguments.read<Options>();
    check<UsageError>(options.taps <= options.time, "--taps = ", options.taps, " is more than --time = ", options.time);
    std::printf("seed\theight\tdifference\tother_weight\n");
    for (Index seed = 1; seed <= options.seeds; ++seed) {
      for (const double height : {2.0, 5.0, 10.0, 15.0, 20.0, 40.0, 100.0, 1000.0}) {
        const double others = static_cast<double>(options.time - 1) * std::exp(-height);
        std::printf("%lld\t%g\t%.3g\t%.3g\n", static_cast<long long>(seed), height,
                    largest_difference(options, seed, height), others / (1 + others));
      }
    }
  });
}

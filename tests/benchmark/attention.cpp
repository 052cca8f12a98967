// The speed of the attention operation on long sequences, and what windows and biases cost: prints JSON.
#include <algorithm>
#include <cmath>
#include <ctime>
#include <functional>
#include <iostream>
#include <memory>
#include <vector>

#include "formats/archives/json_archive.hpp"
#include "libcore/base/random.hpp"
#include "libcore/ops/fused_attention.hpp"
#include "libcore/ops/rotation.hpp"
#include "libcore/tensor/context.hpp"
#include "libcore/tensor/matmul.hpp"
#include "libcore/tensor/precision.hpp"
#include "libcore/tensor/threads.hpp"
#include "measure.hpp"
#include "tools/cli/run.hpp"

using namespace heddle;
using namespace heddle::benchmark;

namespace {

struct Options {
  Index turns = 5, time = 8192, short_time = 1024, window = 256, head_width = 64;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("turns", "how often all is measured; the least time counts").range(1, 1000).takes("N"), self.turns);
    visitor(Field("time", "positions of a long sequence").range(64, 1000000).takes("N"), self.time);
    visitor(Field("short_time", "positions of a short one").range(64, 1000000).takes("N"), self.short_time);
    visitor(Field("window", "keys before a query that a window leaves").range(1, 1000000).takes("N"), self.window);
    visitor(Field("head_width", "width of a head").range(1, 1024).takes("N"), self.head_width);
  }
};

double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Context with one or two threads, in the current precision.
Context context_of(int threads) {
  static const Context one(1), two(2);
  return (threads == 1 ? one : two).with_precision(Context::current().precision());
}

enum class Pass { forward, both };

Tensor random_tensor(const Shape& shape, std::uint64_t seed, DType dtype) {
  const Tensor values(shape);
  const RandomStream stream(seed, random_site("attention"));
  for (Index i = 0; i < values.size(); ++i) values[i] = static_cast<Real>(stream.normal(static_cast<std::uint64_t>(i)));
  return values.as(dtype);
}

// One causal sequence, the same work every time.
class Work {
 public:
  Work(Index heads, Index time, Index width, const ops::FusedAttention& options)
      : options_(options), dy_(random_tensor({1, time, heads, width}, 4, activation_dtype())) {
    // Query, key and value lie in one product, as in a model.
    const Tensor stacked = random_tensor({1, time, 3 * heads * width}, 1, dy_.dtype());
    for (Index i = 0; i < 3; ++i) {
      inputs_.push_back(stacked.narrowed(-1, i * heads * width, heads * width).split(-1, heads).swapped(1, 2));
    }
    options_.scale = static_cast<Real>(1 / std::sqrt(static_cast<double>(width)));
    options_.mask.causal = true;
  }

  // Turns queries and keys by their positions first (RoPE).
  void rotate() { rotation_ = ops::rotation_tables(inputs_[0].shape()[2], inputs_[0].shape()[3]); }

  double seconds(Pass pass) {
    return seconds_of([&] { run(pass); });
  }
  // Processor time of this thread, which other load does not affect.
  double processor_seconds(Pass pass) {
    const ContextScope scope{context_of(1)};
    const double before = thread_seconds();
    run(pass);
    return thread_seconds() - before;
  }
  double flops(Pass pass) {
    const Simulation simulation;
    const double before = matmul_flops();
    run(pass);
    return matmul_flops() - before;
  }

 private:
  Variable leaf_of(const Tensor& value) const {
    const auto gradient = std::make_shared<Gradient>(value.shape(), Gradient::Lifetime::step, value.dtype());
    return {value, gradient};
  }

  Variable placed(const Variable& x) const {
    return rotation_.cosines.empty() ? x : ops::rotate(x, rotation_, ops::Pairing::halves);
  }

  void run(Pass pass) {
    if (pass == Pass::forward) {
      ops::fused_attention(placed(Variable(inputs_[0])), placed(Variable(inputs_[1])), Variable(inputs_[2]), options_);
      return;
    }
    Recording recording;
    const Variable y =
        ops::fused_attention(placed(leaf_of(inputs_[0])), placed(leaf_of(inputs_[1])), leaf_of(inputs_[2]), options_);
    recording.backward(record(Tensor({1}, 0), {y}, [&, g = y.gradient()](const Tensor&) { g->contribute(dy_); }));
  }

  ops::FusedAttention options_;
  ops::RotationTables rotation_;
  std::vector<Tensor> inputs_;
  Tensor dy_;
};

// Least times of several pieces of work that take turns, so that a slow minute meets all of them.
std::vector<double> least_seconds(Index turns, const std::vector<std::function<double()>>& works) {
  std::vector<double> least(works.size(), HUGE_VAL);
  for (Index turn = 0; turn < turns; ++turn) {
    for (std::size_t i = 0; i < works.size(); ++i) least[i] = std::min(least[i], works[i]());
  }
  return least;
}

formats::Json measure(const Options& options, Pass pass) {
  const ops::FusedAttention plain, window{.mask = {.window = options.window}};
  const Tensor table = random_tensor({8, 2 * options.short_time + 1}, 5, DType::real);
  const ops::FusedAttention biased{.offset_bias = Variable(table)};
  Work one_head(1, options.time, options.head_width, plain), heads(8, options.time, options.head_width, plain);
  Work short_heads(8, options.short_time, options.head_width, plain);
  Work windowed(8, options.time, options.head_width, window);
  Work with_bias(8, options.short_time, options.head_width, biased);
  Work rotated(8, options.short_time, options.head_width, plain);
  rotated.rotate();
  const auto on = [pass](int threads, Work& work) {
    return [threads, pass, &work] {
      const ContextScope scope{context_of(threads)};
      return work.seconds(pass);
    };
  };
  const auto alone = [pass](Work& work) { return [pass, &work] { return work.processor_seconds(pass); }; };
  const auto seconds = least_seconds(
      options.turns, {on(1, one_head), on(2, one_head), on(1, heads), on(2, heads), alone(heads), alone(windowed)});
  const auto short_seconds = least_seconds(4 * options.turns, {alone(short_heads), alone(with_bias), alone(rotated)});
  formats::Json json;
  json["two_threads_over_one_1_head"] = seconds[0] / seconds[1];
  json["two_threads_over_one_8_heads"] = seconds[2] / seconds[3];
  json["time_per_operation_long_over_short"] =
      seconds[4] / heads.flops(pass) / (short_seconds[0] / short_heads.flops(pass));
  json["time_window_over_full"] = seconds[5] / seconds[4];
  json["time_offset_bias_over_none"] = short_seconds[1] / short_seconds[0];
  json["time_rotation_over_none"] = short_seconds[2] / short_seconds[0];
  return json;
}

const cli::About about{.name = "benchmark_attention",
                       .summary = "Measures causal attention on long sequences, windows and biases; prints JSON.",
                       .synopsis = {"[options]"},
                       .operands = {}};

}  // namespace

int main(int argc, char** argv) {
  return cli::run(argc, argv, about, [](cli::Arguments& arguments) {
    const auto options = arguments.read<Options>();
    formats::Json json;
    for (const auto& [precision, name] : Names<Precision>::list) {
      if (precision == Precision::bf16 && !bf16_is_supported()) continue;
      const PrecisionScope scope(precision);
      json[std::string(name)]["forward"] = measure(options, Pass::forward);
      json[std::string(name)]["forward and backward"] = measure(options, Pass::both);
    }
    std::cout << json.dump(2) << std::endl;
  });
}

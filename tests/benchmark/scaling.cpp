// Time and memory of attention against the number of positions, for variants that are quadratic and linear: prints a
// table, or JSON. Times are those of one thread's processor, whoever else uses the machine.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <iostream>
#include <string>
#include <vector>

#include "formats/archives/json_archive.hpp"
#include "libcore/attention/attention.hpp"
#include "libcore/base/random.hpp"
#include "libcore/tensor/context.hpp"
#include "libcore/tensor/pool.hpp"
#include "tools/cli/run.hpp"

using namespace heddle;

namespace {

struct Options {
  Index turns = 5, least_time = 256, most_time = 8192, window = 128, heads = 8, head_width = 64, features = 256;
  std::vector<std::string> also;
  bool json = false;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("turns", "how often all is measured; the least time counts").range(1, 1000).takes("N"), self.turns);
    visitor(Field("least_time", "positions of the shortest sequence").range(1, 1000000).takes("N"), self.least_time);
    visitor(Field("most_time", "positions of the longest one").range(1, 1000000).takes("N"), self.most_time);
    visitor(Field("window", "keys before a query that the window leaves").range(1, 1000000).takes("N"), self.window);
    visitor(Field("heads", "number of heads").range(1, 1024).takes("N"), self.heads);
    visitor(Field("head_width", "width of a head").range(1, 1024).takes("N"), self.head_width);
    visitor(Field("features", "random vectors of the performer").range(1, 65536).takes("N"), self.features);
    visitor(Field("also", "other variants to measure").takes("NAME,..."), self.also);
    visitor(Field("json", "print JSON"), self.json);
  }
};

double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

Tensor random_tensor(const Shape& shape, std::uint64_t seed) {
  const Tensor values(shape);
  const RandomStream stream(seed, random_site("scaling"));
  for (Index i = 0; i < values.size(); ++i) values[i] = static_cast<Real>(stream.normal(static_cast<std::uint64_t>(i)));
  return values;
}

struct Curve {
  std::string name, variant;
  Index window = 0;
};

struct Point {
  double seconds = HUGE_VAL, bytes = 0;
};

// One causal sequence, forward and backward.
void run(const Attention& attention, const std::vector<Tensor>& inputs, const Mask& mask, const Tensor& dy) {
  Recording recording;
  const Variable y =
      attention.mix({.query = leaf(inputs[0]), .key = leaf(inputs[1]), .value = leaf(inputs[2]), .mask = mask});
  recording.backward(record(Tensor({1}, 0), {y}, [&, g = y.gradient()](const Tensor&) { g->contribute(dy); }));
}

void measure(const Options& options, const Curve& curve, Index time, Point& point) {
  static const Context one(1);
  const ContextScope context(one);
  Parameters parameters(ParameterSource(1));
  const Scope scope(parameters, "");
  const auto attention = make_attention(curve.variant, {scope, scope}, {options.heads, options.head_width});
  const Shape shape{1, options.heads, time, options.head_width};
  const std::vector<Tensor> inputs{random_tensor(shape, 1), random_tensor(shape, 2), random_tensor(shape, 3)};
  const Tensor dy = random_tensor({1, time, options.heads, options.head_width}, 4);
  const Mask mask{.causal = true, .window = curve.window};
  pool().trim();
  const std::size_t before = pool().statistics().bytes_from_system;
  run(*attention, inputs, mask, dy);
  point.bytes = static_cast<double>(pool().statistics().bytes_from_system - before);
  const double start = thread_seconds();
  run(*attention, inputs, mask, dy);
  point.seconds = std::min(point.seconds, thread_seconds() - start);
}

void print_row(const std::string& name, const std::vector<std::string>& cells) {
  std::printf("%-28s", name.c_str());
  for (const std::string& cell : cells) std::printf("%11s", cell.c_str());
  std::printf("\n");
}

std::string text(const char* format, double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, format, value);
  return buffer;
}

const cli::About about{
    .name = "benchmark_scaling",
    .summary = "Measures the time and the memory of a training step of attention against the number of positions.",
    .synopsis = {"[options]"},
    .operands = {}};

}  // namespace

int main(int argc, char** argv) {
  return cli::run(argc, argv, about, [](cli::Arguments& arguments) {
    const auto options = arguments.read<Options>();
    std::vector<Curve> curves{{"dot", "dot"},
                              {concatenate("dot, window ", options.window), "dot", options.window},
                              {concatenate("performer, ", options.features, " features"),
                               concatenate("performer:features=", options.features)}};
    for (const std::string& variant : options.also) curves.push_back({variant, variant});
    std::vector<Index> times;
    for (Index time = options.least_time; time <= options.most_time; time *= 2) times.push_back(time);
    std::vector<std::vector<Point>> points(curves.size(), std::vector<Point>(times.size()));
    // Curves take turns, so that a slow minute meets all of them.
    for (Index turn = 0; turn < options.turns; ++turn) {
      for (std::size_t i = 0; i < times.size(); ++i) {
        for (std::size_t curve = 0; curve < curves.size(); ++curve) {
          measure(options, curves[curve], times[i], points[curve][i]);
        }
      }
    }
    formats::Json json;
    std::vector<std::string> header;
    for (const Index time : times) header.push_back(std::to_string(time));
    if (!options.json) print_row("positions", header);
    for (std::size_t curve = 0; curve < curves.size(); ++curve) {
      std::vector<std::string> milliseconds, ratios, megabytes;
      for (std::size_t i = 0; i < times.size(); ++i) {
        const Point& point = points[curve][i];
        milliseconds.push_back(text("%.2f", 1000 * point.seconds));
        ratios.push_back(i == 0 ? "" : text("%.2f", point.seconds / points[curve][i - 1].seconds));
        megabytes.push_back(text("%.1f", point.bytes / (1 << 20)));
        json[curves[curve].name][header[i]] = {{"seconds", point.seconds}, {"bytes", point.bytes}};
      }
      if (options.json) continue;
      print_row(curves[curve].name + ", ms", milliseconds);
      print_row("  time(2T) / time(T)", ratios);
      print_row("  MiB", megabytes);
    }
    if (options.json) std::cout << json.dump(2) << std::endl;
  });
}

// Accuracy with which `inspect cost` predicts the time of training steps: prints JSON, and a line for each model on
// standard error.
#include <fmt/format.h>

#include <iostream>

#include "formats/archives/json_archive.hpp"
#include "libcore/analysis/step_time.hpp"
#include "libcore/models/presets.hpp"
#include "measure.hpp"
#include "tools/cli/run.hpp"

using namespace heddle;
using namespace heddle::benchmark;

namespace {

struct Options {
  std::vector<std::string> preset{"gpt2", "bert-base", "t5-small"};
  Index time = 256, batch_size = 4, steps = 3;
  PrecisionChoice precision = PrecisionChoice::f32;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("preset", "shapes of known models").one_of(models::preset_names()).takes("NAME,..."), self.preset);
    visitor(Field("time", "tokens of a sequence").range(1, 1000000).takes("T"), self.time);
    visitor(Field("batch_size", "sequences in a step").range(1, 10000).takes("N"), self.batch_size);
    visitor(Field("steps", "steps that count, after two that do not").range(1, 1000).takes("N"), self.steps);
    visitor(Field("precision", "the numbers of products, f32 or bf16"), self.precision);
  }
};

const cli::About about{.name = "benchmark_cost",
                       .summary = "Compares predicted times of training steps with measured ones; prints JSON.",
                       .synopsis = {"[options]"},
                       .operands = {}};

// Predictions before and after the steps, since other programs may slow one of them down.
formats::Json compare(const std::string& name, const Options& options) {
  const models::ModelConfig& config = models::preset(name);
  const analysis::TrialShape shape{options.time, options.batch_size, chosen(options.precision)};
  const analysis::Cost cost = analysis::cost_of(config, shape);
  const double before = analysis::predict_step_time(config, cost).seconds;
  double measured = 0;
  {
    analysis::Trial trial(config, shape);
    trial.trainer().step();
    measured = median_seconds(static_cast<int>(options.steps), [&] { trial.trainer().step(); });
  }
  const double after = analysis::predict_step_time(config, cost).seconds, ratio = (before + after) / 2 / measured;
  std::cerr << fmt::format("{}: measured {:.3f} s; predicted {:.3f} and {:.3f} s, {:.2f} of it\n", name, measured,
                           before, after, ratio);
  return {{"preset", name}, {"measured", measured}, {"before", before}, {"after", after}, {"ratio", ratio}};
}

}  // namespace

int main(int argc, char** argv) {
  return cli::run(argc, argv, about, [](cli::Arguments& arguments) {
    const auto options = arguments.read<Options>();
    formats::Json rows = formats::Json::array();
    for (const std::string& name : options.preset) rows.push_back(compare(name, options));
    std::cout << rows.dump() << std::endl;
  });
}

// Trained update rules beside SGD and Adam with the best of many rates, on problems that no training saw. For each
// method: the mean of f after so many steps, as a part of f at the start, and the same along the way. The rates of SGD
// and Adam are chosen on these very problems, which favours them. Prints tab-separated lines: method, rate, step, mean.
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <string>

#include "formats/heddle/load_model.hpp"
#include "libcore/models/update_rule.hpp"
#include "libcore/training/rule_training.hpp"
#include "tools/cli/run.hpp"
#include "tools/training/named_problems.hpp"

using namespace heddle;

namespace {

struct Options {
  cli::KindChoice<data::ProblemFamily> tasks;
  Index problems = 100, steps = 100;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("tasks", "family of the problems"), self.tasks);
    visitor(Field("problems", "number of problems").range(1, 100000).takes("N"), self.problems);
    visitor(Field("steps", "steps of each").range(1, 1000000).takes("N"), self.steps);
  }
};

// Problems that are neither trained on nor evaluated on in training.
constexpr std::uint64_t first_problem = std::uint64_t{1} << 61;

using Curve = std::vector<double>;  // one value per step, from 0

// Adam, or SGD where it has no momenta (Kingma and Ba 2015).
Curve descend(const data::ProblemSource& source, const Options& options, double rate, bool is_adam) {
  Curve means(static_cast<std::size_t>(options.steps) + 1, 0.0);
  const auto size = static_cast<std::size_t>(source.size());
  for (Index p = 0; p < options.problems; ++p) {
    const auto problem = source.problem(first_problem + static_cast<std::uint64_t>(p));
    std::vector<double> x(size), gradient(size), m(size), v(size);
    problem->start(x);
    double start = 0;
    for (Index t = 0; t <= options.steps; ++t) {
      const double f = problem->at(x, t, gradient);
      if (t == 0) start = f;
      means[static_cast<std::size_t>(t)] += std::isfinite(f) ? f / start / static_cast<double>(options.problems)
                                                             : std::numeric_limits<double>::infinity();
      for (std::size_t i = 0; i < size; ++i) {
        const double g = gradient[i];
        m[i] = 0.9 * m[i] + 0.1 * g;
        v[i] = 0.999 * v[i] + 0.001 * g * g;
        const auto n = static_cast<double>(t + 1);
        const double adam = m[i] / (1 - std::pow(0.9, n)) / (std::sqrt(v[i] / (1 - std::pow(0.999, n))) + 1e-8);
        x[i] -= rate * (is_adam ? adam : g);
      }
    }
  }
  return means;
}

Curve follow(const models::UpdateRule& rule, const data::ProblemSource& source, const Options& options) {
  training::RuleRun run(rule, source, first_problem, options.problems);
  const Tensor starts = run.losses().value();
  Curve means;
  for (Index t = 0; t <= options.steps; ++t) {
    double sum = 0;
    for (Index p = 0; p < options.problems; ++p) {
      sum += static_cast<double>(run.losses().value()[p]) / static_cast<double>(starts[p]);
    }
    means.push_back(sum / static_cast<double>(options.problems));
    run.step();
  }
  return means;
}

void print(const std::string& method, double rate, const Curve& curve) {
  for (std::size_t t = 0; t < curve.size(); ++t) {
    if (t % std::max<std::size_t>(1, curve.size() / 10) != 0 && t + 1 != curve.size()) continue;
    std::printf("%s\t%g\t%zu\t%.6g\n", method.c_str(), rate, t, curve[t]);
  }
}

// With the rate, of four to a factor of ten, whose last mean is least.
void print_best(const std::string& method, bool is_adam, const data::ProblemSource& source, const Options& options) {
  Curve best;
  double best_rate = 0;
  for (int i = -16; i <= 4; ++i) {
    const double rate = std::pow(10.0, i / 4.0);
    const Curve curve = descend(source, options, rate, is_adam);
    if (!best.empty() && !(curve.back() < best.back())) continue;
    best = curve;
    best_rate = rate;
  }
  print(method, best_rate, best);
}

void compare(cli::Arguments& arguments) {
  const auto options = arguments.read<Options>();
  const auto source = named_problems(options.tasks, arguments).source;
  print_best("sgd", false, *source, options);
  print_best("adam", true, *source, options);
  for (const std::string& path : arguments.operands("RULE")) {
    const auto model = formats::load_weights_to_train(formats::ModelFile(path));
    print(path, 1, follow(models::require<models::UpdateRule>(*model, "this program", path), *source, options));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const cli::About about{
      .name = "benchmark_learned_optimizers",
      .summary = "Compares trained update rules with SGD and Adam.",
      .synopsis = {"--tasks FAMILY RULE..."},
      .operands = {{.name = "RULE", .help = "model that takes steps", .minimum = 0, .maximum = cli::any_number}}};
  return cli::run(argc, argv, about, compare);
}

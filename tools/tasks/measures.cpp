#include "tools/tasks/measures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "libcore/base/printable.hpp"
#include "libcore/base/values.hpp"
#include "libcore/metrics/bootstrap.hpp"
#include "libcore/metrics/proportion.hpp"

namespace heddle {

namespace {

// The metrics of which less is better.
constexpr std::array<std::string_view, 7> errors{
    "hamming_loss", "mean_squared_error", "rmse", "mae", "log_loss", "brier", "ece"};

std::string scores_line(const std::string& name, const metrics::Scores& scores, std::size_t width) {
  return fmt::format("{}{:{}}{:>11}{:>9}{:>9}{:9}\n", name, "", width - display_width(name),
                     metric_text(scores.precision), metric_text(scores.recall), metric_text(scores.f1), scores.support);
}

// Moves the measure that decides to the front.
void choose(std::vector<Measure>& measures, const std::string& metric) {
  if (metric == "auto") return;
  const auto found = std::find_if(measures.begin(), measures.end(), [&](const Measure& m) { return m.name == metric; });
  std::vector<std::string> names;
  for (const Measure& measure : measures) names.push_back(measure.name);
  const std::string near = nearest(metric, names);
  check<UsageError>(found != measures.end(), "--metric: the task has no metric '", metric, "'; it has ", join(names),
                    near.empty() ? "" : "; did you mean '" + near + "'?");
  std::rotate(measures.begin(), found, found + 1);
}

// Bootstrap samples of fewer examples say nothing of others.
constexpr Index least_examples = 10;
constexpr const char* too_narrow = ", too narrow for so few examples";
bool are_few(const Measure& measure, Index examples) {
  return !measure.is_right && examples < least_examples;
}

metrics::Interval interval_of(const Measure& measure, Index examples, std::uint64_t seed) {
  if (!measure.is_right) return metrics::bootstrap_interval(examples, measure.of, {.seed = seed});
  return metrics::proportion_interval(std::ranges::count_if(all_places(examples), measure.is_right), examples);
}

metrics::Interval difference_of(const Measure& model, const Measure& baseline, Index examples, std::uint64_t seed) {
  if (!model.is_right) {
    return metrics::bootstrap_interval(examples, [&](Places places) { return model.of(places) - baseline.of(places); },
                                       {.seed = seed});
  }
  Index gained = 0, lost = 0;
  for (Index i = 0; i < examples; ++i) {
    const bool is_right = model.is_right(i);
    if (is_right != baseline.is_right(i)) ++(is_right ? gained : lost);
  }
  return metrics::difference_interval(gained, lost, examples);
}

// The metric that decides, of the baseline, and the model's difference from it on the same examples.
void add_baseline(Judgement& judgement, const Measure& model, const Measure& baseline, Index examples,
                  const Judge& criteria) {
  const std::vector<Index> all = all_places(examples);
  const double value = baseline.of(all), difference = model.of(all) - value;
  const metrics::Interval interval = difference_of(model, baseline, examples, criteria.seed);
  const bool is_few = are_few(model, examples);
  const bool is_lower = interval.high < 0;
  const bool is_higher = interval.low > 0;
  const bool is_less_better = better_of(model.name) == training::Better::lower;
  const Comparison comparison{.baseline = value,
                              .difference = difference,
                              .low = interval.low,
                              .high = interval.high,
                              .is_better = !is_few && (is_less_better ? is_lower : is_higher),
                              .is_worse = !is_few && (is_less_better ? is_higher : is_lower),
                              .is_few = is_few};
  judgement.comparison = comparison;
  judgement.json["baseline"] = {{"what", criteria.baseline->description},
                                {"metric", model.name},
                                {"value", value},
                                {"difference", difference},
                                {"low", interval.low},
                                {"high", interval.high},
                                {"model_is_better", comparison.is_better},
                                {"model_is_worse", comparison.is_worse}};
  judgement.text +=
      concatenate("baseline            ", metric_text(value), " (", criteria.baseline->description, ")\n");
  judgement.text +=
      concatenate("the model is ", comparison.rank(), " than the baseline: ", comparison.text(model.name), "\n");
}

}  // namespace

std::vector<Index> all_places(Index examples) {
  std::vector<Index> places(static_cast<std::size_t>(examples));
  std::iota(places.begin(), places.end(), Index{0});
  return places;
}

std::string metric_text(double value) {
  return format_fixed(value, 4);
}

std::string scores_table(const std::vector<std::pair<std::string, metrics::Scores>>& rows) {
  std::size_t width = 5;
  for (const auto& [name, scores] : rows) width = std::max(width, display_width(name));
  std::string table = std::string(width, ' ') + "  precision   recall       F1  support\n";
  for (const auto& [name, scores] : rows) table += scores_line(name, scores, width);
  return table;
}

void add_measures(Judgement& judgement, std::vector<Measure> measures, Index examples, const Judge& criteria,
                  std::vector<Measure> of_baseline) {
  if (!of_baseline.empty()) choose(of_baseline, criteria.metric);
  choose(measures, criteria.metric);
  const std::vector<Index> all = all_places(examples);
  for (const auto& [name, of, is_right] : measures) {
    const double value = of(all);
    check<NumericError>(std::isfinite(value), "the ", name,
                        " of the predictions is not finite: the model has diverged");
    judgement.metrics.push_back({name, value});
    if (!judgement.json.contains(name)) judgement.json[name] = value;
    judgement.text += name + std::string(20 - std::min<std::size_t>(19, name.size()), ' ') + metric_text(value) + "\n";
  }
  if (!criteria.intervals) return;
  const Measure& first = measures.front();
  const metrics::Interval interval = interval_of(first, examples, criteria.seed);
  judgement.json["interval"] = {{"metric", first.name},
                                {"level", 0.95},
                                {"method", first.is_right ? "exact" : "bootstrap"},
                                {"low", interval.low},
                                {"high", interval.high}};
  judgement.text += concatenate("95 % confidence interval: ", first.name, " from ", metric_text(interval.low), " to ",
                                metric_text(interval.high), are_few(first, examples) ? too_narrow : "", "\n");
  if (!of_baseline.empty()) add_baseline(judgement, measures.front(), of_baseline.front(), examples, criteria);
}

training::Better better_of(const std::string& metric) {
  return std::ranges::count(errors, metric) > 0 ? training::Better::lower : training::Better::higher;
}

std::string Comparison::rank() const {
  return is_better ? "better" : is_worse ? "worse" : "not better";
}

std::string Comparison::text(const std::string& metric) const {
  return concatenate("difference of ", metric, " ", metric_text(difference), ", from ", metric_text(low), " to ",
                     metric_text(high), " with 95 % confidence", is_few ? too_narrow : "");
}

}  // namespace heddle

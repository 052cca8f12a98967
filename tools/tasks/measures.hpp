// Metrics as functions of examples, of which reports are made: their values, intervals and comparisons.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libcore/metrics/scores.hpp"
#include "tools/tasks/evaluation_report.hpp"

namespace heddle {

using Places = std::span<const Index>;

// A metric over the examples at these indices: all, or a bootstrap sample, which repeats some.
struct Measure {
  std::string name;
  std::function<double(Places)> of;
  std::function<bool(Index)> is_right = {};  // set if the metric is the fraction of examples that are right
};

// All of them, in order.
std::vector<Index> all_places(Index examples);

// A metric's value, with four digits.
std::string metric_text(double value);

// Precision, recall, F1 and support of each row.
std::string scores_table(const std::vector<std::pair<std::string, metrics::Scores>>& rows);

// The metrics of all examples, and the confidence interval of the first. The measures of the baseline, if there are
// any, are the same ones in the same order. Throws NumericError for values that are not finite, and UsageError for a
// metric that is none of them.
void add_measures(Judgement& judgement, std::vector<Measure> measures, Index examples, const Judge& criteria,
                  std::vector<Measure> of_baseline = {});

}  // namespace heddle

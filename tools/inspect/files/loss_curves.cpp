#include "tools/inspect/files/loss_curves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "libcore/base/strings.hpp"

namespace heddle {

namespace {

constexpr Index chart_columns = 64, chart_rows = 14, rows_a_label = 3;

// The index of the part of [low, high], divided into `count` equal parts, that contains the value.
Index part_of(double value, double low, double high, Index count) {
  const double place = place_in(value, low, high) * static_cast<double>(count);
  return std::clamp(static_cast<Index>(place), Index{0}, count - 1);
}

// Adds linearly interpolated points, so that no column stays empty.
Curve joined(const Curve& curve, const Extent& extent) {
  const double distance = extent.last_step / chart_columns - extent.first_step / chart_columns;
  Curve result;
  for (std::size_t i = 0; i < curve.size(); ++i) {
    result.push_back(curve[i]);
    if (i + 1 == curve.size()) break;
    const CurvePoint &from = curve[i], &to = curve[i + 1];
    for (Index column = 1; column <= chart_columns; ++column) {
      const double step = from.step + distance * static_cast<double>(column);
      if (!(step < to.step)) break;
      result.push_back({step, std::lerp(from.loss, to.loss, (step - from.step) / (to.step - from.step))});
    }
  }
  return result;
}

std::string label(double loss) {
  return fmt::format("{:9.4g} ", loss);
}

}  // namespace

double place_in(double value, double low, double high) {
  return (value / 2 - low / 2) / (high / 2 - low / 2);
}

std::string step_text(double step) {
  constexpr double exact = 0x1p53;
  return std::abs(step) <= exact ? grouped(std::llround(step)) : fmt::format("{:.6g}", step);
}

Curve curve_of(const formats::History& history, std::string_view column) {
  const std::vector<double>* const steps = history.find("step");
  const std::vector<double>* const losses = history.find(column);
  Curve curve;
  if (steps == nullptr || losses == nullptr) return curve;
  for (std::size_t i = 0; i < steps->size(); ++i) {
    if (std::isfinite((*steps)[i]) && std::isfinite((*losses)[i])) curve.push_back({(*steps)[i], (*losses)[i]});
  }
  return curve;
}

LossCurves loss_curves(const formats::History& history) {
  LossCurves curves{curve_of(history, "loss"), curve_of(history, "valid_loss")};
  if (history.find("nodes") != nullptr) curves.unit = "nats per node";
  if (history.find("steps") != nullptr) curves.unit = "part of the function that is left";
  return curves;
}

Extent extent_of(const LossCurves& curves) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Extent extent{infinity, -infinity, infinity, -infinity};
  for (const Curve* curve : {&curves.train, &curves.valid}) {
    for (const auto& [step, loss] : *curve) {
      extent.first_step = std::min(extent.first_step, step);
      extent.last_step = std::max(extent.last_step, step);
      extent.low = std::min(extent.low, loss);
      extent.high = std::max(extent.high, loss);
    }
  }
  if (extent.first_step == extent.last_step) extent.last_step += std::max(1.0, std::abs(extent.last_step) * 1e-9);
  if (extent.low == extent.high) extent.high += std::max(1e-3, std::abs(extent.high) * 1e-3);
  return extent;
}

Curve thinned(const Curve& curve, Index count) {
  if (static_cast<Index>(curve.size()) <= count) return curve;
  const Extent extent = extent_of({curve, {}});
  struct Sum {
    double step = 0, loss = 0, points = 0;
  };
  std::vector<Sum> sums(static_cast<std::size_t>(count));
  for (const auto& [step, loss] : curve) {
    Sum& sum = sums[static_cast<std::size_t>(part_of(step, extent.first_step, extent.last_step, count))];
    sum.step += step;
    sum.loss += loss;
    sum.points += 1;
  }
  Curve result;
  for (const Sum& sum : sums) {
    const CurvePoint mean{sum.step / sum.points, sum.loss / sum.points};
    if (std::isfinite(mean.step) && std::isfinite(mean.loss)) result.push_back(mean);
  }
  return result;
}

MeanCurve mean_curve(const std::vector<const Curve*>& curves) {
  std::map<double, std::vector<double>> losses;
  for (const Curve* curve : curves) {
    for (const auto& [step, loss] : *curve) losses[step].push_back(loss);
  }
  MeanCurve result;
  for (const auto& [step, all] : losses) {
    if (all.size() != curves.size()) continue;
    const auto count = static_cast<double>(all.size());
    const double mean = std::accumulate(all.begin(), all.end(), 0.0) / count;
    double squares = 0;
    for (const double loss : all) squares += (loss - mean) * (loss - mean);
    const double stddev = all.size() > 1 ? std::sqrt(squares / (count - 1)) : 0;
    result.mean.push_back({step, mean});
    result.low.push_back({step, mean - stddev});
    result.high.push_back({step, mean + stddev});
  }
  return result;
}

std::string terminal_chart(const LossCurves& curves) {
  const Extent extent = extent_of(curves);
  std::vector<std::string> picture(chart_rows, std::string(chart_columns, ' '));
  const auto mark = [&](const CurvePoint& point, char letter) {
    const Index row = chart_rows - 1 - part_of(point.loss, extent.low, extent.high, chart_rows);
    const Index column = part_of(point.step, extent.first_step, extent.last_step, chart_columns);
    picture[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)] = letter;
  };
  for (const CurvePoint& point : joined(thinned(curves.train, chart_columns), extent)) mark(point, '.');
  for (const CurvePoint& point : thinned(curves.valid, chart_columns)) mark(point, 'o');

  std::string text = "loss in " + curves.unit + ": . training";
  text += curves.valid.empty() ? "\n" : ", o validation\n";
  const std::string blank(label(0).size(), ' ');
  for (Index row = 0; row < chart_rows; ++row) {
    const double middle = std::lerp(extent.high, extent.low, (static_cast<double>(row) + 0.5) / chart_rows);
    std::string& line = picture[static_cast<std::size_t>(row)];
    line.resize(line.find_last_not_of(' ') + 1);
    text += (row % rows_a_label == 0 ? label(middle) : blank) + "|" + line + "\n";
  }
  const std::string first = "step " + step_text(extent.first_step), last = step_text(extent.last_step);
  const std::size_t gap =
      static_cast<std::size_t>(chart_columns) - std::min<std::size_t>(chart_columns, first.size() + last.size());
  return text + blank + "+" + std::string(chart_columns, '-') + "\n" + blank + " " + first + std::string(gap, ' ') +
         last + "\n";
}

}  // namespace heddle

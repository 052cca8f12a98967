// Charts of training losses: one of characters for terminals, one for documents.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/heddle/history.hpp"

namespace heddle {

struct CurvePoint {
  double step, loss;
};
using Curve = std::vector<CurvePoint>;

struct LossCurves {
  Curve train, valid;
  std::string unit = "nats per token";  // of the losses; "nats per node", "part of the function that is left"
  bool empty() const { return train.empty() && valid.empty(); }
};

// A step for reading.
std::string step_text(double step);

// The place of a value in [low, high], from 0 to 1, though the range may exceed every number.
double place_in(double value, double low, double high);

// The finite values of a column, "loss" say, by steps; no points without such a column.
Curve curve_of(const formats::History& history, std::string_view column);

// The finite losses of a history.
LossCurves loss_curves(const formats::History& history);

// At most `count` points: those of equal parts of the range of steps are replaced by their mean.
Curve thinned(const Curve& curve, Index count);

struct Extent {
  double first_step, last_step, low, high;  // low < high, first_step < last_step
};
// The extent of all points. Precondition: there are some.
Extent extent_of(const LossCurves& curves);

// 76 columns of ASCII, "." for training, "o" for validation.
std::string terminal_chart(const LossCurves& curves);

struct Run {
  std::string name;
  LossCurves curves;
  std::size_t setting = 0;     // runs that differ in the seed alone have one
  std::string setting_name{};  // name of that setting
};

// The mean of several curves, and its standard deviation, at the steps that all of them have.
struct MeanCurve {
  Curve mean, low, high;  // low and high: one standard deviation below and above
};
MeanCurve mean_curve(const std::vector<const Curve*>& curves);

// Draws into the file, whose name ends like that of a Picture: for one run, training and validation in two colours; for
// several, one colour per setting, with its name at the end of its line. Settings of several runs have the mean of
// their validation losses, else of the training losses, as a line, and one standard deviation as dotted lines. Throws
// DataError if the file cannot be written. Precondition: there are runs, all with points.
void save_loss_chart(const std::string& path, const std::vector<Run>& runs);

}  // namespace heddle

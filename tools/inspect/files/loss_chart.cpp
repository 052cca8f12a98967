#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "libcore/base/strings.hpp"
#include "tools/drawing/palette.hpp"
#include "tools/drawing/picture.hpp"
#include "tools/drawing/ticks.hpp"
#include "tools/inspect/files/loss_curves.hpp"

namespace heddle {

namespace {

constexpr double chart_width = 720, chart_height = 400;  // excluding the legend of runs
constexpr double plot_left = 64, plot_right = chart_width - 24, plot_top = 48,
                 plot_bottom = chart_height - 48;  // bottom of the plot
constexpr double most_name_width = 400;            // names at the ends of lines
constexpr double title_line = 20, legend_line = 18, legend_sample = 20;
constexpr Index most_points = 600, most_marks = 100;
constexpr double most_ticks = 5.5;

// Further runs are dashed.
constexpr const auto& run_colours = palette::series;
constexpr std::size_t grey_run = run_colours.size() - 1;
const std::array<std::vector<double>, 4> run_dashes{{{}, {6, 3}, {2, 3}, {8, 3, 2, 3}}};
const Pen grid_pen{palette::grid};

enum class Loss { training, validation };

// The line style of a run's curve, or of one of the two curves of a single run.
Pen loss_pen(Loss loss, std::size_t number) {
  Pen pen{run_colours[number % run_colours.size()], 2.5, run_dashes[number / run_colours.size() % run_dashes.size()]};
  if (loss == Loss::training) {
    pen.width = 1;
    pen.colour.opacity = 0.6;
  }
  return pen;
}

std::string tick_text(double value) {
  return fmt::format("{:.6g}", value);
}

class LossPlot {
 public:
  LossPlot(const std::string& path, double width, double whole_height, const Extent& extent)
      : picture_(path, width, whole_height), extent_(extent) {}

  Picture& picture() { return picture_; }

  void text(Point at, std::string_view content, Anchor anchor = Anchor::start) {
    picture_.text(at, content, anchor, palette::text);
  }

  void grid() {
    for (const double loss : ticks_of(extent_.low, extent_.high, most_ticks)) {
      const double y = at({extent_.first_step, loss}).y;
      picture_.line({plot_left, y}, {plot_right, y}, grid_pen);
      text({plot_left - 8, y + 4}, tick_text(loss), Anchor::end);
    }
    for (const double step : ticks_of(extent_.first_step, extent_.last_step, most_ticks)) {
      const double x = at({step, extent_.low}).x;
      picture_.line({x, plot_top}, {x, plot_bottom}, grid_pen);
      text({x, plot_bottom + 18}, tick_text(step), Anchor::middle);
    }
  }

  // Marks the points if there are only a few of validation, or a single one of either.
  void curve(const Curve& curve, Loss loss, std::size_t number) {
    if (curve.empty()) return;
    std::vector<Point> points;
    for (const CurvePoint& each : thinned(curve, most_points)) points.push_back(at(each));
    const Pen pen = loss_pen(loss, number);
    picture_.polyline(points, pen);
    const bool few = loss == Loss::validation && static_cast<Index>(points.size()) <= most_marks;
    if (!few && points.size() > 1) return;
    for (const Point& point : points) picture_.disc(point, 2, pen.colour);
  }

  // The mean of runs, and a standard deviation on either side of it, dotted.
  void mean(const MeanCurve& mean, std::size_t number) {
    Pen pen = loss_pen(Loss::validation, number);
    pen.dashes = {};
    for (const Curve* curve : {&mean.mean, &mean.low, &mean.high}) {
      std::vector<Point> points;
      for (const CurvePoint& each : thinned(*curve, most_points)) points.push_back(at(each));
      if (points.size() > 1) picture_.polyline(points, pen);
      pen.width = 1;
      pen.dashes = {1.5, 3};
    }
  }

  // A name at the end of a line, below those that are already there.
  void name_end(const CurvePoint& end, std::size_t number, const std::string& name) {
    double y = at(end).y + 4;
    std::ranges::sort(ends_);
    for (const double other : ends_) {
      if (std::abs(y - other) < 13) y = other + 13;
    }
    ends_.push_back(y);
    picture_.text({at(end).x + 6, y}, name, Anchor::start, loss_pen(Loss::validation, number).colour, 11);
  }

  void legend(Point at, Loss loss, std::size_t number, std::string_view name) {
    picture_.line({at.x, at.y - 4}, {at.x + legend_sample, at.y - 4}, loss_pen(loss, number));
    text({at.x + legend_sample + 6, at.y}, name);
  }

 private:
  Point at(const CurvePoint& point) const {
    return {plot_left + (plot_right - plot_left) * place_in(point.step, extent_.first_step, extent_.last_step),
            plot_bottom - (plot_bottom - plot_top) * place_in(point.loss, extent_.low, extent_.high)};
  }

  Picture picture_;
  Extent extent_;
  std::vector<double> ends_;  // positions of names
};

LossCurves all_points(const std::vector<Run>& runs) {
  LossCurves all;
  for (const Run& run : runs) {
    all.unit = run.curves.unit;
    all.train.insert(all.train.end(), run.curves.train.begin(), run.curves.train.end());
    all.valid.insert(all.valid.end(), run.curves.valid.begin(), run.curves.valid.end());
  }
  return all;
}

// The curves of the runs of a setting: those of validation where each has one.
std::vector<const Curve*> judged_curves(const std::vector<Run>& runs, std::size_t setting) {
  std::vector<const Curve*> valid, train;
  for (const Run& run : runs) {
    if (run.setting != setting) continue;
    if (!run.curves.valid.empty()) valid.push_back(&run.curves.valid);
    if (!run.curves.train.empty()) train.push_back(&run.curves.train);
  }
  return valid.size() >= train.size() ? valid : train;
}

// Means of settings with several runs, and the names of all where their lines end.
void draw_settings(LossPlot& plot, const std::vector<Run>& runs) {
  std::set<std::size_t> drawn;
  for (const Run& run : runs) {
    if (!drawn.insert(run.setting).second) continue;
    const std::vector<const Curve*> curves = judged_curves(runs, run.setting);
    const MeanCurve mean = mean_curve(curves);
    if (curves.size() > 1) plot.mean(mean, run.setting);
    const Curve& line = curves.size() > 1 && !mean.mean.empty() ? mean.mean : *curves.front();
    plot.name_end(line.back(), run.setting, run.setting_name);
  }
}

// Colours distinguish the losses of a single run, or the settings of several.
void draw(LossPlot& plot, const std::vector<Run>& runs, const LossCurves& all) {
  const bool one = runs.size() == 1;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const bool is_repeated = std::ranges::count(runs, runs[i].setting, &Run::setting) > 1;
    plot.curve(runs[i].curves.train, Loss::training, one ? 0 : runs[i].setting);
    plot.curve(runs[i].curves.valid, is_repeated ? Loss::training : Loss::validation, one ? 1 : runs[i].setting);
    const double y = chart_height + legend_line * static_cast<double>(i + 1) - 8;
    if (!one) plot.legend({plot_left, y}, Loss::validation, runs[i].setting, runs[i].name);
  }
  if (!one) draw_settings(plot, runs);
  if (!all.train.empty()) plot.legend({plot_right - 210, title_line}, Loss::training, one ? 0 : grey_run, "training");
  if (!all.valid.empty())
    plot.legend({plot_right - 100, title_line}, Loss::validation, one ? 1 : grey_run, "validation");
}

}  // namespace

void save_loss_chart(const std::string& path, const std::vector<Run>& runs) {
  const LossCurves all = all_points(runs);
  const bool one = runs.size() == 1;
  double names = 0;
  for (const Run& run : runs) {
    if (!one) names = std::max(names, Picture(path, 1, 1).text_width(run.setting_name, 11));
  }
  LossPlot plot(path, chart_width + std::min(names, most_name_width),
                chart_height + (one ? 0 : legend_line * static_cast<double>(runs.size())), extent_of(all));
  plot.grid();
  draw(plot, runs, all);
  plot.text({plot_left, title_line}, one ? runs.front().name : concatenate("loss of ", runs.size(), " runs"));
  plot.text({(plot_left + plot_right) / 2, chart_height - 10}, "step", Anchor::middle);
  plot.text({8, plot_top - 10}, all.unit);
  plot.picture().save();
}

}  // namespace heddle

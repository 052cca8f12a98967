#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "heddle/base/error.hpp"
#include "tools/inspect/chart.hpp"

namespace heddle {

namespace {

constexpr double width = 720, height = 400;                                      // without the legend of runs
constexpr double left = 64, right = width - 24, top = 48, bottom = height - 48;  // of the plot
constexpr double legend_line = 18;
constexpr Index most_points = 600, most_marks = 100;
constexpr double ticks = 5;

// Okabe and Ito's colours, which the colour-blind can tell apart; dashes tell runs beyond these.
constexpr std::array<std::string_view, 7> colours{"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                  "#e69f00", "#56b4e9", "#333333"};
constexpr std::array<std::string_view, 4> dashes{"none", "6 3", "2 3", "8 3 2 3"};

// How the curve of a run, or of one of its losses, is drawn.
std::string paint_of(std::size_t number) {
  return concatenate("stroke=\"", colours[number % colours.size()], "\" stroke-dasharray=\"",
                     dashes[number / colours.size() % dashes.size()], "\"");
}

std::string number(double value) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.6g", value);
  return text.data();
}

std::string escaped(std::string_view text) {
  std::string result;
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    if (letter == '<')
      result += "&lt;";
    else if (letter == '&')
      result += "&amp;";
    else if (byte < 0x20)
      result += ' ';
    else
      result += letter;
  }
  return result;
}

// 1, 2 or 5 times a power of ten, so that about `ticks` steps cover the range.
double tick_distance(double range) {
  const double power = std::pow(10.0, std::floor(std::log10(range / ticks)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (range / (factor * power) <= ticks + 0.5) return factor * power;
  }
  return 10 * power;
}

class Picture {
 public:
  explicit Picture(const Extent& extent) : extent_(extent) {}

  double x(double step) const {
    return left + (right - left) * (step - extent_.first_step) / (extent_.last_step - extent_.first_step);
  }
  double y(double loss) const { return bottom - (bottom - top) * (loss - extent_.low) / (extent_.high - extent_.low); }

  void text(double at_x, double at_y, std::string_view anchor, std::string_view content) {
    svg_ += concatenate("<text x=\"", number(at_x), "\" y=\"", number(at_y), "\" text-anchor=\"", anchor, "\">",
                        escaped(content), "</text>\n");
  }
  void line(double x1, double y1, double x2, double y2) {
    svg_ += concatenate("<path class=\"grid\" d=\"M", number(x1), " ", number(y1), "L", number(x2), " ", number(y2),
                        "\"/>\n");
  }
  void curve(const Curve& points, std::string_view style, std::size_t paint) {
    if (points.empty()) return;
    svg_ += concatenate("<polyline class=\"", style, "\" ", paint_of(paint), " points=\"");
    for (const auto& [step, loss] : points) svg_ += number(x(step)) + "," + number(y(loss)) + " ";
    svg_.back() = '"';
    svg_ += "/>\n";
    const bool few = style == "valid" && static_cast<Index>(points.size()) <= most_marks;
    if (!few && points.size() > 1) return;
    for (const auto& [step, loss] : points) {
      svg_ += concatenate("<circle class=\"", style, "\" fill=\"", colours[paint % colours.size()], "\" cx=\"",
                          number(x(step)), "\" cy=\"", number(y(loss)), "\" r=\"2\"/>\n");
    }
  }
  void grid() {
    const double losses = tick_distance(extent_.high - extent_.low);
    for (double tick = std::ceil(extent_.low / losses); tick * losses <= extent_.high; ++tick) {
      line(left, y(tick * losses), right, y(tick * losses));
      text(left - 8, y(tick * losses) + 4, "end", number(tick * losses));
    }
    const double steps = tick_distance(extent_.last_step - extent_.first_step);
    for (double tick = std::ceil(extent_.first_step / steps); tick * steps <= extent_.last_step; ++tick) {
      line(x(tick * steps), top, x(tick * steps), bottom);
      text(x(tick * steps), bottom + 18, "middle", number(tick * steps));
    }
  }
  void legend(double at_x, double at_y, std::string_view style, std::size_t paint, std::string_view name) {
    svg_ += concatenate("<path class=\"", style, "\" ", paint_of(paint), " d=\"M", number(at_x), " ", number(at_y - 4),
                        "h20\"/>\n");
    text(at_x + 26, at_y, "start", name);
  }

  const std::string& svg() const { return svg_; }

 private:
  Extent extent_;
  std::string svg_;
};

LossCurves all_points(const std::vector<Run>& runs) {
  LossCurves all;
  for (const Run& run : runs) {
    all.train.insert(all.train.end(), run.curves.train.begin(), run.curves.train.end());
    all.valid.insert(all.valid.end(), run.curves.valid.begin(), run.curves.valid.end());
  }
  return all;
}

// Of one run the losses have colours, of several the runs, which are named below the plot.
void draw(Picture& picture, const std::vector<Run>& runs, const LossCurves& all) {
  const bool one = runs.size() == 1;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    picture.curve(thinned(runs[i].curves.train, most_points), "train", one ? 0 : i);
    picture.curve(thinned(runs[i].curves.valid, most_points), "valid", one ? 1 : i);
    if (!one) picture.legend(left, height + legend_line * static_cast<double>(i + 1) - 8, "valid", i, runs[i].name);
  }
  const std::size_t grey = colours.size() - 1;
  if (!all.train.empty()) picture.legend(right - 210, 32, "train", one ? 0 : grey, "training");
  if (!all.valid.empty()) picture.legend(right - 100, 32, "valid", one ? 1 : grey, "validation");
}

}  // namespace

std::string svg_chart(const std::vector<Run>& runs) {
  const LossCurves all = all_points(runs);
  Picture picture(extent_of(all));
  picture.grid();
  draw(picture, runs, all);
  const bool one = runs.size() == 1;
  const std::string title = one ? runs.front().name : concatenate("loss of ", runs.size(), " runs");
  picture.text(left, 32, "start", title);
  picture.text((left + right) / 2, height - 10, "middle", "step");
  picture.text(left - 8, top - 8, "end", "nats");
  const double whole = height + (one ? 0 : legend_line * static_cast<double>(runs.size()));
  const std::string size = number(width) + "\" height=\"" + number(whole);
  return concatenate("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", size, "\" viewBox=\"0 0 ", number(width),
                     " ", number(whole), "\">\n<title>", one ? "Loss of " : "", escaped(title), "</title>\n<style>\n",
                     "text { font: 12px sans-serif; fill: #333 }\n", "path, polyline { fill: none }\n",
                     ".grid { stroke: #ddd }\n", ".train { stroke-width: 1; stroke-opacity: 0.6 }\n",
                     ".valid { stroke-width: 2.5 }\n", "circle { stroke: none }\n", "</style>\n<rect width=\"", size,
                     "\" fill=\"white\"/>\n", picture.svg(), "</svg>\n");
}

}  // namespace heddle

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "heddle/base/error.hpp"
#include "inspect_chart.hpp"

namespace heddle {

namespace {

constexpr double width = 720, height = 400;
constexpr double left = 64, right = width - 24, top = 48, bottom = height - 48;  // of the plot
constexpr Index most_points = 600, most_marks = 100;
constexpr double ticks = 5;

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
  void curve(const Curve& points, std::string_view style) {
    if (points.empty()) return;
    svg_ += concatenate("<polyline class=\"", style, "\" points=\"");
    for (const auto& [step, loss] : points) svg_ += number(x(step)) + "," + number(y(loss)) + " ";
    svg_.back() = '"';
    svg_ += "/>\n";
    if (static_cast<Index>(points.size()) > most_marks) return;
    for (const auto& [step, loss] : points) {
      svg_ += concatenate("<circle class=\"", style, "\" cx=\"", number(x(step)), "\" cy=\"", number(y(loss)),
                          "\" r=\"2\"/>\n");
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
  void legend(double at_x, std::string_view style, std::string_view name) {
    svg_ += concatenate("<path class=\"", style, "\" d=\"M", number(at_x), " 28h20\"/>\n");
    text(at_x + 26, 32, "start", name);
  }

  const std::string& svg() const { return svg_; }

 private:
  Extent extent_;
  std::string svg_;
};

}  // namespace

std::string svg_chart(const LossCurves& curves, std::string_view title) {
  Picture picture(extent_of(curves));
  picture.grid();
  picture.curve(thinned(curves.train, most_points), "train");
  picture.curve(thinned(curves.valid, most_points), "valid");
  picture.text(left, 32, "start", title);
  if (!curves.train.empty()) picture.legend(right - 210, "train", "training");
  if (!curves.valid.empty()) picture.legend(right - 100, "valid", "validation");
  picture.text((left + right) / 2, height - 10, "middle", "step");
  picture.text(left - 8, top - 8, "end", "nats");
  const std::string size = number(width) + "\" height=\"" + number(height);
  return concatenate(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", size, "\" viewBox=\"0 0 ", number(width), " ",
      number(height), "\">\n<title>Loss of ", escaped(title), "</title>\n<style>\n",
      "text { font: 12px sans-serif; fill: #333 }\n", "path, polyline { fill: none }\n", ".grid { stroke: #ddd }\n",
      "polyline.train, path.train { stroke: #0072b2 }\n", "circle.train { fill: #0072b2 }\n",
      "polyline.valid, path.valid { stroke: #d55e00; stroke-width: 2 }\n", "circle.valid { fill: #d55e00 }\n",
      "</style>\n<rect width=\"", size, "\" fill=\"white\"/>\n", picture.svg(), "</svg>\n");
}

}  // namespace heddle

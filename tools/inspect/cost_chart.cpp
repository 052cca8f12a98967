#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "tools/inspect/cost_report.hpp"
#include "tools/inspect/picture.hpp"
#include "tools/inspect/quantity.hpp"

namespace heddle {

namespace {

constexpr double width = 760, margin = 24, bar_height = 22, bar_gap = 8, panel_gap = 26, legend_line = 18;
constexpr double character = 6.6;  // of names, at their size
constexpr double name_size = 11, total_width = 96;
constexpr std::size_t longest_name = 28, legend_columns = 4;

constexpr Colour of_byte(int red, int green, int blue) {
  return {red / 255.0, green / 255.0, blue / 255.0};
}

// Okabe and Ito's colours, then darker and lighter ones.
constexpr std::array colours{of_byte(0x00, 0x72, 0xb2), of_byte(0xe6, 0x9f, 0x00), of_byte(0x00, 0x9e, 0x73),
                             of_byte(0xd5, 0x5e, 0x00), of_byte(0x56, 0xb4, 0xe9), of_byte(0xcc, 0x79, 0xa7),
                             of_byte(0xf0, 0xe4, 0x42), of_byte(0x55, 0x55, 0x55), of_byte(0x00, 0x3f, 0x5c),
                             of_byte(0x8a, 0x4f, 0x00), of_byte(0x66, 0xc2, 0xa5), of_byte(0xaa, 0xaa, 0xaa)};
constexpr Colour text_colour = of_byte(0x33, 0x33, 0x33);

struct Segment {
  std::string name;
  double value;
};

// A group of bars on one scale, a bar per model.
struct Panel {
  std::string title;
  std::vector<std::vector<Segment>> bars;
  std::function<std::string(double)> text;
};

template <class Value>
Panel panel_of(std::string title, const std::vector<CostReport>& reports, std::function<std::string(double)> text,
               const Value& value) {
  Panel panel{std::move(title), {}, std::move(text)};
  for (const CostReport& report : reports) {
    panel.bars.emplace_back();
    for (const analysis::PartCost& part : report.cost.parts) {
      panel.bars.back().push_back({part.part, value(report, part)});
    }
  }
  return panel;
}

Panel memory_panel(const std::vector<CostReport>& reports) {
  Panel panel{"Memory of training", {}, bytes_text};
  for (const CostReport& report : reports) {
    const analysis::TrainingMemory& memory = report.cost.memory;
    panel.bars.push_back({{"weights", memory.weights},
                          {"gradients", memory.gradients},
                          {"optimizer state", memory.optimizer},
                          {"activations", memory.activations}});
  }
  return panel;
}

std::vector<Panel> panels_of(const std::vector<CostReport>& reports) {
  using analysis::PartCost;
  std::vector<Panel> panels{
      panel_of(
          "Parameters", reports, [](double value) { return quantity_text(value, ""); },
          [](const CostReport&, const PartCost& part) { return static_cast<double>(part.parameters); }),
      panel_of(
          "FLOPs of a token in training, forward and backward", reports,
          [](double value) { return quantity_text(value, "FLOP"); },
          [](const CostReport& report, const PartCost& part) { return part.flops() / report.cost.tokens(); })};
  if (std::ranges::all_of(reports, [](const CostReport& report) { return report.step.has_value(); })) {
    panels.push_back(panel_of("Time of a step on this machine", reports, duration_text,
                              [](const CostReport& report, const PartCost& part) {
                                const auto found = report.step->parts.find(part.part);
                                return found == report.step->parts.end() ? 0 : found->second;
                              }));
  }
  panels.push_back(memory_panel(reports));
  return panels;
}

// The names of segments that can be seen, in their order, which is also that of their colours.
class Legend {
 public:
  explicit Legend(const Panel& panel) { add(panel); }

  void add(const Panel& panel) {
    for (const std::vector<Segment>& bar : panel.bars) {
      for (const Segment& segment : bar) {
        if (segment.value > 0 && std::ranges::find(names_, segment.name) == names_.end())
          names_.push_back(segment.name);
      }
    }
  }

  Colour colour(const std::string& name) const {
    const auto at = static_cast<std::size_t>(std::ranges::find(names_, name) - names_.begin());
    return colours[at % colours.size()];
  }

  double height() const {
    return legend_line * static_cast<double>((names_.size() + legend_columns - 1) / legend_columns);
  }

  void draw(Picture& picture, double top) const {
    const double column = (width - 2 * margin) / static_cast<double>(legend_columns);
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const double x = margin + column * static_cast<double>(i % legend_columns);
      const double y = top + legend_line * static_cast<double>(i / legend_columns);
      picture.rectangle({x, y}, 11, 11, colour(names_[i]));
      picture.text({x + 17, y + 10}, names_[i], Anchor::start, text_colour, name_size);
    }
  }

 private:
  std::vector<std::string> names_;
};

std::string shortened(const std::string& name) {
  return name.size() <= longest_name ? name : "..." + name.substr(name.size() - longest_name + 3);
}

double panel_height(const Panel& panel) {
  return panel_gap + (bar_height + bar_gap) * static_cast<double>(panel.bars.size());
}

class CostChart {
 public:
  CostChart(const std::string& path, double height, const std::vector<CostReport>& reports)
      : picture_(path, width, height) {
    std::size_t longest = 0;
    for (const CostReport& report : reports) {
      names_.push_back(shortened(report.name));
      longest = std::max(longest, names_.back().size());
    }
    left_ = margin + character * static_cast<double>(longest) + 8;
  }

  Picture& picture() { return picture_; }

  void draw(const Panel& panel, const Legend& legend, double top) {
    picture_.text({margin, top + 14}, panel.title, Anchor::start, text_colour, 13);
    double most = 0;
    for (const auto& bar : panel.bars) most = std::max(most, total(bar));
    double y = top + panel_gap;
    for (std::size_t i = 0; i < panel.bars.size(); ++i, y += bar_height + bar_gap) {
      picture_.text({left_ - 8, y + 15}, names_[i], Anchor::end, text_colour, name_size);
      const double end = draw_bar(panel.bars[i], most, legend, y);
      picture_.text({end + 6, y + 15}, panel.text(total(panel.bars[i])), Anchor::start, text_colour, name_size);
    }
  }

 private:
  static double total(const std::vector<Segment>& bar) {
    double sum = 0;
    for (const Segment& segment : bar) sum += segment.value;
    return sum;
  }

  double draw_bar(const std::vector<Segment>& bar, double most, const Legend& legend, double y) {
    const double scale = most > 0 ? (width - margin - total_width - left_) / most : 0;
    double x = left_;
    for (const Segment& segment : bar) {
      if (segment.value > 0) picture_.rectangle({x, y}, segment.value * scale, bar_height, legend.colour(segment.name));
      x += segment.value * scale;
    }
    return x;
  }

  Picture picture_;
  std::vector<std::string> names_;
  double left_ = 0;
};

}  // namespace

void save_cost_chart(const std::string& path, const std::vector<CostReport>& reports) {
  const std::vector<Panel> panels = panels_of(reports);
  Legend parts(panels.front());
  for (std::size_t i = 1; i + 1 < panels.size(); ++i) parts.add(panels[i]);
  const Legend memory(panels.back());
  double height = 2 * margin + parts.height() + memory.height() + panel_gap;
  for (const Panel& panel : panels) height += panel_height(panel) + bar_gap;
  CostChart chart(path, height, reports);
  double y = margin;
  for (std::size_t i = 0; i + 1 < panels.size(); ++i) {
    chart.draw(panels[i], parts, y);
    y += panel_height(panels[i]) + bar_gap;
  }
  parts.draw(chart.picture(), y);
  y += parts.height() + panel_gap;
  chart.draw(panels.back(), memory, y);
  memory.draw(chart.picture(), y + panel_height(panels.back()) + bar_gap);
  chart.picture().save();
}

}  // namespace heddle

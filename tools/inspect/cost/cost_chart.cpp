#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <span>

#include "libcore/nn/parts.hpp"
#include "tools/drawing/palette.hpp"
#include "tools/drawing/picture.hpp"
#include "tools/inspect/cost/cost_report.hpp"
#include "tools/inspect/cost/quantity.hpp"

namespace heddle {

namespace {

using palette::of_byte;

constexpr double bars_width = 760, chart_margin = 24, bar_height = 22, bar_gap = 8, panel_gap = 26,
                 bar_legend_line = 18;
constexpr double heading_line = 16;
constexpr double character = 6.6;  // width of a character in names, at their size
constexpr double name_size = 11, total_width = 96, label_character = 5.6;
constexpr std::size_t longest_name = 28, legend_columns = 4;

constexpr std::array memory_colours{of_byte(0x1b, 0x3a, 0x5c), of_byte(0x3f, 0x74, 0xa8), of_byte(0x8a, 0xb6, 0xd6),
                                    of_byte(0xc9, 0xa2, 0x27)};
// Colours of the parts in their order, the same in all pictures: Okabe and Ito's for those that are large in
// transformers.
constexpr std::array part_colours{of_byte(0x00, 0x72, 0xb2), of_byte(0xe6, 0x9f, 0x00), of_byte(0xf2, 0xb8, 0x9b),
                                  of_byte(0x7a, 0x5c, 0xa6), of_byte(0x66, 0xa6, 0x1e), of_byte(0x9b, 0xd6, 0xc3),
                                  of_byte(0x00, 0x9e, 0x73), of_byte(0x56, 0xb4, 0xe9), of_byte(0xd5, 0x5e, 0x00),
                                  of_byte(0xf0, 0xe4, 0x42), of_byte(0x55, 0x55, 0x55), of_byte(0xb5, 0xa1, 0x6a),
                                  of_byte(0x00, 0x3f, 0x5c), of_byte(0xcc, 0x79, 0xa7), of_byte(0xa6, 0x1c, 0x3c),
                                  of_byte(0x8a, 0x4f, 0x00), of_byte(0xaa, 0xaa, 0xaa)};

constexpr std::array<std::string_view, 4> memory_categories{"weights", "gradients", "optimizer", "activations"};

struct Segment {
  std::string name;
  double value;
};

// A group of bars on one scale, a bar per model.
struct BarGroup {
  std::string title;
  std::vector<std::vector<Segment>> bars;
  std::function<std::string(double)> text;
};

template <class Value>
BarGroup bar_group(std::string title, const std::vector<CostReport>& reports, std::function<std::string(double)> text,
                   const Value& value) {
  BarGroup panel{std::move(title), {}, std::move(text)};
  for (const CostReport& report : reports) {
    panel.bars.emplace_back();
    for (const analysis::PartCost& part : report.cost.parts) {
      panel.bars.back().push_back({part.part, value(report, part)});
    }
  }
  return panel;
}

BarGroup memory_panel(const std::vector<CostReport>& reports) {
  BarGroup panel{"Memory of training", {}, bytes_text};
  for (const CostReport& report : reports) {
    const analysis::TrainingMemory& memory = report.cost.memory;
    const std::array bytes{memory.weights, memory.gradients, memory.optimizer, memory.activations};
    panel.bars.emplace_back();
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      panel.bars.back().push_back({std::string(memory_categories[i]), bytes[i]});
    }
  }
  return panel;
}

std::vector<BarGroup> panels_of(const std::vector<CostReport>& reports) {
  using analysis::PartCost;
  std::vector<BarGroup> panels{
      bar_group(
          "Parameters", reports, [](double value) { return quantity_text(value, ""); },
          [](const CostReport&, const PartCost& part) { return static_cast<double>(part.parameters); }),
      bar_group(
          "FLOPs of a token in training, forward and backward", reports,
          [](double value) { return quantity_text(value, "FLOP"); },
          [](const CostReport& report, const PartCost& part) { return part.flops() / report.cost.tokens(); })};
  if (std::ranges::all_of(reports, [](const CostReport& report) { return report.step.has_value(); })) {
    panels.push_back(bar_group("Time of a step on this machine", reports, duration_text,
                               [](const CostReport& report, const PartCost& part) {
                                 const auto found = report.step->parts.find(part.part);
                                 return found == report.step->parts.end() ? 0 : found->second;
                               }));
  }
  panels.push_back(memory_panel(reports));
  return panels;
}

// The names of segments that panels have, with their colours.
class Legend {
 public:
  Legend(std::span<const BarGroup> panels, std::span<const std::string_view> order, std::span<const Colour> palette)
      : order_(order.begin(), order.end()), palette_(palette) {
    for (const std::string_view name : order) {
      if (std::ranges::any_of(panels, [&](const BarGroup& panel) { return has(panel, name); }))
        names_.emplace_back(name);
    }
  }

  Colour colour(const std::string& name) const {
    const auto at = static_cast<std::size_t>(std::ranges::find(order_, name) - order_.begin());
    return palette_[at % palette_.size()];
  }

  double height() const {
    return bar_legend_line * static_cast<double>((names_.size() + legend_columns - 1) / legend_columns);
  }

  void draw(Picture& picture, double top) const {
    const double column = (bars_width - 2 * chart_margin) / static_cast<double>(legend_columns);
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const double x = chart_margin + column * static_cast<double>(i % legend_columns);
      const double y = top + bar_legend_line * static_cast<double>(i / legend_columns);
      picture.rectangle({x, y}, 11, 11, colour(names_[i]));
      picture.text({x + 17, y + 10}, names_[i], Anchor::start, palette::text, name_size);
    }
  }

 private:
  static bool has(const BarGroup& panel, std::string_view name) {
    return std::ranges::any_of(panel.bars, [&](const std::vector<Segment>& bar) {
      return std::ranges::any_of(bar, [&](const Segment& each) { return each.name == name && each.value > 0; });
    });
  }

  std::vector<std::string> order_, names_;  // all, and those that occur
  std::span<const Colour> palette_;
};

std::string shortened_name(const std::string& name) {
  return name.size() <= longest_name ? name : "..." + name.substr(name.size() - longest_name + 3);
}

double panel_height(const BarGroup& panel) {
  return panel_gap + (bar_height + bar_gap) * static_cast<double>(panel.bars.size());
}

class CostChart {
 public:
  CostChart(const std::string& path, double height, const std::vector<CostReport>& reports)
      : picture_(path, bars_width, height) {
    std::size_t longest = 0;
    for (const CostReport& report : reports) {
      names_.push_back(shortened_name(report.name));
      longest = std::max(longest, names_.back().size());
    }
    left_ = chart_margin + character * static_cast<double>(longest) + 8;
  }

  Picture& picture() { return picture_; }

  void draw(const BarGroup& panel, const Legend& legend, double top) {
    picture_.text({chart_margin, top + 14}, panel.title, Anchor::start, palette::text, 13);
    double most = 0;
    for (const auto& bar : panel.bars) most = std::max(most, total(bar));
    double y = top + panel_gap;
    for (std::size_t i = 0; i < panel.bars.size(); ++i, y += bar_height + bar_gap) {
      picture_.text({left_ - 8, y + 15}, names_[i], Anchor::end, palette::text, name_size);
      const double end = draw_bar(panel.bars[i], most, legend, y);
      picture_.text({end + 6, y + 15}, panel.text(total(panel.bars[i])), Anchor::start, palette::text, name_size);
    }
  }

 private:
  static double total(const std::vector<Segment>& bar) {
    double sum = 0;
    for (const Segment& segment : bar) sum += segment.value;
    return sum;
  }

  double draw_bar(const std::vector<Segment>& bar, double most, const Legend& legend, double y) {
    const double scale = most > 0 ? (bars_width - chart_margin - total_width - left_) / most : 0;
    double x = left_;
    const double all = total(bar);
    for (const Segment& segment : bar) {
      const double length = segment.value * scale;
      if (segment.value > 0) {
        const Colour colour = legend.colour(segment.name);
        picture_.rectangle({x, y}, std::max(0.25, length - 0.75), bar_height, colour);
        label({x + length / 2, y + 15}, length, segment, all, colour);
      }
      x += length;
    }
    return x;
  }

  // As much as there is room for: the name and the fraction, or the fraction.
  void label(Point at, double length, const Segment& segment, double all, const Colour& background) {
    const std::string fraction = fmt::format("{:.0f} %", 100 * segment.value / all);
    const double light = 0.3 * background.red + 0.6 * background.green + 0.1 * background.blue;
    for (const std::string& text : {segment.name + " " + fraction, fraction}) {
      if (label_character * static_cast<double>(text.size() + 1) > length) continue;
      picture_.text(at, text, Anchor::middle, light > 0.55 ? Colour{} : Colour{1, 1, 1}, 10);
      return;
    }
  }

  Picture picture_;
  std::vector<std::string> names_;
  double left_ = 0;
};

// Counted step, once for all models or, if they differ, for each.
std::vector<std::string> heading_of(const std::vector<CostReport>& reports) {
  std::vector<std::string> lines;
  for (const CostReport& report : reports) lines.push_back("a training step " + step_text(report.cost));
  if (std::ranges::count(lines, lines.front()) == std::ssize(lines)) {
    lines.resize(1);
    if (reports.size() == 1) lines.front() = reports.front().name + ": " + lines.front();
    return lines;
  }
  for (std::size_t i = 0; i < lines.size(); ++i) lines[i] = shortened_name(reports[i].name) + ": " + lines[i];
  return lines;
}

}  // namespace

void save_cost_chart(const std::string& path, const std::vector<CostReport>& reports) {
  const std::vector<std::string> heading = heading_of(reports);
  const std::vector<BarGroup> panels = panels_of(reports);
  const std::vector<std::string_view> order = nn::parts::all();
  const std::span<const BarGroup> all = panels;
  const Legend parts(all.first(panels.size() - 1), order, part_colours);
  const Legend memory(all.last(1), memory_categories, memory_colours);
  const double first = chart_margin + heading_line * static_cast<double>(heading.size()) + bar_gap;
  double height = first + chart_margin + parts.height() + memory.height() + panel_gap;
  for (const BarGroup& panel : panels) height += panel_height(panel) + bar_gap;
  CostChart chart(path, height, reports);
  for (std::size_t i = 0; i < heading.size(); ++i) {
    chart.picture().text({chart_margin, chart_margin + 10 + heading_line * static_cast<double>(i)}, heading[i],
                         Anchor::start, palette::text, name_size);
  }
  double y = first;
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

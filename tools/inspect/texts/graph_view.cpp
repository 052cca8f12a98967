#include "tools/inspect/texts/graph_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "libcore/base/printable.hpp"
#include "tools/cli/version.hpp"
#include "tools/drawing/pages/page.hpp"
#include "tools/drawing/palette.hpp"
#include "tools/inspect/page_parts.hpp"
#include "tools/inspect/texts/cut_text.hpp"
#include "tools/inspect/texts/matrix_picture.hpp"

namespace heddle {

namespace {

using formats::Json;

constexpr double widest_line = 12, widest_ring = 6;  // points
constexpr double ring_radius = 14;                   // radius of its middle
constexpr double largest_disc = 18;                  // radius
constexpr double least_column = 90;                  // room for its label
constexpr double sheet_edge = 12, heading_size = 12, panel_label = 10, legend_size = 10;
constexpr Colour line_colour{0.0, 0.447, 0.698, 0.45}, ring_colour{0.0, 0.62, 0.451, 0.4},
    far_colour{0.835, 0.369, 0.0, 0.45}, raising{0.902, 0.497, 0.0, 0.55}, lowering{0.0, 0.447, 0.698, 0.45},
    not_finite_pen{0.863, 0, 0};

Point on_sheet(Point corner, Point place, double scale) {
  return {corner.x + scale * place.x, corner.y + scale * place.y};
}

GraphSketch sketch_of_given(const GivenGraph& graph) {
  const Index nodes = graph.record.graph.nodes;
  check<DataError>(nodes <= most_sketched_nodes, graph.file, ": ", graph.title(), ": has ", nodes,
                   " nodes, and at most ", most_sketched_nodes, " are drawn; write a .tsv or .h5 file");
  return sketch_of(graph.record, graph.schema);
}

double weight_at(const Tensor& weights, Index query, Index key) {
  return static_cast<double>(weights[query * weights.shape()[1] + key]);
}

// The largest weights that are drawn, which have the widest line and the widest ring.
struct LargestWeights {
  double line = 0, ring = 0;
};
LargestWeights largest_weights(const std::vector<NodePair>& pairs, const AttentionReport& report) {
  LargestWeights largest;
  const AttentionGroup& group = report.groups.front();
  for (std::size_t layer = 0; layer < group.layers.size(); ++layer) {
    for (Index head = 0; head < group.heads; ++head) {
      const Tensor weights = group.weights(layer, head);
      for (const NodePair& pair : pairs) largest.line = std::max(largest.line, mean_weight(weights, pair));
      for (Index i = 0; i < weights.shape()[0]; ++i) largest.ring = std::max(largest.ring, weight_at(weights, i, i));
    }
  }
  return largest;
}

// The pairs that are no edges with the largest weights, the largest last.
std::vector<NodePair> strongest_apart(const std::vector<NodePair>& pairs, const Tensor& weights, Index top) {
  std::vector<NodePair> apart;
  for (const NodePair& pair : pairs) {
    if (!pair.is_edge && std::isfinite(mean_weight(weights, pair))) apart.push_back(pair);
  }
  std::ranges::stable_sort(apart, {}, [&](const NodePair& pair) { return mean_weight(weights, pair); });
  if (std::ssize(apart) > top) apart.erase(apart.begin(), apart.end() - top);
  return apart;
}

class AttentionDrawing {
 public:
  AttentionDrawing(const GivenGraph& graph, const AttentionReport& report, Index top)
      : sketch_(sketch_of_given(graph)),
        pairs_(pairs_of(graph, report)),
        top_(top),
        largest_(largest_weights(pairs_, report)) {}

  const GraphSketch& sketch() const { return sketch_; }
  std::string legend() const {
    const bool has_others = std::ranges::any_of(pairs_, [](const NodePair& pair) { return !pair.is_edge; });
    return fmt::format(
        "lines: mean of both directions, the widest {:.3f}; rings: a node to itself, the widest {:.3f}{}",
        largest_.line, largest_.ring, has_others && top_ > 0 ? "; dashed: no edge" : "");
  }

  void draw(Picture& picture, const Tensor& weights, Point corner, double scale) const {
    const auto width = [&](double weight) { return scale * widest_line * weight / largest_.line; };
    const auto at = [&](Index node) { return on_sheet(corner, sketch_.nodes[static_cast<std::size_t>(node)], scale); };
    for (const NodePair& pair : pairs_) {
      const double mean = mean_weight(weights, pair);
      if (pair.is_edge && mean != 0)
        picture.line(at(pair.a), at(pair.b), pen_of(mean, line_colour, width(mean), scale));
    }
    for (Index i = 0; i < weights.shape()[0]; ++i) {
      const double own = weight_at(weights, i, i), wide = scale * widest_ring * own / largest_.ring;
      if (own != 0) picture.circle(at(i), scale * ring_radius, pen_of(own, ring_colour, wide, scale));
    }
    for (const NodePair& pair : strongest_apart(pairs_, weights, top_)) {
      const Pen pen{far_colour, width(mean_weight(weights, pair)), {6 * scale, 4 * scale}};
      if (pen.width > 0) picture.line(at(pair.a), at(pair.b), pen);
    }
    draw_sketch(picture, sketch_, corner, scale);
  }

 private:
  // The pen of a weight that is not finite is thin and red.
  static Pen pen_of(double weight, const Colour& colour, double width, double scale) {
    return std::isfinite(weight) ? Pen{colour, width} : Pen{not_finite_pen, 2 * scale};
  }

  GraphSketch sketch_;
  std::vector<NodePair> pairs_;
  Index top_;
  LargestWeights largest_;
};

// A picture with a title above and a legend below, and room between them.
struct Sheet {
  double top = sheet_edge + heading_size + 10;
  double width, height;
  std::string title, legend;

  Sheet(const std::string& path, std::string heading, std::string foot, double inner_width, double inner_height)
      : title(shortened(heading, 90)), legend(std::move(foot)) {
    const Picture ruler(path, 1, 1);
    width = std::ceil(2 * sheet_edge + std::max({inner_width, ruler.text_width(title, heading_size),
                                                 ruler.text_width(legend, legend_size)}));
    height = std::ceil(top + inner_height + legend_size + 2 * sheet_edge);
    const double pixels = width * height * Picture::pixels_per_point * Picture::pixels_per_point;
    check<UsageError>(pixels <= most_picture_pixels, path, ": the picture would have ", std::llround(pixels * 1e-6),
                      " million pixels, of at most ", std::llround(most_picture_pixels * 1e-6),
                      "; choose layers and heads with --layer and --head, or write a .html file");
  }
  void write_words(Picture& picture) const {
    picture.text({sheet_edge, sheet_edge + heading_size - 2}, title, Anchor::start, palette::text, heading_size);
    picture.text({sheet_edge, height - sheet_edge}, legend, Anchor::start, palette::text, legend_size);
  }
};

std::string head_label(const AttentionGroup& group, Index head) {
  const Index number = group.head_number(head);
  return number == AttentionGroup::mean_head ? "mean of the heads" : fmt::format("head {}", number);
}

// --- pages ---

double digits(double value) {
  return std::strtod(fmt::format("{:.5g}", value).c_str(), nullptr);
}

std::string web_colour(const Colour& colour) {
  const auto byte = [](double part) { return static_cast<int>(std::lround(255 * part)); };
  return fmt::format("#{:02x}{:02x}{:02x}", byte(colour.red), byte(colour.green), byte(colour.blue));
}

Json sketch_json(const GraphSketch& sketch) {
  const auto place = [](double value) { return std::round(10 * value) / 10; };
  Json lines = Json::array(), discs = Json::array(), signs = Json::array(), nodes = Json::array();
  for (const GraphSketch::Line& line : sketch.lines) {
    lines.push_back({place(line.from.x), place(line.from.y), place(line.to.x), place(line.to.y), line.is_dashed});
  }
  for (const GraphSketch::Disc& disc : sketch.discs) {
    discs.push_back({place(disc.centre.x), place(disc.centre.y), web_colour(disc.colour)});
  }
  for (const GraphSketch::Sign& sign : sketch.signs) {
    signs.push_back({place(sign.middle.x), place(sign.middle.y), sign.text, web_colour(sign.colour), sign.size});
  }
  for (std::size_t i = 0; i < sketch.nodes.size(); ++i) {
    nodes.push_back({place(sketch.nodes[i].x), place(sketch.nodes[i].y), sketch.names[i]});
  }
  return {{"width", sketch.width},     {"height", sketch.height},   {"lines", std::move(lines)},
          {"discs", std::move(discs)}, {"signs", std::move(signs)}, {"nodes", std::move(nodes)},
          {"pen", sketch_pen},         {"disc", sketch_disc}};
}

// The weights of one head, of each pair from a to b and back, and of each node for itself.
Json head_json(const std::vector<NodePair>& pairs, const Tensor& weights, const std::string& name) {
  Json there = Json::array(), back = Json::array(), own = Json::array();
  for (const NodePair& pair : pairs) {
    there.push_back(digits(weight_at(weights, pair.a, pair.b)));
    back.push_back(digits(weight_at(weights, pair.b, pair.a)));
  }
  for (Index i = 0; i < weights.shape()[0]; ++i) own.push_back(digits(weight_at(weights, i, i)));
  return {{"name", name}, {"there", std::move(there)}, {"back", std::move(back)}, {"own", std::move(own)}};
}

Json graph_page_data(const GivenGraph& graph, const std::string& title, const std::string& model) {
  return {{"generator", "heddle " + cli::version()},
          {"title", title},
          {"subtitle", graph.title() + " of " + printable(graph.file) + ", " + printable(model)},
          {"sketch", sketch_json(sketch_of_given(graph))}};
}

}  // namespace

std::vector<NodePair> pairs_of(const GivenGraph& graph, const AttentionReport& report) {
  const Index nodes = graph.record.graph.nodes;
  const auto beside = [nodes](Index a, Index b) { return static_cast<std::size_t>(a * nodes + b); };
  std::vector<bool> attends(beside(nodes, 0)), is_edge(beside(nodes, 0));
  for (Index target = 0; target < nodes; ++target) {
    const auto row = static_cast<std::size_t>(target);
    for (Index e = graph.record.graph.rows[row]; e < graph.record.graph.rows[row + 1]; ++e) {
      is_edge[beside(target, graph.record.graph.sources[static_cast<std::size_t>(e)])] = true;
    }
  }
  const AttentionGroup& group = report.groups.front();
  for (std::size_t layer = 0; layer < group.layers.size(); ++layer) {
    for (Index head = 0; head < group.heads; ++head) {
      const Tensor weights = group.weights(layer, head);
      for (Index i = 0; i < weights.size(); ++i) {
        if (weights[i] != 0) attends[static_cast<std::size_t>(i)] = true;
      }
    }
  }
  std::vector<NodePair> edges, others;
  for (Index a = 0; a < nodes; ++a) {
    for (Index b = a + 1; b < nodes; ++b) {
      const bool there = attends[beside(a, b)], back = attends[beside(b, a)];
      if (!there && !back) continue;
      const bool joined = is_edge[beside(a, b)] || is_edge[beside(b, a)];
      (joined ? edges : others).push_back({a, b, joined, !graph.schema.is_directed || (there && back) ? 2 : 1});
    }
  }
  edges.insert(edges.end(), others.begin(), others.end());
  return edges;
}

double mean_weight(const Tensor& weights, const NodePair& pair) {
  return (weight_at(weights, pair.a, pair.b) + weight_at(weights, pair.b, pair.a)) / pair.ways;
}

void draw_graph_attention(const std::string& path, const GivenGraph& graph, const AttentionReport& report, Index top) {
  const AttentionGroup& group = report.groups.front();
  const AttentionDrawing drawing(graph, report, top);
  const bool is_single = group.layers.size() == 1 && group.heads == 1;
  const double scale = is_single ? 1 : 0.5, label = is_single ? 0 : panel_label + 8;
  const double column = std::max(scale * drawing.sketch().width, is_single ? 0 : least_column);
  const double row = label + scale * drawing.sketch().height;
  const std::string of = is_single ? fmt::format("layer {}, {}, ", group.numbers.front(), head_label(group, 0)) : "";
  const Sheet sheet(path, "attention, " + of + graph.title(), drawing.legend(),
                    column * static_cast<double>(group.heads), row * static_cast<double>(group.layers.size()));
  Picture picture(path, sheet.width, sheet.height);
  sheet.write_words(picture);
  const double left = is_single ? (sheet.width - column) / 2 : sheet_edge;
  for (std::size_t layer = 0; layer < group.layers.size(); ++layer) {
    for (Index head = 0; head < group.heads; ++head) {
      const Point corner{left + column * static_cast<double>(head), sheet.top + row * static_cast<double>(layer)};
      if (!is_single) {
        picture.text({corner.x, corner.y + panel_label},
                     fmt::format("layer {}, {}", group.numbers[layer], head_label(group, head)), Anchor::start,
                     palette::text, panel_label);
      }
      drawing.draw(picture, group.weights(layer, head), {corner.x, corner.y + label}, scale);
    }
  }
  picture.save();
}

void draw_node_shares(const std::string& path, const GivenGraph& graph, const std::vector<double>& shares,
                      const std::string& legend) {
  const GraphSketch sketch = sketch_of_given(graph);
  const Sheet sheet(path, graph.title(), legend, sketch.width, sketch.height);
  Picture picture(path, sheet.width, sheet.height);
  sheet.write_words(picture);
  const Point corner{(sheet.width - sketch.width) / 2, sheet.top};
  const double inner = sketch.discs.empty() ? 0 : sketch_disc;  // the node itself covers this
  double largest = 0;
  for (const double share : shares) largest = std::max(largest, std::abs(share));
  for (std::size_t i = 0; i < shares.size() && largest > 0; ++i) {
    const double radius = inner + (largest_disc - inner) * std::sqrt(std::abs(shares[i]) / largest);
    picture.disc(on_sheet(corner, sketch.nodes[i], 1), radius, shares[i] > 0 ? raising : lowering);
  }
  draw_sketch(picture, sketch, corner, 1);
  picture.save();
}

void write_graph_attention_page(const std::string& path, const GivenGraph& graph, const AttentionReport& report,
                                const std::string& model, Index top) {
  constexpr double most_page_weights = 4e6;
  const AttentionGroup& group = report.groups.front();
  const std::vector<NodePair> pairs = pairs_of(graph, report);
  const double count = 2.0 * static_cast<double>(pairs.size()) * static_cast<double>(group.layers.size()) *
                       static_cast<double>(group.heads);
  check<UsageError>(count <= most_page_weights, path, ": a page of a graph holds at most ",
                    std::llround(most_page_weights * 1e-6), " million weights, and these are ",
                    std::llround(count * 1e-6), "; choose fewer layers with --layer, or write a .tsv file");
  Json data = graph_page_data(graph, "Attention of " + printable(model), model);
  Json listed = Json::array(), layers = Json::array();
  for (const NodePair& pair : pairs) listed.push_back({pair.a, pair.b, pair.is_edge, pair.ways});
  for (std::size_t layer = 0; layer < group.layers.size(); ++layer) {
    Json heads = Json::array();
    for (Index head = 0; head < group.heads; ++head) {
      heads.push_back(head_json(pairs, group.weights(layer, head), head_label(group, head)));
    }
    layers.push_back({{"number", group.numbers[layer]}, {"heads", std::move(heads)}});
  }
  data["attention"] = {{"pairs", std::move(listed)}, {"layers", std::move(layers)}, {"top", top}};
  write_page(path, data["title"].get<std::string>(), graph_parts(), data);
}

void write_node_shares_page(const std::string& path, const GivenGraph& graph, const std::vector<double>& shares,
                            const std::string& legend, const std::string& model) {
  Json data = graph_page_data(graph, "Answer of " + printable(model), model), rounded = Json::array();
  for (const double share : shares) rounded.push_back(digits(share));
  data["shares"] = {{"legend", legend}, {"of_nodes", std::move(rounded)}};
  write_page(path, data["title"].get<std::string>(), graph_parts(), data);
}

}  // namespace heddle

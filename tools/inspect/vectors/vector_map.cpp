#include "tools/inspect/vectors/vector_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "libcore/analysis/neighbour_map.hpp"
#include "libcore/analysis/principal_components.hpp"
#include "libcore/base/printable.hpp"
#include "libcore/base/strings.hpp"
#include "tools/cli/streams.hpp"
#include "tools/cli/version.hpp"
#include "tools/drawing/pages/page.hpp"
#include "tools/drawing/palette.hpp"
#include "tools/drawing/picture.hpp"
#include "tools/inspect/page_parts.hpp"
#include "tools/lines/escaped.hpp"

namespace heddle {

namespace {

using formats::Json;

constexpr std::size_t most_map_points = 5000, most_by_neighbours = 2000, most_by_neighbours_unasked = 600;
constexpr Index components = 3;  // for tables and pages; pictures have two

Tensor unit_vectors(const Tensor& vectors) {
  const Tensor unit(vectors.shape());
  unit.assign(vectors);
  const Index width = unit.shape()[1];
  for (Index i = 0; i < unit.shape()[0]; ++i) {
    double squares = 0;
    for (Index j = 0; j < width; ++j) squares += std::pow(static_cast<double>(unit[i * width + j]), 2);
    if (!(squares > 0)) continue;
    for (Index j = 0; j < width; ++j) unit[i * width + j] *= static_cast<Real>(1 / std::sqrt(squares));
  }
  return unit;
}

// The points' coordinates, and what the axes are.
struct Layout {
  std::vector<std::vector<double>> coordinates;  // [points][axes]
  std::vector<std::string> axes;
};

Layout by_components(const Tensor& unit) {
  const analysis::PrincipalComponents found = analysis::principal_components(unit, components);
  Layout layout{found.coordinates, {}};
  for (std::size_t k = 0; k < std::max<std::size_t>(2, found.explained.size()); ++k) {
    const double explained = k < found.explained.size() ? found.explained[k] : 0;
    layout.axes.push_back(fmt::format("component {} ({:.1f} % of the variance)", k + 1, 100 * explained));
  }
  for (auto& each : layout.coordinates) each.resize(layout.axes.size(), 0.0);
  return layout;
}

Layout by_neighbours(const Tensor& unit) {
  Layout layout{{}, {"t-SNE 1", "t-SNE 2"}};
  for (const auto& [x, y] : analysis::neighbour_map(unit)) layout.coordinates.push_back({x, y});
  return layout;
}

Layout layout_of(const Tensor& unit, MapLayout layout) {
  return layout == MapLayout::pca ? by_components(unit) : by_neighbours(unit);
}

std::vector<std::string> groups_of(const VectorMap& map) {
  std::vector<std::string> groups;
  for (const MapPoint& point : map.points) {
    if (std::ranges::find(groups, point.group) == groups.end()) groups.push_back(point.group);
  }
  return groups;
}

struct Box {
  double left, top, right, bottom;
  bool overlaps(const Box& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
};

class MapPicture {
 public:
  MapPicture(const std::string& path, const VectorMap& map, const Layout& layout)
      : map_(map),
        layout_(layout),
        groups_(groups_of(map)),
        picture_(path, width, bottom + 48 + legend_line * static_cast<double>(groups_.size())) {
    for (int axis = 0; axis < 2; ++axis) {
      const auto of_axis = [axis](const std::vector<double>& each) { return each[static_cast<std::size_t>(axis)]; };
      const auto [low, high] = std::ranges::minmax_element(layout.coordinates, {}, of_axis);
      lows_[axis] = of_axis(*low);
      highs_[axis] = std::max(of_axis(*high), of_axis(*low) + 1e-12);
    }
  }

  void draw() {
    axes();
    each(false, [this](std::size_t i) { mark(i); });
    each(true, [this](std::size_t i) { mark(i); });  // above the others
    each(true, [this](std::size_t i) { label(i); });
    each(false, [this](std::size_t i) { label(i); });
    legend();
    picture_.save();
  }

 private:
  static constexpr double width = 720, left = 40, right = width - 24, top = 48, bottom = 560;
  static constexpr double radius = 3.5, legend_line = 18, label_size = 10;
  static constexpr std::size_t widest_label = 32;

  // Both axes have the same scale, so that distances are comparable; the cloud is in the middle.
  Point at(std::size_t i) const {
    const double scale =
        std::min((right - left - 24) / (highs_[0] - lows_[0]), (bottom - top - 24) / (highs_[1] - lows_[1]));
    const std::vector<double>& place = layout_.coordinates[i];
    return {(left + right) / 2 + scale * (place[0] - (lows_[0] + highs_[0]) / 2),
            (top + bottom) / 2 - scale * (place[1] - (lows_[1] + highs_[1]) / 2)};
  }
  template <class Body>
  void each(bool is_marked, const Body& body) {
    for (std::size_t i = 0; i < map_.points.size(); ++i) {
      if (map_.points[i].is_marked == is_marked) body(i);
    }
  }
  std::size_t group_of(std::size_t i) const {
    return static_cast<std::size_t>(std::ranges::find(groups_, map_.points[i].group) - groups_.begin());
  }

  void axes() {
    const Pen pen{palette::grid};
    const Point corners[] = {{left, top}, {right, top}, {right, bottom}, {left, bottom}, {left, top}};
    picture_.polyline(corners, pen);
    picture_.text({left, 28}, printable(map_.title), Anchor::start, palette::text, 13);
    picture_.text({(left + right) / 2, bottom + 20}, layout_.axes[0], Anchor::middle, palette::text, 11);
    picture_.text({left - 12, (top + bottom) / 2}, layout_.axes[1], Anchor::middle, palette::text, 11, Direction::up);
  }

  // Groups beyond the colours have a white centre.
  void symbol(Point place, std::size_t group, bool is_marked) {
    const Colour& colour = palette::series[group % palette::series.size()];
    const bool hollow = group / palette::series.size() % 2 == 1;
    const Colour white{1, 1, 1};
    if (is_marked) {
      const double side = 2 * radius + 2;
      picture_.rectangle({place.x - side / 2, place.y - side / 2}, side, side, colour);
      if (hollow) picture_.rectangle({place.x - side / 4, place.y - side / 4}, side / 2, side / 2, white);
    } else {
      picture_.disc(place, radius, colour);
      if (hollow) picture_.disc(place, radius / 2, white);
    }
  }
  void mark(std::size_t i) {
    const Point place = at(i);
    symbol(place, group_of(i), map_.points[i].is_marked);
    taken_.push_back({place.x - radius, place.y - radius, place.x + radius, place.y + radius});
  }

  // Beside, above or below the point where nothing is yet; else there is no room for it.
  void label(std::size_t i) {
    const std::string text = printable(map_.points[i].label);
    if (text.empty() || display_width(text) > widest_label) return;
    const double wide = picture_.text_width(text, label_size), gap = radius + 3;
    const Point place = at(i);
    const Point corners[] = {{place.x + gap, place.y + 3.5},
                             {place.x - gap - wide, place.y + 3.5},
                             {place.x - wide / 2, place.y - gap},
                             {place.x - wide / 2, place.y + gap + label_size - 2}};
    for (const Point& corner : corners) {
      const Box box{corner.x - 1, corner.y - label_size + 1, corner.x + wide + 1, corner.y + 3};
      const bool inside = box.left > left && box.right < right && box.top > top && box.bottom < bottom;
      if (!inside || std::ranges::any_of(taken_, [&](const Box& other) { return box.overlaps(other); })) continue;
      picture_.text(corner, text, Anchor::start, palette::text, label_size);
      taken_.push_back(box);
      return;
    }
  }

  void legend() {
    for (std::size_t group = 0; group < groups_.size(); ++group) {
      const double y = bottom + 46 + legend_line * static_cast<double>(group);
      symbol({left + radius, y - 4}, group, false);
      picture_.text({left + 16, y}, printable(groups_[group]), Anchor::start, palette::text, 11);
    }
    if (!std::ranges::any_of(map_.points, &MapPoint::is_marked)) return;
    picture_.text({right, bottom + 46}, "squares: " + map_.marked_name, Anchor::end, palette::text, 11);
  }

  const VectorMap& map_;
  const Layout& layout_;
  std::vector<std::string> groups_;
  Picture picture_;
  double lows_[2], highs_[2];
  std::vector<Box> taken_;
};

void write_table(const std::string& path, const VectorMap& map, const Layout& layout) {
  cli::Output output(path);
  std::ostream& out = output.stream();
  out << "label\t" << map.group_name << '\t' << map.marked_name << "\tdetail";
  for (const std::string& axis : layout.axes) out << '\t' << axis;
  out << '\n';
  for (std::size_t i = 0; i < map.points.size(); ++i) {
    const MapPoint& point = map.points[i];
    out << escaped_field(point.label) << '\t' << escaped_field(point.group) << '\t' << (point.is_marked ? 1 : 0) << '\t'
        << escaped_field(point.detail);
    for (const double place : layout.coordinates[i]) out << fmt::format("\t{:.7g}", place);
    out << '\n';
  }
  output.close();
}

Json page_layout(const std::string& name, const Layout& layout) {
  Json axes = layout.axes, coordinates = Json::array();
  for (std::size_t axis = 0; axis < layout.axes.size(); ++axis) {
    Json values = Json::array();
    for (const auto& each : layout.coordinates) {
      values.push_back(std::strtod(fmt::format("{:.6g}", each[axis]).c_str(), nullptr));
    }
    coordinates.push_back(std::move(values));
  }
  return {{"name", name}, {"axes", std::move(axes)}, {"coordinates", std::move(coordinates)}};
}

Json ranked_lists(const VectorMap& map) {
  Json lists = Json::array();
  for (const RankedNeighbours& each : map.ranked) {
    Json near = Json::array();
    for (const auto& [label, similarity] : each.near) {
      near.push_back({printable(label), std::strtod(fmt::format("{:.4g}", similarity).c_str(), nullptr)});
    }
    lists.push_back({{"word", printable(each.word)}, {"near", std::move(near)}});
  }
  return lists;
}

// t-SNE too, where it is quick or wanted.
void write_map_page(const std::string& path, const VectorMap& map, const Tensor& unit, MapLayout layout) {
  Json points = Json::array();
  const std::vector<std::string> groups = groups_of(map);
  for (const MapPoint& point : map.points) {
    points.push_back({printable(point.label), std::ranges::find(groups, point.group) - groups.begin(),
                      point.is_marked ? 1 : 0, printable(point.detail)});
  }
  Json layouts = Json::array({page_layout("Principal components", by_components(unit))});
  if (layout == MapLayout::tsne || map.points.size() <= most_by_neighbours_unasked) {
    layouts.push_back(page_layout("t-SNE", by_neighbours(unit)));
  }
  Json names = Json::array();
  for (const std::string& group : groups) names.push_back(printable(group));
  write_page(path, printable(map.title), map_parts(),
             {{"generator", "heddle " + cli::version()},
              {"title", printable(map.title)},
              {"group_name", map.group_name},
              {"marked_name", map.marked_name},
              {"width", unit.shape()[1]},
              {"groups", std::move(names)},
              {"points", std::move(points)},
              {"layouts", std::move(layouts)},
              {"ranked", ranked_lists(map)},
              {"first", layout == MapLayout::tsne ? 1 : 0}});
}

}  // namespace

bool is_map_name(std::string_view path) {
  return Picture::is_name(path) || is_page_name(path) || path.ends_with(".tsv");
}

void check_map_name(const std::string& path) {
  check<UsageError>(is_map_name(path), path,
                    ": maps are written into files that end in .svg, .png, .pdf, .html or .tsv");
}

void write_map(const std::string& path, const VectorMap& map, MapLayout layout) {
  check<DataError>(!map.points.empty(), path, ": there is no vector to draw");
  check<DataError>(map.points.size() <= most_map_points, path, ": a map has room for ", grouped(most_map_points),
                   " points, and there are ", grouped(static_cast<long long>(map.points.size())));
  check<DataError>(layout == MapLayout::pca || map.points.size() <= most_by_neighbours, path, ": t-SNE is for at most ",
                   grouped(most_by_neighbours), " points, and there are ",
                   grouped(static_cast<long long>(map.points.size())), "; use --layout pca");
  const Tensor unit = unit_vectors(map.vectors);
  if (is_page_name(path)) return write_map_page(path, map, unit, layout);
  const Layout places = layout_of(unit, layout);
  if (path.ends_with(".tsv")) return write_table(path, map, places);
  MapPicture(path, map, places).draw();
}

}  // namespace heddle

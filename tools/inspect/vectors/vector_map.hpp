// Vectors as points of the plane: pictures, a page and a table.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/visit.hpp"
#include "libcore/tensor/tensor.hpp"

namespace heddle {

// Projection of vectors to points: by their principal components, or by t-SNE, which keeps neighbours together.
enum class MapLayout { pca, tsne };
template <>
struct Names<MapLayout> {
  static constexpr std::pair<MapLayout, std::string_view> list[] = {{MapLayout::pca, "pca"}, {MapLayout::tsne, "tsne"}};
};

inline Field layout_field() {
  return Field("layout", "of a map: the two principal components, or t-SNE, which keeps neighbours together")
      .needs({"output"});
}
inline Field map_output_field(const std::string& of) {
  return Field("output", "write a map of " + of + ": a picture .svg, .png or .pdf, a page .html, or a table .tsv")
      .letter('o')
      .not_empty()
      .takes("FILE")
      .essential();
}

struct MapPoint {
  std::string label;       // a word, or a few
  std::string group;       // group that its colour represents
  std::string detail;      // more about it, for the page and the table
  bool is_marked = false;  // drawn as a square
};

// Nearest neighbours of a word, the most similar first.
struct RankedNeighbours {
  std::string word;
  std::vector<std::pair<std::string, double>> near;  // labels and similarities
};

struct VectorMap {
  std::string title;
  std::string group_name, marked_name;  // what groups are ("sense"), and what marked points are ("asked")
  std::vector<MapPoint> points;
  Tensor vectors;                          // [points, width]
  std::vector<RankedNeighbours> ranked{};  // lists that a page has before the map
};

// Whether a map can be written to a file of this name.
bool is_map_name(std::string_view path);

// Throws UsageError for names of other endings.
void check_map_name(const std::string& path);

// Directions count, not lengths: vectors are scaled to length 1 first. Throws DataError for more points than a map has
// room for, and for files that cannot be written; NumericError for vectors that are not finite.
void write_map(const std::string& path, const VectorMap& map, MapLayout layout);

}  // namespace heddle

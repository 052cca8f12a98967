// The columns of features that graphs have.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heddle::data {

// A feature that is one of several kinds, such as an element or the order of a bond. The kind named kinds[k - 1] has
// the number k; 0 is any that the list lacks.
struct CategoryColumn {
  std::string name;
  std::vector<std::string> kinds;

  bool operator==(const CategoryColumn&) const = default;
};

// A feature that is a number. Models see (number - mean) / stddev.
struct NumberColumn {
  std::string name;
  double mean = 0, stddev = 1;

  bool operator==(const NumberColumn&) const = default;
};

struct FeatureColumns {
  std::vector<CategoryColumn> categories;
  std::vector<NumberColumn> numbers;

  bool empty() const { return categories.empty() && numbers.empty(); }
  bool operator==(const FeatureColumns&) const = default;
};

// Schema common to the graphs of a file, or to those that a model reads.
struct GraphSchema {
  FeatureColumns nodes, edges;
  bool is_directed = false;  // else each edge is there both ways

  bool empty() const { return nodes.empty() && edges.empty(); }

  // As configurations state it: "nodes(element=C|N; mass~12.5~3) edges(order=1|2) directed", a number with its mean and
  // standard deviation, or "auto" for one without columns. A backslash stands before characters of names that have a
  // meaning here.
  std::string text() const;
  // Throws UsageError for other texts.
  static GraphSchema from_text(std::string_view text);

  bool operator==(const GraphSchema&) const = default;
};

}  // namespace heddle::data

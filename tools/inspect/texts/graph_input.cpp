#include "tools/inspect/texts/graph_input.hpp"

#include <optional>

#include "formats/heddle/graphs_file.hpp"
#include "libcore/base/error.hpp"
#include "libcore/base/printable.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/base/values.hpp"

namespace heddle {

namespace {

std::optional<Index> whole_number(const std::string& text) {
  try {
    return parse_index(text);
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

// From 0. An id that is a number is the number of another graph, so numbers come first.
Index find_graph(const formats::GraphsFile& file, const std::string& which) {
  const std::optional<Index> number = whole_number(which);
  if (number && *number >= 1 && *number <= file.size()) return *number - 1;
  for (Index i = 0; i < file.size(); ++i) {
    if (file.id(i) == which) return i;
  }
  throw DataError(concatenate(file.name(), ": has no graph ", printable(which), ", neither as a number from 1 to ",
                              file.size(), " nor as an id"));
}

}  // namespace

std::string GivenGraph::title() const {
  const std::string name = concatenate("graph ", number + 1);
  return record.id.empty() || record.id == std::to_string(number + 1) ? name : name + ", " + printable(record.id);
}

GivenGraph read_graph(const std::string& path, const std::string& which, const data::GraphSchema& features) {
  const formats::GraphsFile file(path);
  GivenGraph given{path, find_graph(file, which), file.schema(), {}, {}};
  given.record = file.record(given.number);
  given.graph = given.record.graph;
  data::SchemaMap(given.schema, features, path).apply(given.graph);
  return given;
}

}  // namespace heddle

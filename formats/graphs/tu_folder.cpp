#include "formats/graphs/tu_folder.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>

#include "formats/files/lines.hpp"
#include "formats/graphs/edge_list.hpp"
#include "formats/graphs/label_values.hpp"
#include "libcore/base/error.hpp"
#include "libcore/base/strings.hpp"

namespace heddle::formats {

namespace {

constexpr const char* edges_ending = "_A.txt";

// One file of the collection: its lines.
class TuLines {
 public:
  // A file that does not exist has none.
  explicit TuLines(std::string path) : path_(std::move(path)) {
    std::ifstream file(path_, std::ios::binary);
    is_there_ = file.is_open();
    if (!is_there_) return;
    content_.assign(std::istreambuf_iterator<char>(file), {});
    for_each_line(content_, Place(path_), [&](std::string_view line, const Place&) { lines_.push_back(line); });
    while (!lines_.empty() && trimmed(lines_.back(), " \t").empty()) lines_.pop_back();
  }
  TuLines(const TuLines&) = delete;
  TuLines& operator=(const TuLines&) = delete;

  bool is_there() const { return is_there_; }
  std::size_t size() const { return lines_.size(); }
  const std::string& path() const { return path_; }
  Place place(std::size_t line) const { return {path_, static_cast<Index>(line) + 1}; }

  // Throws DataError unless there are as many lines as `wanted` says.
  void expect(std::size_t wanted, const std::string& reason) const {
    check<DataError>(!is_there_ || size() == wanted, path_, ": has ", size(), " lines, but ", reason, " ", wanted);
  }
  std::string_view text(std::size_t line) const { return trimmed(lines_[line], " \t"); }
  std::vector<std::string_view> fields(std::size_t line) const {
    std::vector<std::string_view> fields;
    for (std::string_view rest = lines_[line];;) {
      const std::size_t comma = rest.find(',');
      fields.push_back(trimmed(rest.substr(0, comma), " \t"));
      if (comma == rest.npos) return fields;
      rest.remove_prefix(comma + 1);
    }
  }
  Index whole_number(std::string_view text, std::size_t line) const {
    Index number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    check<DataError>(error == std::errc() && end == text.data() + text.size(), place(line), ": '", std::string(text),
                     "' is not a whole number");
    return number;
  }

 private:
  std::string path_, content_;
  std::vector<std::string_view> lines_;
  bool is_there_ = false;
};

// The labels and attributes of nodes or edges.
class TuFeatures {
 public:
  TuFeatures(const std::string& prefix, const std::string& part, std::size_t count, data::FeatureColumns& columns)
      : labels_(prefix + "_" + part + "_labels.txt"), attributes_(prefix + "_" + part + "_attributes.txt") {
    labels_.expect(count, "there are " + part + "s:");
    attributes_.expect(count, "there are " + part + "s:");
    number_labels(columns);
    width_ = attributes_.size() > 0 ? attributes_.fields(0).size() : 0;
    for (std::size_t i = 0; i < width_; ++i) columns.numbers.push_back({concatenate("attribute_", i + 1)});
  }

  void append(std::size_t item, std::vector<std::int32_t>& categories, std::vector<float>& numbers) const {
    for (std::size_t i = 0; i < label_columns_; ++i) {
      categories.push_back(codes_[i].find(labels_.fields(item)[i])->second);
    }
    if (width_ == 0) return;
    const std::vector<std::string_view> fields = attributes_.fields(item);
    check<DataError>(fields.size() == width_, attributes_.place(item), ": has ", fields.size(), " attributes, but ",
                     attributes_.path(), ":1 has ", width_);
    for (const std::string_view field : fields) {
      const std::optional<double> number = number_in(field);
      check<DataError>(number.has_value(), attributes_.place(item), ": '", std::string(field),
                       "' is not a finite number");
      numbers.push_back(static_cast<float>(*number));
    }
  }

 private:
  // Kinds are the codes, in the order of their numbers or, of words, of their bytes.
  void number_labels(data::FeatureColumns& columns) {
    if (labels_.size() == 0) return;
    label_columns_ = labels_.fields(0).size();
    codes_.resize(label_columns_);
    for (std::size_t item = 0; item < labels_.size(); ++item) {
      const std::vector<std::string_view> fields = labels_.fields(item);
      check<DataError>(fields.size() == label_columns_, labels_.place(item), ": has ", fields.size(), " labels, but ",
                       labels_.path(), ":1 has ", label_columns_);
      for (std::size_t i = 0; i < fields.size(); ++i) codes_[i].emplace(fields[i], 0);
    }
    for (std::size_t i = 0; i < label_columns_; ++i) {
      std::vector<std::string_view> names;
      for (const auto& [name, number] : codes_[i]) names.push_back(name);
      std::ranges::stable_sort(names, {}, [](std::string_view name) { return number_in(name).value_or(0); });
      data::CategoryColumn column{label_columns_ == 1 ? "label" : concatenate("label_", i + 1), {}};
      for (const std::string_view name : names) {
        column.kinds.emplace_back(name);
        codes_[i][name] = static_cast<std::int32_t>(column.kinds.size());
      }
      columns.categories.push_back(std::move(column));
    }
  }

  TuLines labels_, attributes_;
  std::vector<std::map<std::string_view, std::int32_t>> codes_;
  std::size_t label_columns_ = 0, width_ = 0;
};

std::string tu_prefix(const std::string& folder) {
  std::vector<std::string> prefixes;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string path = entry.path().string();
    if (path.ends_with(edges_ending)) {
      prefixes.push_back(path.substr(0, path.size() - std::string_view(edges_ending).size()));
    }
  }
  check<DataError>(prefixes.size() == 1, folder, ": has ", prefixes.size(),
                   " files that end in _A.txt; a collection of graphs is a folder with one");
  return prefixes.front();
}

// Reads a collection: which graph each node belongs to, then features, edges and labels.
class TuReader {
 public:
  explicit TuReader(const std::string& prefix)
      : prefix_(prefix), indicator_(prefix + "_graph_indicator.txt"), edges_(prefix + edges_ending) {}

  data::GraphsInMemory read() {
    place_nodes();
    const TuFeatures nodes(prefix_, "node", owners_.size(), schema_.nodes);
    for (std::size_t node = 0; node < owners_.size(); ++node) {
      data::Features& features = records_[owners_[node]].graph.node_features;
      nodes.append(node, features.categories, features.numbers);
    }
    read_edges();
    read_targets();
    for (std::size_t i = 0; i < records_.size(); ++i) records_[i].id = std::to_string(i + 1);
    return {schema_, targets_, std::move(records_), prefix_};
  }

 private:
  // Nodes of a graph need not follow one another.
  void place_nodes() {
    check<DataError>(indicator_.is_there(), indicator_.path(),
                     ": is missing; it says which graph each node belongs to");
    check<DataError>(indicator_.size() > 0, indicator_.path(), ": is empty: there are no nodes");
    for (std::size_t node = 0; node < indicator_.size(); ++node) {
      const Index graph = indicator_.whole_number(indicator_.text(node), node);
      const auto most = static_cast<Index>(indicator_.size());
      check<DataError>(graph >= 1 && graph <= most, indicator_.place(node), ": graph ", graph,
                       " is not one of 1 to the number of nodes, ", most);
      if (static_cast<std::size_t>(graph) > records_.size()) records_.resize(static_cast<std::size_t>(graph));
      owners_.push_back(static_cast<std::size_t>(graph) - 1);
      numbers_.push_back(records_[owners_.back()].graph.nodes++);
    }
    for (std::size_t i = 0; i < records_.size(); ++i) {
      check<DataError>(records_[i].graph.nodes > 0, indicator_.path(), ": graph ", i + 1,
                       " has no nodes, but there is ", "a graph ", records_.size());
    }
  }

  std::size_t node_in(std::string_view field, std::size_t line) const {
    const Index node = edges_.whole_number(field, line);
    check<DataError>(node >= 1 && node <= static_cast<Index>(owners_.size()), edges_.place(line),
                     ": the edge is dangling: there is no node ", node, ", only 1 to ", owners_.size());
    return static_cast<std::size_t>(node) - 1;
  }

  void read_edges() {
    const TuFeatures features(prefix_, "edge", edges_.size(), schema_.edges);
    std::vector<std::vector<data::ListedEdge>> lists(records_.size());
    for (std::size_t line = 0; line < edges_.size(); ++line) {
      const std::vector<std::string_view> fields = edges_.fields(line);
      check<DataError>(fields.size() == 2, edges_.place(line), ": is not two nodes, ROW, COLUMN");
      const std::size_t source = node_in(fields[0], line), target = node_in(fields[1], line);
      check<DataError>(owners_[source] == owners_[target], edges_.place(line), ": the edge joins graph ",
                       owners_[source] + 1, " with graph ", owners_[target] + 1);
      data::ListedEdge edge{numbers_[source], numbers_[target]};
      features.append(line, edge.categories, edge.numbers);
      lists[owners_[source]].push_back(std::move(edge));
    }
    schema_.is_directed = !std::ranges::all_of(lists, [](const auto& list) { return goes_both_ways(list); });
    for (std::size_t i = 0; i < records_.size(); ++i) data::set_edges(records_[i].graph, lists[i]);
  }

  void read_targets() {
    const TuLines labels(prefix_ + "_graph_labels.txt"), attributes(prefix_ + "_graph_attributes.txt");
    labels.expect(records_.size(), "the number of graphs is");
    attributes.expect(records_.size(), "the number of graphs is");
    if (labels.is_there()) add_labels(labels);
    if (attributes.is_there()) add_attributes(attributes);
  }

  void add_labels(const TuLines& labels) {
    const std::size_t width = labels.fields(0).size();
    std::vector<std::map<std::string_view, double>> codes(width);
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const auto fields = labels.fields(i);
      check<DataError>(fields.size() == width, labels.place(i), ": has ", fields.size(), " labels, but ", labels.path(),
                       ":1 has ", width);
      for (std::size_t c = 0; c < width; ++c) {
        check<DataError>(!fields[c].empty(), labels.place(i), ": the label is empty");
        codes[c].emplace(fields[c], 0);
      }
    }
    for (std::size_t c = 0; c < width; ++c) {
      data::TargetColumn column{width == 1 ? "label" : concatenate("label_", c + 1), {}};
      for (auto& [name, number] : codes[c]) {
        number = static_cast<double>(column.classes.size());
        column.classes.emplace_back(name);
      }
      targets_.columns.push_back(std::move(column));
    }
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const auto fields = labels.fields(i);
      for (std::size_t c = 0; c < width; ++c) records_[i].targets.push_back(codes[c].find(fields[c])->second);
    }
  }

  void add_attributes(const TuLines& attributes) {
    const std::size_t width = attributes.fields(0).size();
    for (std::size_t i = 0; i < width; ++i) {
      targets_.columns.push_back({width == 1 ? "value" : concatenate("value_", i + 1), {}});
    }
    for (std::size_t i = 0; i < records_.size(); ++i) {
      const auto fields = attributes.fields(i);
      check<DataError>(fields.size() == width, attributes.place(i), ": has ", fields.size(), " attributes, but ",
                       attributes.path(), ":1 has ", width);
      for (const std::string_view field : fields) {
        const std::optional<double> number = number_in(field);
        check<DataError>(number.has_value(), attributes.place(i), ": '", std::string(field),
                         "' is not a finite number");
        records_[i].targets.push_back(*number);
      }
    }
  }

  std::string prefix_;
  TuLines indicator_, edges_;
  data::GraphSchema schema_;
  data::GraphTargets targets_;
  std::vector<data::GraphRecord> records_;
  std::vector<std::size_t> owners_;  // the graph of each node, from 0
  std::vector<Index> numbers_;       // number of each node in its graph
};

}  // namespace

bool is_tu_folder(const std::string& folder) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    if (entry.path().string().ends_with(edges_ending)) return true;
  }
  return false;
}

std::vector<std::string> tu_files(const std::string& folder) {
  const std::string prefix = tu_prefix(folder);
  std::vector<std::string> files;
  for (const char* name : {"A", "graph_indicator", "graph_labels", "graph_attributes", "node_labels", "node_attributes",
                           "edge_labels", "edge_attributes"}) {
    const std::string path = concatenate(prefix, "_", name, ".txt");
    if (std::filesystem::exists(path)) files.push_back(path);
  }
  return files;
}

data::GraphsInMemory read_tu_folder(const std::string& folder) {
  return TuReader(tu_prefix(folder)).read();
}

}  // namespace heddle::formats

#include "tools/convert/graph_split.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "libcore/data/folds.hpp"
#include "libcore/data/graph_parts.hpp"
#include "libcore/data/held_out.hpp"

namespace heddle {

namespace {

constexpr const char* no_class_advice = ": the labels are no single class; --split random does not need one";

bool has_classes(const data::GraphTargets& targets) {
  return targets.columns.size() == 1 && !targets.columns.front().classes.empty();
}

// By class, where the graphs have one, or at random. A graph whose class is not known counts as one of another class.
std::vector<data::Unit> units_of_graphs(const formats::GraphsFile& file, bool by_class) {
  std::vector<data::Unit> units;
  std::map<std::uint64_t, Index> labels;
  for (Index i = 0; i < file.size(); ++i) {
    const data::GraphRecord record = file.record(i);
    const bool is_known = by_class && !std::isnan(record.targets.front());
    const Index label = is_known ? static_cast<Index>(record.targets.front()) + 1 : 0;
    units.push_back({.key = data::key_of(record), .label = label});
    const auto [known, is_new] = labels.emplace(units.back().key, label);
    known->second = std::min(known->second, label);
  }
  for (data::Unit& unit : units) unit.label = labels[unit.key];
  return units;
}

void check_rare_graphs(const std::vector<data::Unit>& units, const data::TargetColumn& column,
                       const SplitOptions& options, const std::string& name, const char* items) {
  const auto parts =
      static_cast<std::size_t>(std::ranges::count_if(options.shares.sizes, [](Index share) { return share > 0; }));
  std::map<Index, std::set<std::uint64_t>> keys;
  for (const data::Unit& unit : units) keys[unit.label].insert(unit.key);
  std::vector<std::string> rare;
  for (const auto& [label, different] : keys) {
    if (label == 0 || different.size() >= parts) continue;
    rare.push_back(concatenate("'", column.classes[static_cast<std::size_t>(label) - 1], "' (", different.size(), ")"));
  }
  check<DataError>(rare.empty() || options.rare == RareClasses::train, name, ": ",
                   counted(static_cast<Index>(rare.size()), "class has", "classes have"), " fewer different ", items,
                   " than the ", parts, " parts: ", join_first(rare, 5), rare_advice);
}

std::vector<Index> scaffold_parts(const formats::GraphsFile& file, const std::vector<Index>& shares,
                                  const std::string& name) {
  check<DataError>(file.has_groups(), name, ": the graphs have no scaffolds; those of molecules with rings do, that ",
                   "convert --smiles makes");
  std::map<std::string, std::vector<Index>> groups;
  for (Index i = 0; i < file.size(); ++i) groups[file.group(i)].push_back(i);
  std::vector<const std::vector<Index>*> order;
  for (const auto& [scaffold, members] : groups) order.push_back(&members);
  std::ranges::sort(order, [](const auto* a, const auto* b) {
    return std::pair(a->size(), a->front()) > std::pair(b->size(), b->front());
  });
  const auto total = static_cast<double>(std::accumulate(shares.begin(), shares.end(), Index{0}));
  const auto all = static_cast<double>(file.size());
  const double train = all * static_cast<double>(shares[0]) / total,
               train_and_valid = all * static_cast<double>(shares[0] + shares[1]) / total;
  std::vector<Index> parts(static_cast<std::size_t>(file.size()));
  double in_train = 0, in_valid = 0;
  for (const std::vector<Index>* members : order) {
    const auto size = static_cast<double>(members->size());
    Index part = 0;
    if (in_train + size <= train) {
      in_train += size;
    } else if (in_train + in_valid + size <= train_and_valid || shares[2] == 0) {
      part = 1;
      in_valid += size;
    } else {
      part = 2;
    }
    for (const Index member : *members) parts[static_cast<std::size_t>(member)] = part;
  }
  return parts;
}

void check_graph_parts(const std::vector<Index>& parts, const std::vector<Index>& shares, const std::string& name,
                       const std::string& items) {
  for (std::size_t part = 0; part < shares.size(); ++part) {
    const bool is_empty = std::ranges::count(parts, static_cast<Index>(part)) == 0;
    check<DataError>(shares[part] == 0 || !is_empty, name, ": ", grouped(static_cast<Index>(parts.size())), " ", items,
                     " are too few, or too many are alike, for so many parts: ", part_names[part], " is empty");
  }
}

// The nodes, edges or pairs that have a label, whose numbers are `places`; copies of one have one key.
std::vector<data::Unit> units_of_items(const formats::GraphsFile& file, bool by_class,
                                       std::vector<std::size_t>& places) {
  const std::vector<data::NodePair> ends = data::ends_of_items(file.graph(0), file.targets().level);
  const std::vector<double> values = file.values(0);
  const std::size_t columns = file.targets().columns.size();
  std::vector<data::Unit> units;
  for (std::size_t item = 0; item < values.size() / columns; ++item) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(item * columns);
    const auto is_known = [](double value) { return !std::isnan(value); };
    if (std::none_of(first, first + static_cast<std::ptrdiff_t>(columns), is_known)) continue;
    const std::uint64_t key = ends.empty() ? item : data::key_of_ends(ends[item], file.schema().is_directed);
    units.push_back({.key = key, .label = by_class ? static_cast<Index>(*first) + 1 : 0});
    places.push_back(item);
  }
  return units;
}

}  // namespace

bool divides_items(const formats::GraphsFile& file) {
  return file.size() == 1 && file.targets().level != data::GraphLevel::graph && !file.targets().columns.empty();
}

std::vector<Index> item_parts(const formats::GraphsFile& file, const SplitOptions& options, Index seed,
                              const std::string& name) {
  const SplitBy by = options.shares.by;
  check<UsageError>(by != SplitBy::labels, "--split labels is for texts, and ", name, " holds graphs");
  const std::string items = to_text(file.targets().level) + "s";
  check<DataError>(by != SplitBy::scaffold, name, ": its ", items, " have no scaffolds; molecules do");
  check<DataError>(by != SplitBy::classes || has_classes(file.targets()), name, no_class_advice);
  const bool by_class = by != SplitBy::random && has_classes(file.targets());
  std::vector<std::size_t> places;
  const std::vector<data::Unit> units = units_of_items(file, by_class, places);
  if (by_class) check_rare_graphs(units, file.targets().columns.front(), options, name, items.c_str());
  const std::vector<Index> known = data::grouped_parts(units, options.shares.sizes, static_cast<std::uint64_t>(seed));
  check_graph_parts(known, options.shares.sizes, name, "labelled " + items);
  std::vector<Index> parts(file.values(0).size() / file.targets().columns.size(), -1);
  for (std::size_t i = 0; i < places.size(); ++i) parts[places[i]] = known[i];
  return parts;
}

std::vector<Index> graph_parts(const formats::GraphsFile& file, const SplitOptions& options, Index seed,
                               const std::string& name) {
  const std::vector<Index>& shares = options.shares.sizes;
  const SplitBy by = options.shares.by;
  check<UsageError>(by != SplitBy::labels, "--split labels is for texts, and ", name, " holds graphs");
  const bool has_class = has_classes(file.targets()) && file.targets().level == data::GraphLevel::graph;
  check<DataError>(file.size() > 1, name,
                   ": is one graph without labels of nodes, edges or pairs; there is nothing to split");
  check<DataError>(by != SplitBy::classes || has_class, name, no_class_advice);
  std::vector<Index> parts;
  if (by == SplitBy::scaffold) {
    parts = scaffold_parts(file, shares, name);
  } else {
    const bool by_class = by != SplitBy::random && has_class;
    const std::vector<data::Unit> units = units_of_graphs(file, by_class);
    if (by_class) check_rare_graphs(units, file.targets().columns.front(), options, name, "graphs");
    parts = data::grouped_parts(units, shares, static_cast<std::uint64_t>(seed));
  }
  check_graph_parts(parts, shares, name, "graphs");
  return parts;
}

}  // namespace heddle

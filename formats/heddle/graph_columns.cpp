#include "formats/heddle/graph_columns.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "formats/hdf5/column.hpp"
#include "libcore/base/visit.hpp"

namespace heddle::formats {

namespace {

// The texts of a column as a group of data sets, one for each column of features or targets that has texts.
void write_kinds(hdf5::OutputGroup& group, const char* name, const std::vector<std::vector<std::string>>& lists) {
  for (std::size_t i = 0; i < lists.size(); ++i) {
    if (lists[i].empty()) continue;
    hdf5::OutputGroup kinds = group.group(name);
    write_column(kinds, std::to_string(i), lists[i]);
  }
}

std::vector<std::string> read_kinds(const hdf5::Group& group, const char* name, std::size_t number) {
  if (!group.has(name)) return {};
  const hdf5::Group kinds = group.group(name);
  const std::string part = std::to_string(number);
  return kinds.has(part) ? read_column<std::string>(kinds, part) : std::vector<std::string>();
}

template <class T>
std::vector<T> column_or_none(const hdf5::Group& group, const char* name) {
  return group.has(name) ? read_column<T>(group, name) : std::vector<T>();
}

void write_features(hdf5::OutputGroup group, const data::FeatureColumns& columns) {
  std::vector<std::string> categories, numbers;
  std::vector<std::vector<std::string>> kinds;
  std::vector<double> means, stddevs;
  for (const data::CategoryColumn& column : columns.categories) {
    categories.push_back(column.name);
    kinds.push_back(column.kinds);
  }
  for (const data::NumberColumn& column : columns.numbers) {
    numbers.push_back(column.name);
    means.push_back(column.mean);
    stddevs.push_back(column.stddev);
  }
  if (!categories.empty()) write_column(group, "categories", categories);
  write_kinds(group, "kinds", kinds);
  if (numbers.empty()) return;
  write_column(group, "numbers", numbers);
  write_column(group, "means", means);
  write_column(group, "stddevs", stddevs);
}

data::FeatureColumns read_features(const hdf5::Group& schema, const char* name) {
  data::FeatureColumns columns;
  if (!schema.has(name)) return columns;
  const hdf5::Group group = schema.group(name);
  for (std::string& category : column_or_none<std::string>(group, "categories")) {
    columns.categories.push_back({std::move(category), read_kinds(group, "kinds", columns.categories.size())});
  }
  const auto numbers = column_or_none<std::string>(group, "numbers");
  const auto means = column_or_none<double>(group, "means"), stddevs = column_or_none<double>(group, "stddevs");
  check<DataError>(means.size() == numbers.size() && stddevs.size() == numbers.size(), group.where(), ": has ",
                   numbers.size(), " numbers with ", means.size(), " means and ", stddevs.size(),
                   " standard deviations. The file is damaged");
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    check<DataError>(std::isfinite(means[i]) && std::isfinite(stddevs[i]) && stddevs[i] > 0, group.where(),
                     ": the number '", numbers[i], "' has the mean ", means[i], " and the standard deviation ",
                     stddevs[i], ". The file is damaged");
    columns.numbers.push_back({numbers[i], means[i], stddevs[i]});
  }
  return columns;
}

data::GraphLevel level_of(const hdf5::Group& targets) {
  const auto name = targets.attribute<std::string>("level");
  try {
    return from_text<data::GraphLevel>(name);
  } catch (const UsageError& error) {
    throw DataError(concatenate(targets.where(), ": attribute level: ", error.what()));
  }
}

}  // namespace

void write_schema(const hdf5::OutputGroup& root, const data::GraphSchema& schema) {
  hdf5::OutputGroup group = hdf5::OutputGroup(root).create_group("schema");
  group.set_attribute<bool>("directed", schema.is_directed);
  if (!schema.nodes.empty()) write_features(group.create_group("nodes"), schema.nodes);
  if (!schema.edges.empty()) write_features(group.create_group("edges"), schema.edges);
}

data::GraphSchema read_schema(const hdf5::Group& root) {
  const hdf5::Group group = root.group("schema");
  return {read_features(group, "nodes"), read_features(group, "edges"), group.attribute<bool>("directed")};
}

void write_target_columns(const hdf5::OutputGroup& root, const data::GraphTargets& targets) {
  if (targets.columns.empty()) return;
  hdf5::OutputGroup group = hdf5::OutputGroup(root).group(targets_group);
  group.set_attribute<std::string>("level", to_text(targets.level));
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> classes;
  for (const data::TargetColumn& column : targets.columns) {
    names.push_back(column.name);
    classes.push_back(column.classes);
  }
  write_column(group, "names", names);
  write_kinds(group, "classes", classes);
}

data::GraphTargets read_target_columns(const hdf5::Group& root) {
  data::GraphTargets targets;
  if (!root.has(targets_group)) return targets;
  const hdf5::Group group = root.group(targets_group);
  targets.level = level_of(group);
  for (std::string& name : read_column<std::string>(group, "names")) {
    targets.columns.push_back({std::move(name), read_kinds(group, "classes", targets.columns.size())});
  }
  return targets;
}

}  // namespace heddle::formats

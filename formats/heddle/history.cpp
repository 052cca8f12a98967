#include "formats/heddle/history.hpp"

#include <algorithm>
#include <limits>

#include "formats/hdf5/column.hpp"

namespace heddle::formats {

namespace {

constexpr double no_value = std::numeric_limits<double>::quiet_NaN();

}  // namespace

const std::vector<double>* History::find(std::string_view name) const {
  for (const Column& column : columns_) {
    if (column.name == name) return &column.values;
  }
  return nullptr;
}

History::Column& History::column(std::string_view name) {
  const auto found = std::find_if(columns_.begin(), columns_.end(), [&](const Column& c) { return c.name == name; });
  if (found != columns_.end()) return *found;
  return columns_.emplace_back(
      Column{std::string(name), std::vector<double>(static_cast<std::size_t>(rows_), no_value)});
}

void History::append(const std::vector<std::pair<std::string, double>>& row) {
  for (const auto& [name, value] : row) column(name);
  for (Column& each : columns_) each.values.push_back(no_value);
  for (const auto& [name, value] : row) column(name).values.back() = value;
  ++rows_;
}

void History::add_column(std::string name, std::vector<double> values) {
  const auto length = static_cast<Index>(values.size());
  check<DataError>(columns_.empty() || length == rows_, "history: column ", name, " has ", length, " rows, the others ",
                   rows_);
  rows_ = length;
  columns_.push_back({std::move(name), std::move(values)});
}

void History::truncate(Index rows) {
  rows_ = std::clamp<Index>(rows, 0, rows_);
  for (Column& each : columns_) each.values.resize(static_cast<std::size_t>(rows_));
}

void write_history(hdf5::OutputGroup group, const History& history) {
  for (const History::Column& column : history.columns()) write_column(group, column.name, column.values);
}

History read_history(const hdf5::Group& group) {
  // Each column may be compressed; together they take no more memory than one may.
  double bytes = 0;
  for (const std::string& name : group.names()) {
    const hdf5::Dataset column = group.dataset(name);
    bytes += static_cast<double>(column.size()) * sizeof(double);
    check<DataError>(bytes <= static_cast<double>(memory_limit(column.file())), column.where(),
                     ": with the columns before it has more rows than a file of ", column.file().size,
                     " bytes can contain");
  }
  History history;
  for (const std::string& name : group.names()) history.add_column(name, read_column<double>(group, name));
  return history;
}

}  // namespace heddle::formats

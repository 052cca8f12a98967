// The training history: named columns of numbers of equal length, one row per logged step.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/hdf5/hdf5.hpp"
#include "formats/hdf5/writer.hpp"
#include "libcore/base/real.hpp"

namespace heddle::formats {

class History {
 public:
  struct Column {
    std::string name;  // "step", "tokens", "loss" (nats per token), "learning_rate", "valid_loss", …
    std::vector<double> values;
    bool operator==(const Column&) const = default;
  };

  Index rows() const { return rows_; }
  const std::vector<Column>& columns() const { return columns_; }
  // The values of a column; nullptr when there is no such column.
  const std::vector<double>* find(std::string_view name) const;

  // Adds a row. A column that it does not name gets NaN there; a new name becomes a column, NaN in earlier rows.
  void append(const std::vector<std::pair<std::string, double>>& row);
  // Adds a whole column. Throws DataError when it is not as long as the others.
  void add_column(std::string name, std::vector<double> values);
  // Removes this row and all following ones.
  void truncate(Index rows);

 private:
  Column& column(std::string_view name);
  std::vector<Column> columns_;
  Index rows_ = 0;
};

void write_history(hdf5::OutputGroup group, const History& history);
History read_history(const hdf5::Group& group);

}  // namespace heddle::formats

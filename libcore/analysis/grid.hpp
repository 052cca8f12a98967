// Numbers that are drawn or listed: rows of columns.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "libcore/base/real.hpp"

namespace heddle::analysis {

struct Grid {
  Index rows = 0, columns = 0;
  std::vector<double> values{};  // row by row

  Grid() = default;
  Grid(Index row_count, Index column_count)
      : rows(row_count), columns(column_count), values(static_cast<std::size_t>(row_count * column_count)) {}

  double& at(Index row, Index column) { return values[static_cast<std::size_t>(row * columns + column)]; }
  double at(Index row, Index column) const { return values[static_cast<std::size_t>(row * columns + column)]; }
  // The largest absolute value of those that are finite; 0 where there is none.
  double largest() const {
    double most = 0;
    for (const double value : values) {
      if (std::isfinite(value)) most = std::max(most, std::abs(value));
    }
    return most;
  }
};

}  // namespace heddle::analysis

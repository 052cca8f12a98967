// Attention weights as text.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "heddle/tensor/tensor.hpp"
#include "tools/inspect/attention_report.hpp"

namespace heddle {

// A row for each row of weights [rows, columns]: its label, its shades, then the column with the largest weight.
void write_shades(std::ostream& out, const Tensor& weights, const std::vector<std::string>& rows,
                  const std::vector<std::string>& columns);

// Where each head of each layer attends to, then the `top` largest weights of all.
void write_patterns(std::ostream& out, const AttentionReport& report, Index top);

}  // namespace heddle

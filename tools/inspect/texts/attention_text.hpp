// Attention weights as text.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "libcore/tensor/tensor.hpp"
#include "tools/inspect/texts/attention_report.hpp"

namespace heddle {

// Substitute that write_shades() writes for rows that are wider than the terminal, or than 200 columns where there is
// none.
struct WithoutShades {
  std::string files;            // endings of files that have all weights, as in ".png or .tsv"
  Index top = 10;               // how many of the largest weights to write
  bool causal = false;          // the first row has no choice, so its weight is left out
  analysis::HidesPair hides{};  // pairs that the links omit
};

// A row for each row of weights [rows, columns]: its label, its shades, then the column with the largest weight, or ?
// in a row with weights that are not finite.
void write_shades(std::ostream& out, const Tensor& weights, const std::vector<std::string>& rows,
                  const std::vector<std::string>& columns, const WithoutShades& otherwise);

// How many links of each head show the `top` strongest: in causal attention the first query has no choice, so its link,
// which is among the strongest, is left out.
constexpr Index links_for(Index top) {
  return top + 1;
}

// Attention pattern of each head of each layer, then the `top` largest weights of all. Requires a report with summaries
// of links_for(top) links.
void write_patterns(std::ostream& out, const AttentionReport& report, Index top);

}  // namespace heddle

// The rows of the report: what is compared with what, and what is asked of it.
#pragma once

#include <string>
#include <vector>

namespace heddle::benchmark {

enum class Better { more, less };

// Measurements are named "CONTESTANT: QUANTITY", with the contestant as `run` records it; "= 950" is the figure itself.
struct Row {
  std::string section, what, unit;
  std::string ours;
  std::vector<std::string> peers;  // the best of those that were measured counts
  double target = 0;               // least advantage over it; 0 where none is asked
  Better better = Better::more;
};

std::vector<Row> report_rows();

}  // namespace heddle::benchmark

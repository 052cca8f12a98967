#include "libcore/ops/cell.hpp"

#include "libcore/base/error.hpp"
#include "libcore/base/strings.hpp"

namespace heddle::ops {

#define HEDDLE_CELL(name, summary) Cell describe_##name##_cell();
#include "libcore/ops/cells.def"
#undef HEDDLE_CELL

namespace {

Cell named(Cell cell, const char* name, const char* summary) {
  cell.name = name;
  cell.summary = summary;
  return cell;
}

}  // namespace

const std::vector<Cell>& cells() {
  static const std::vector<Cell> list = {
#define HEDDLE_CELL(name, summary) named(describe_##name##_cell(), #name, summary),
#include "libcore/ops/cells.def"
#undef HEDDLE_CELL
  };
  return list;
}

std::vector<std::string> cell_names() {
  std::vector<std::string> names;
  for (const Cell& entry : cells()) names.emplace_back(entry.name);
  return names;
}

const Cell& cell(const std::string& name) {
  for (const Cell& entry : cells()) {
    if (entry.name == name) return entry;
  }
  const std::string near = nearest(name, cell_names());
  throw UsageError(concatenate("cell '", name, "' is not one of ", join(cell_names()),
                               near.empty() ? "" : "; did you mean '" + near + "'?"));
}

}  // namespace heddle::ops

// The tables of numbers that inspect positions and inspect kernels show: printed, or written to a .tsv or .h5 file, or
// as JSON.
#pragma once

#include <string>
#include <vector>

#include "formats/archives/json_archive.hpp"
#include "libcore/analysis/grid.hpp"
#include "tools/cli/arguments.hpp"
#include "tools/drawing/panels.hpp"

namespace heddle {

struct ShapeTable {
  std::string name;   // "heatmap", "angle-score"
  std::string title;  // what its numbers are
  PanelAxis rows, columns;
  analysis::Grid values;
  bool may_be_infinite = false;  // a logarithm of 0, the positions per turn of what does not turn
};

// The elements of a list of variants that the option has split at all commas: one that is a setting, with = and no
// colon before it, belongs to the element before it.
std::vector<std::string> with_their_settings(const std::vector<std::string>& elements);

// How the numbers of a table are printed.
enum class TableForm {
  shades,   // a character for each number, from " " for the lowest to "█" for the highest
  columns,  // numbers, a row of the table a line
};
// At most 100 columns wide; where there are too many rows or columns, only some, and the heading says so.
std::string table_text(const ShapeTable& table, TableForm form);

// Adds {"title", "row_axis", "rows", "column_axis", "columns", "values"} under the table's name, with underscores; null
// for numbers that are not finite.
void add_to(formats::Json& json, const ShapeTable& table);

// Throws UsageError unless the path is "" or ends in .svg, .png, .pdf, .tsv or .h5, and where --json is given with it.
void check_shape_output(const std::string& path, bool json);

// Warns of the tables that have numbers which are not finite, and returns the exit status: 0 if there are none.
int warn_of_not_finite(const std::vector<ShapeTable>& tables, const cli::Arguments& arguments);

// Throws UsageError for a table with more cells than a picture can have; remedy: what gives fewer of them.
void check_drawable(const ShapeTable& table, const std::string& remedy);

// The first cell names the axes, the first line has the columns, and the others the rows. Throws UsageError unless
// there is one table.
void write_shape_table(const std::string& path, const std::vector<ShapeTable>& tables);

// The inputs are (kind, path).
void write_shape_file(const std::string& path, const std::vector<ShapeTable>& tables, const cli::Arguments& arguments,
                      const std::string& model);

}  // namespace heddle

// The tables of numbers that inspect positions and inspect kernels show.
#pragma once

#include <string>
#include <vector>

#include "formats/archives/json_archive.hpp"
#include "libcore/analysis/grid.hpp"
#include "tools/cli/arguments.hpp"
#include "tools/drawing/panels.hpp"
#include "tools/inspect/answer.hpp"

namespace heddle {

struct ShapeTable {
  std::string name;   // "heatmap", "angle-score"
  std::string title;  // meaning of its numbers
  PanelAxis rows, columns;
  analysis::Grid values;
  bool may_be_infinite = false;  // a logarithm of 0, the positions per turn of what does not turn
};

// The elements of a list of variants that the option has split at all commas: one that is a setting, with = and no
// colon before it, belongs to the element before it.
std::vector<std::string> with_their_settings(const std::vector<std::string>& elements);

// Format of a table's numbers.
enum class TableForm {
  shades,   // a character for each number, from " " for the lowest to "█" for the highest
  columns,  // numbers, a row of the table a line
};
// At most 100 columns wide; where there are too many rows or columns, only some, and the heading says so.
std::string table_text(const ShapeTable& table, TableForm form);

// Rows and columns exchanged.
ShapeTable turned(const ShapeTable& table);

// The endings of files that tables can be written to.
inline const std::vector<std::string> table_files{".svg", ".png", ".pdf", ".tsv", ".h5"};

// Text around tables.
struct ShapeAnswer {
  std::vector<std::string> heading;
  formats::Json about;  // the first members of the JSON object
  std::string remedy;   // advice for making a table small enough for a picture
};

// The tables of a subject, each with how it is drawn and printed.
class Shapes {
 public:
  virtual ~Shapes() = default;

  // Prints the tables, as JSON too, or writes them to a file: a picture, a .tsv file, whose first cell names the
  // axes, first line has the columns and other lines the rows, or a .h5 file. In JSON each has {"title", "row_axis",
  // "rows", "column_axis", "columns", "values"} under its name, with underscores; null for numbers that are not finite.
  // Warns of tables with such numbers, and returns the exit status: 0 if there are none. Throws UsageError for a table
  // with more cells than a picture can have, and for several tables in a .tsv file.
  int show(const Answer& to, const ShapeAnswer& answer, const cli::Arguments& arguments) const;

 protected:
  std::vector<ShapeTable> tables_;

 private:
  virtual void draw(const ShapeTable& table, Panels& panels) const = 0;
  virtual std::string text_of(const ShapeTable& table) const = 0;
};

}  // namespace heddle

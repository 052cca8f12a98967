#include "tools/inspect/shapes/shape_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>

#include "formats/heddle/shapes_file.hpp"
#include "libcore/base/printable.hpp"
#include "libcore/base/strings.hpp"
#include "tools/cli/streams.hpp"
#include "tools/cli/text_table.hpp"
#include "tools/inspect/json_answer.hpp"
#include "tools/lines/escaped.hpp"

namespace heddle {

namespace {

constexpr Index most_shade_columns = 80, most_shade_rows = 25, most_text_columns = 8, most_text_rows = 25;
constexpr Index most_cells = 250000;

// Its name as keys and groups have it.
std::string key_of(const ShapeTable& table) {
  std::string key = table.name;
  std::ranges::replace(key, '-', '_');
  return key;
}

std::string label(const PanelAxis& axis, Index i) {
  const auto at = static_cast<std::size_t>(i);
  return axis.names.empty() ? fmt::format("{:.6g}", axis.numbers[at]) : axis.names[at];
}

// "25 of 50 rows, 80 of 128 columns", a line; none where it is all
std::string chosen_text(const ShapeTable& table, std::size_t rows, std::size_t columns) {
  std::vector<std::string> parts;
  const auto say = [&](std::size_t chosen, Index all, const char* noun) {
    if (static_cast<Index>(chosen) < all) parts.push_back(fmt::format("{} of {} {}", chosen, all, noun));
  };
  say(rows, table.values.rows, "rows");
  say(columns, table.values.columns, "columns");
  return parts.empty() ? "" : join(parts, ", ") + "\n";
}

std::string shades_text(const ShapeTable& table) {
  static constexpr const char* shades[] = {" ", "░", "▒", "▓", "█"};
  const std::vector<Index> rows = some_of(table.values.rows, most_shade_rows),
                           columns = some_of(table.values.columns, most_shade_columns);
  double low = 0, high = 0;
  for (const double value : table.values.values) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  const double range = high > low ? high - low : 1;
  std::size_t longest = 0;
  for (const Index row : rows) longest = std::max(longest, label(table.rows, row).size());
  std::string text = fmt::format("{}\n{}{} down, {} across from {} to {}; ' ' is {:.4g}, '█' is {:.4g}\n", table.title,
                                 chosen_text(table, rows.size(), columns.size()), table.rows.name, table.columns.name,
                                 label(table.columns, 0), label(table.columns, table.values.columns - 1), low, high);
  for (const Index row : rows) {
    const std::string name = label(table.rows, row);
    text += std::string(longest - name.size(), ' ') + name + " |";
    for (const Index column : columns) {
      const double value = table.values.at(row, column);
      text += std::isfinite(value) ? shades[std::min<Index>(4, static_cast<Index>(5 * (value - low) / range))] : "?";
    }
    text += "|\n";
  }
  return text;
}

// The sign of NaN, which fmt prints, means nothing.
std::string number_text(double value, int digits) {
  return std::isnan(value) ? "nan" : fmt::format("{:.{}g}", value, digits);
}

std::string columns_text(const ShapeTable& table) {
  const std::vector<Index> rows = some_of(table.values.rows, most_text_rows),
                           columns = some_of(table.values.columns, most_text_columns);
  std::vector<std::vector<std::string>> cells{{table.rows.name}};
  for (const Index column : columns) cells.front().push_back(label(table.columns, column));
  for (const Index row : rows) {
    cells.push_back({label(table.rows, row)});
    for (const Index column : columns) cells.back().push_back(number_text(table.values.at(row, column), 5));
  }
  return table.title + "\n" + chosen_text(table, rows.size(), columns.size()) +
         text_table(cells, std::string(columns.size() + 1, 'r'));
}

formats::Json labels_json(const PanelAxis& axis) {
  return axis.names.empty() ? formats::Json(axis.numbers) : formats::Json(axis.names);
}

formats::ShapeLabels labels_of(const PanelAxis& axis) {
  if (!axis.names.empty()) return {{}, axis.names};
  return {std::vector<Real>(axis.numbers.begin(), axis.numbers.end()), {}};
}

void add_to(formats::Json& json, const ShapeTable& table) {
  formats::Json values = formats::Json::array();
  for (Index row = 0; row < table.values.rows; ++row) {
    formats::Json numbers = formats::Json::array();
    for (Index column = 0; column < table.values.columns; ++column) {
      const double value = table.values.at(row, column);
      numbers.push_back(std::isfinite(value) ? formats::Json(value) : formats::Json());
    }
    values.push_back(std::move(numbers));
  }
  json[key_of(table)] = {{"title", table.title},
                         {"row_axis", table.rows.name},
                         {"rows", labels_json(table.rows)},
                         {"column_axis", table.columns.name},
                         {"columns", labels_json(table.columns)},
                         {"values", std::move(values)}};
}

int warn_of_not_finite(const std::vector<ShapeTable>& tables, const cli::Arguments& arguments) {
  std::vector<std::string> names;
  for (const ShapeTable& table : tables) {
    const auto is_fault = [&](double value) {
      return table.may_be_infinite ? std::isnan(value) : !std::isfinite(value);
    };
    if (std::ranges::any_of(table.values.values, is_fault)) names.push_back(table.name);
  }
  if (names.empty()) return 0;
  const std::string path = arguments.operand("MODEL");
  const std::string problem = (path.empty() ? "" : path + ": ") + "some numbers of " + join(names, " and ") +
                              " are not finite" + (path.empty() ? "" : "; train it again");
  arguments.warn(problem);
  return NumericError(problem).exit_status();
}

void check_drawable(const ShapeTable& table, const std::string& remedy) {
  const Index cells = table.values.rows * table.values.columns;
  check<UsageError>(cells <= most_cells, table.name, " has ", grouped(cells), " cells, and a picture at most ",
                    grouped(most_cells), "; ", remedy, ", or write a .tsv or .h5 file");
}

void write_shape_table(const std::string& path, const std::vector<ShapeTable>& tables) {
  std::vector<std::string> names;
  for (const ShapeTable& table : tables) names.push_back(table.name);
  check<UsageError>(tables.size() == 1, path, ": a .tsv file has one table, and these are ", names.size(),
                    "; choose one of them with --what: ", join(names));
  const ShapeTable& table = tables.front();
  cli::Output output(path);
  output.stream() << escaped_field(table.rows.name);
  for (Index column = 0; column < table.values.columns; ++column) {
    output.stream() << '\t' << escaped_field(label(table.columns, column));
  }
  output.stream() << '\n';
  for (Index row = 0; row < table.values.rows; ++row) {
    output.stream() << escaped_field(label(table.rows, row));
    for (Index column = 0; column < table.values.columns; ++column) {
      output.stream() << '\t' << number_text(table.values.at(row, column), 9);
    }
    output.stream() << '\n';
  }
  output.close();
}

void write_shape_file(const std::string& path, const std::vector<ShapeTable>& tables, const cli::Arguments& arguments) {
  std::vector<formats::ShapeData> shapes;
  for (const ShapeTable& table : tables) {
    const std::vector<Real> numbers(table.values.values.begin(), table.values.values.end());
    shapes.push_back({key_of(table), Tensor({table.values.rows, table.values.columns}, numbers), labels_of(table.rows),
                      labels_of(table.columns)});
  }
  formats::Provenance provenance = formats::start_provenance(arguments.command_line());
  if (const std::string model = arguments.operand("MODEL"); !model.empty())
    formats::add_input(provenance, "model", model);
  formats::write_shapes(path, shapes, provenance);
}

}  // namespace

std::vector<std::string> with_their_settings(const std::vector<std::string>& elements) {
  std::vector<std::string> variants;
  for (const std::string& element : elements) {
    const bool is_setting = element.find('=') < element.find(':');
    if (is_setting && !variants.empty()) {
      variants.back() += "," + element;
    } else {
      variants.push_back(element);
    }
  }
  return variants;
}

std::string table_text(const ShapeTable& table, TableForm form) {
  return form == TableForm::shades ? shades_text(table) : columns_text(table);
}

ShapeTable turned(const ShapeTable& table) {
  ShapeTable result{table.name, table.title, table.columns, table.rows,
                    analysis::Grid(table.values.columns, table.values.rows)};
  for (Index row = 0; row < table.values.rows; ++row) {
    for (Index column = 0; column < table.values.columns; ++column) {
      result.values.at(column, row) = table.values.at(row, column);
    }
  }
  return result;
}

int Shapes::show(const Answer& to, const ShapeAnswer& answer, const cli::Arguments& arguments) const {
  const std::string& path = to.output;
  if (to.json) {
    formats::Json object = answer.about;
    for (const ShapeTable& table : tables_) add_to(object, table);
    std::cout << dump(object);
  } else if (path.empty()) {
    std::string text = join(answer.heading, "\n") + "\n";
    for (const ShapeTable& table : tables_) text += "\n" + text_of(table);
    std::cout << printable_lines(text);
  } else if (path.ends_with(".tsv")) {
    write_shape_table(path, tables_);
  } else if (path.ends_with(".h5")) {
    write_shape_file(path, tables_, arguments);
  } else {
    Panels panels;
    for (const ShapeTable& table : tables_) {
      check_drawable(table, answer.remedy);
      draw(table, panels);
    }
    save_panels(path, answer.heading, panels);
  }
  return warn_of_not_finite(tables_, arguments);
}

}  // namespace heddle

#include "tools/training/named_problems.hpp"

#include <cmath>

#include "formats/graphs/label_values.hpp"
#include "formats/labelled/named_table.hpp"
#include "libcore/base/strings.hpp"

namespace heddle {

namespace {

// The columns of a table in which every row has a number, standardised.
data::ProblemTable read_numbers(const std::string& path, const cli::Arguments& arguments) {
  cli::Input input = arguments.open_text(path);
  const std::string content = cli::read_all(input);
  const formats::NamedTable table(path, content);
  std::vector<std::vector<double>> columns(table.columns().size());
  std::vector<bool> are_numbers(columns.size(), true);
  formats::BadRecords bad(path, formats::BadRecordRule::error);
  table.for_each_row(bad, [&](const std::vector<std::string>& fields, Index line) {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const std::optional<double> number = formats::number_in(fields[i]);
      if (columns[i].empty()) are_numbers[i] = number.has_value();
      check<DataError>(!are_numbers[i] || number, path, ":", line, ": '", fields[i], "' in the column '",
                       table.columns()[i], "', which has numbers, is not a number");
      columns[i].push_back(number.value_or(0));
    }
  });
  bad.check();
  std::vector<std::string> names = table.columns();
  for (std::size_t i = columns.size(); i-- > 0;) {
    if (are_numbers[i]) continue;
    columns.erase(columns.begin() + static_cast<std::ptrdiff_t>(i));
    names.erase(names.begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (!names.empty())
    arguments.say(concatenate(path, ": the column '", names.back(), "' is learned from ",
                              counted(static_cast<long long>(names.size()) - 1, "other", "others")));
  const std::size_t rows = columns.empty() ? 0 : columns.front().size();
  data::ProblemTable numbers{path, static_cast<Index>(columns.size()), std::vector<float>(rows * columns.size())};
  for (std::size_t c = 0; c < columns.size(); ++c) {
    double mean = 0, squares = 0;
    for (const double x : columns[c]) mean += x / static_cast<double>(rows);
    for (const double x : columns[c]) squares += (x - mean) * (x - mean) / static_cast<double>(rows);
    const double deviation = squares > 0 ? std::sqrt(squares) : 1;
    for (std::size_t r = 0; r < rows; ++r) {
      numbers.values[r * columns.size() + c] = static_cast<float>((columns[c][r] - mean) / deviation);
    }
  }
  return numbers;
}

}  // namespace

std::string name_of_family(const data::ProblemChoice& family) {
  std::vector<std::string> settings;
  for (const FieldText& own : family.settings()) settings.push_back(own.field.option() + "=" + own.text);
  return family.name() + (settings.empty() ? "" : ":" + join(settings, ","));
}

NamedProblems named_problems(const cli::KindChoice<data::ProblemFamily>& tasks, const cli::Arguments& arguments) {
  const data::ProblemChoice family = tasks.resolved(data::ProblemChoice(), "tasks");
  family.check();
  NamedProblems named{.source = nullptr, .table_file = family->table_file()};
  std::shared_ptr<const data::ProblemTable> table;
  if (!named.table_file.empty()) {
    table = std::make_shared<const data::ProblemTable>(read_numbers(named.table_file, arguments));
  }
  named.source = family->make(name_of_family(family), std::move(table));
  check<UsageError>(named.source != nullptr, "--tasks ", family.name(), ": has no functions to minimise");
  return named;
}

}  // namespace heddle

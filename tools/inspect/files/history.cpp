// inspect history: the training history of one or several runs, side by side.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "formats/archives/text_archive.hpp"
#include "libcore/base/printable.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/base/values.hpp"
#include "tools/cli/protect_inputs.hpp"
#include "tools/cli/streams.hpp"
#include "tools/cli/text_table.hpp"
#include "tools/cli/version.hpp"
#include "tools/drawing/pages/page.hpp"
#include "tools/drawing/picture.hpp"
#include "tools/inspect/files/loss_curves.hpp"
#include "tools/inspect/files/run_settings.hpp"
#include "tools/inspect/files/summary.hpp"
#include "tools/inspect/json_answer.hpp"
#include "tools/inspect/page_parts.hpp"
#include "tools/inspect/verbs.hpp"
#include "tools/lines/escaped.hpp"

namespace heddle {

namespace {

using formats::History;

constexpr Index most_page_points = 2000;  // points of a curve

struct HistoryOptions {
  std::string output;
  bool json = false, jsonl = false;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("output",
                  "draw the losses into an .svg, .png or .pdf, or write all columns into a page .html or a table .tsv")
                .letter('o')
                .takes("FILE")
                .essential(),
            self.output);
    visitor(Field("json", "print one JSON object").essential(), self.json);
    visitor(Field("jsonl", "print one JSON object per file, one per line").essential(), self.jsonl);
  }
};

struct NamedHistory {
  std::string name;
  History history;
  std::string command;  // that made it; "" where it is not known
};

std::vector<NamedHistory> read_histories(const std::vector<std::string>& paths) {
  std::vector<NamedHistory> histories;
  for (const std::string& path : paths) {
    const Summary summary = summarize_file(path, {.history = true});
    check<DataError>(!loss_curves(*summary.history).empty(), path, ": its history has no losses");
    const Summary made = summarize_file(path, {});
    histories.push_back({path, *summary.history, made.provenance ? made.provenance->own.command_line : ""});
  }
  return histories;
}

RunSettings settings_of(const std::vector<NamedHistory>& histories) {
  std::vector<std::string> names, commands;
  for (const NamedHistory& each : histories) {
    names.push_back(each.name);
    commands.push_back(each.command);
  }
  return run_settings(names, commands);
}

std::vector<Run> runs_of(const std::vector<NamedHistory>& histories) {
  const RunSettings settings = settings_of(histories);
  std::vector<Run> runs;
  for (std::size_t i = 0; i < histories.size(); ++i) {
    const std::size_t setting = settings.settings[i];
    runs.push_back({histories[i].name, loss_curves(histories[i].history), setting, settings.names[setting]});
  }
  return runs;
}

// The columns of all histories, in the order in which they first occur.
std::vector<std::string> all_columns(const std::vector<NamedHistory>& histories) {
  std::vector<std::string> names;
  for (const NamedHistory& each : histories) {
    for (const History::Column& column : each.history.columns()) {
      if (std::ranges::find(names, column.name) == names.end()) names.push_back(column.name);
    }
  }
  return names;
}

void write_tsv(const std::vector<NamedHistory>& histories, const std::string& path) {
  cli::Output output(path);
  std::ostream& out = output.stream();
  const std::vector<std::string> names = all_columns(histories);
  const RunSettings settings = settings_of(histories);
  out << "run";
  for (const std::string& name : names) out << '\t' << escaped_field(name);
  for (const std::string& option : settings.options) out << '\t' << escaped_field("--" + option);
  out << '\n';
  for (std::size_t run = 0; run < histories.size(); ++run) {
    const History& history = histories[run].history;
    std::string end = "\n";
    for (std::size_t i = settings.values[run].size(); i-- > 0;)
      end = "\t" + escaped_field(settings.values[run][i]) + end;
    for (std::size_t row = 0; row < static_cast<std::size_t>(history.rows()); ++row) {
      out << escaped_field(histories[run].name);
      for (const std::string& name : names) {
        const std::vector<double>* const column = history.find(name);
        const bool has_value = column != nullptr && std::isfinite((*column)[row]);
        out << '\t' << (has_value ? formats::text_of((*column)[row]) : "");
      }
      out << end;
    }
  }
  output.close();
}

std::vector<std::string> row_of(const Run& run) {
  const auto loss = [](const CurvePoint& point) { return format_fixed(point.loss, 4); };
  const auto step = [](const CurvePoint& point) { return step_text(point.step); };
  const Curve &train = run.curves.train, &valid = run.curves.valid;
  std::vector<std::string> row{printable(run.name), step(train.empty() ? valid.back() : train.back()),
                               train.empty() ? "" : loss(train.back())};
  if (valid.empty()) {
    row.insert(row.end(), 3, "");
  } else {
    const CurvePoint best = *std::ranges::min_element(valid, {}, &CurvePoint::loss);
    row.insert(row.end(), {loss(valid.back()), loss(best), step(best)});
  }
  return row;
}

// The table has a column for each option that differs.
std::string history_table(const std::vector<NamedHistory>& histories) {
  const RunSettings settings = settings_of(histories);
  std::vector<std::vector<std::string>> rows{{"", "steps", "training", "validation", "lowest", "at step"}};
  for (const Run& run : runs_of(histories)) rows.push_back(row_of(run));
  rows.front().insert(rows.front().end(), settings.options.begin(), settings.options.end());
  for (std::size_t i = 0; i < settings.values.size(); ++i) {
    for (const std::string& value : settings.values[i]) rows[i + 1].push_back(printable(value));
  }
  return text_table(rows, "lrrrrr" + std::string(settings.options.size(), 'l'));
}

formats::Json printable_names(const std::vector<std::string>& names) {
  formats::Json list = formats::Json::array();
  for (const std::string& name : names) list.push_back(printable(name));
  return list;
}

double rounded(double value) {
  return std::strtod(fmt::format("{:.7g}", value).c_str(), nullptr);  // stod() refuses 1e-310
}

formats::Json point(const CurvePoint& point) {
  return {rounded(point.step), rounded(point.loss)};
}

// For history.js: the points of a column, thinned, with its exact last and lowest ones.
formats::Json page_curve(const std::string& column, const Curve& curve) {
  formats::Json points = formats::Json::array();
  for (const CurvePoint& each : thinned(curve, most_page_points)) points.push_back(point(each));
  return {{"column", column},
          {"logged", curve.size()},
          {"last", point(curve.back())},
          {"lowest", point(*std::ranges::min_element(curve, {}, &CurvePoint::loss))},
          {"points", std::move(points)}};
}

void write_history_page(const std::vector<NamedHistory>& histories, const std::string& path) {
  formats::Json runs = formats::Json::array();
  const RunSettings settings = settings_of(histories);
  for (std::size_t i = 0; i < histories.size(); ++i) {
    const auto& [name, history, command] = histories[i];
    formats::Json curves = formats::Json::array(), values = formats::Json::array();
    for (const std::string& value : settings.values[i]) values.push_back(printable(value));
    for (const History::Column& column : history.columns()) {
      if (column.name == "step") continue;
      if (const Curve curve = curve_of(history, column.name); !curve.empty()) {
        curves.push_back(page_curve(printable(column.name), curve));
      }
    }
    runs.push_back({{"name", printable(name)},
                    {"curves", std::move(curves)},
                    {"setting", settings.settings[i]},
                    {"values", std::move(values)}});
  }
  const std::string title = histories.size() == 1 ? "History of " + printable(histories.front().name)
                                                  : concatenate("History of ", histories.size(), " runs");
  write_page(path, title, history_parts(),
             {{"generator", "heddle " + cli::version()},
              {"most_points", most_page_points},
              {"options", settings.options},
              {"settings", printable_names(settings.names)},
              {"runs", std::move(runs)}});
}

void print_json(const std::vector<NamedHistory>& histories, bool lines) {
  formats::Json runs = json_list(histories, lines, [](const NamedHistory& each) {
    return formats::Json{{"name", each.name}, {"history", as_json(each.history)}};
  });
  if (!lines) std::cout << dump({{"runs", std::move(runs)}});
}

void check_usage(const cli::Arguments& arguments, const HistoryOptions& options) {
  check_forms(options.json, options.jsonl);
  if (options.output.empty()) return;
  check<UsageError>(
      Picture::is_name(options.output) || is_page_name(options.output) || options.output.ends_with(".tsv"),
      options.output, ": a history is written into files that end in .svg, .png, .pdf, .html or .tsv");
  check<UsageError>(!options.json && !options.jsonl, "-o writes a picture, a page or a table; leave --json out");
  cli::protect_inputs({}, {options.output}, arguments);
}

void history(const cli::Arguments& arguments, const HistoryOptions& options) {
  check_usage(arguments, options);
  const std::vector<NamedHistory> histories = read_histories(arguments.operands("FILE"));
  if (options.output.ends_with(".tsv")) {
    write_tsv(histories, options.output);
  } else if (is_page_name(options.output)) {
    write_history_page(histories, options.output);
  } else if (!options.output.empty()) {
    save_loss_chart(options.output, runs_of(histories));
  } else if (options.json || options.jsonl) {
    print_json(histories, options.jsonl);
  } else if (histories.size() == 1) {
    std::cout << printable_lines(history_text(histories.front().history));
  } else {
    std::cout << printable_lines(history_table(histories));
  }
}

}  // namespace

cli::Verb verbs::history() {
  return cli::make_verb<HistoryOptions>({.summary = "Shows the training history of one or several runs, side by side.",
                                         .synopsis = {"FILE... [-o x.html|x.svg|x.png|x.pdf|x.tsv] [--json|--jsonl]"},
                                         .operands = {{"FILE", "models with a history", 1, cli::any_number}}},
                                        heddle::history);
}

}  // namespace heddle

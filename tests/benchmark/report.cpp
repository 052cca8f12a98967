// Makes the report of what `run` measured: a table for people on standard output, JSON for programs in a file.
//
// A measurement is a line: the contestant, a tab, a JSON object of quantities. A contestant has a line for each round.
// The contestant "machine" has texts instead.
#include <algorithm>
#include <iomanip>
#include <iostream>
#include <map>
#include <optional>
#include <sstream>

#include "formats/archives/json_archive.hpp"
#include "measure.hpp"
#include "rows.hpp"
#include "tools/cli/run.hpp"
#include "tools/cli/streams.hpp"

using namespace heddle;
using namespace heddle::benchmark;
using formats::Json;

namespace {

struct Options {
  std::string output;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("output", "the report as JSON").letter('o').takes("FILE"), self.output);
  }
};

class Measurements {
 public:
  explicit Measurements(cli::LineReader& lines) {
    while (const auto line = lines.next()) {
      const std::string text(line->text);
      const std::size_t tab = text.find('\t');
      check<DataError>(tab != std::string::npos, lines.where(), ": no tab between contestant and quantities");
      const std::string contestant = text.substr(0, tab);
      const Json quantities = Json::parse(text.substr(tab + 1));
      for (const auto& [quantity, value] : quantities.items()) {
        if (contestant == "machine") machine_[quantity] = value;
        if (value.is_number()) values_[contestant + ": " + quantity].push_back(value.get<double>());
      }
    }
  }

  const Json& machine() const { return machine_; }

  std::optional<double> find(const std::string& name) const {
    if (name.starts_with("= ")) return std::stod(name.substr(2));
    const auto found = values_.find(name);
    return found == values_.end() ? std::nullopt : std::optional(median(found->second));
  }

  Json json() const {
    Json all;
    for (const auto& [name, values] : values_) all[name] = {{"median", median(values)}, {"runs", values}};
    return all;
  }

 private:
  Json machine_ = Json::object();
  std::map<std::string, std::vector<double>> values_;
};

struct Outcome {
  std::optional<double> ours, peer, ratio;  // the ratio is above 1 where ours is better
  std::string best_peer;

  bool met(const Row& row) const { return ratio && *ratio >= row.target; }
};

Outcome outcome_of(const Row& row, const Measurements& measurements) {
  Outcome outcome{.ours = measurements.find(row.ours), .peer = {}, .ratio = {}, .best_peer = {}};
  for (const std::string& name : row.peers) {
    const auto value = measurements.find(name);
    if (!value || (outcome.peer && (row.better == Better::more) != (*value > *outcome.peer))) continue;
    outcome.peer = value;
    outcome.best_peer = name;
  }
  if (outcome.ours && outcome.peer) {
    outcome.ratio = row.better == Better::more ? *outcome.ours / *outcome.peer : *outcome.peer / *outcome.ours;
  }
  return outcome;
}

// Whether the run was asked for this section.
bool is_measured(const std::string& section, const std::vector<Row>& rows, const Measurements& measurements) {
  return std::ranges::any_of(
      rows, [&](const Row& row) { return row.section == section && measurements.find(row.ours).has_value(); });
}

std::string text_of(std::optional<double> number, std::string_view missing) {
  if (!number) return std::string(missing);
  std::ostringstream out;
  out << std::fixed << std::setprecision(*number < 10 ? 2 : *number < 100 ? 1 : 0) << *number;
  return out.str();
}

// "319 (PyTorch bf16, passive)" for "124m PyTorch bf16, passive: tokens_per_second". Figures, limits and heddle's own
// rates need no name: the row says what they are.
std::string peer_text(const Outcome& outcome, const Row& row) {
  if (row.peers.empty()) return "";
  const std::string value = text_of(outcome.peer, "not there");
  const std::string name = outcome.best_peer.substr(0, outcome.best_peer.find(": "));
  if (name.empty() || name.starts_with("= ") || name == "limits" || name.find("heddle") != std::string::npos) {
    return value;
  }
  return concatenate(value, " (", name.substr(name.find(' ') + 1), ")");
}

void print_machine(const Json& machine) {
  for (const auto& [what, text] : machine.items()) std::cout << "- " << what << ": " << text.get<std::string>() << "\n";
}

void print_heading(std::string_view section) {
  std::cout << "\n**" << section << "**\n\n| what | unit | ours | peer | ratio | target | met |\n"
            << "|---|---|---|---|---|---|---|\n";
}

void print(const Row& row, const Outcome& outcome) {
  const bool judged = row.target > 0;
  std::cout << "| " << row.what << " | " << row.unit << " | " << text_of(outcome.ours, "not there") << " | "
            << peer_text(outcome, row) << " | " << text_of(outcome.ratio, "") << " | "
            << (judged ? text_of(row.target, "") : "") << " | "
            << (!judged || !outcome.ratio ? ""
                : outcome.met(row)        ? "yes"
                                          : "NO")
            << " |\n";
}

Json json_of(const Row& row, const Outcome& outcome) {
  Json json{{"section", row.section}, {"what", row.what}, {"unit", row.unit}};
  if (outcome.ours) json["ours"] = *outcome.ours;
  if (outcome.peer) json["peer"] = *outcome.peer;
  if (outcome.peer) json["best_peer"] = outcome.best_peer;
  if (outcome.ratio) json["ratio"] = *outcome.ratio;
  if (row.target > 0) json["target"] = row.target;
  if (row.target > 0 && outcome.ratio) json["met"] = outcome.met(row);
  return json;
}

const cli::About about{.name = "benchmark_report",
                       .summary = "Compares measurements: a table on standard output, JSON in a file.",
                       .synopsis = {"-o FILE MEASUREMENTS"},
                       .operands = {{"MEASUREMENTS", "what tests/benchmark/run recorded", 1, 1}}};

}  // namespace

int main(int argc, char** argv) {
  return cli::run(argc, argv, about, [](cli::Arguments& arguments) {
    const auto options = arguments.read<Options>();
    cli::Input input(arguments.operand("MEASUREMENTS"));
    cli::LineReader lines(input);
    const Measurements measurements(lines);
    print_machine(measurements.machine());
    Json json{{"machine", measurements.machine()}, {"rows", Json::array()}, {"measurements", measurements.json()}};
    std::string section;
    const std::vector<Row> rows = report_rows();
    for (const Row& row : rows) {
      if (!is_measured(row.section, rows, measurements)) continue;
      if (row.section != section) print_heading(row.section);
      section = row.section;
      const Outcome outcome = outcome_of(row, measurements);
      print(row, outcome);
      json["rows"].push_back(json_of(row, outcome));
    }
    cli::Output output(options.output);
    output.stream() << json.dump(1) << "\n";
    output.close();
  });
}

// inspect cost: parameters, floating-point operations, memory, time and money of models, by part.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "formats/heddle/task_file.hpp"
#include "libcore/base/printable.hpp"
#include "libcore/models/architecture.hpp"
#include "libcore/models/presets.hpp"
#include "tools/cli/choose_precision.hpp"
#include "tools/cli/protect_inputs.hpp"
#include "tools/inspect/answer.hpp"
#include "tools/inspect/cost/cost_report.hpp"
#include "tools/inspect/cost/quantity.hpp"
#include "tools/inspect/json_answer.hpp"
#include "tools/inspect/verbs.hpp"

namespace heddle {

namespace {

struct MachineOptions {
  Index chips = 0, devices = 0, chips_per_device = 1;
  Quantity flops_per_chip;
  double utilization = 0.4, watts_per_chip = 0, price_per_device_hour = 0;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("chips", "number of chips to train on").range(1, 1e9).word(0, "none").takes("N").essential(),
            self.chips);
    visitor(Field("devices", "number of devices to train on, each with --chips-per-device chips")
                .range(1, 1e9)
                .word(0, "none")
                .takes("N")
                .essential(),
            self.devices);
    visitor(Field("chips_per_device", "chips per device; prices are per device")
                .range(1, 1e6)
                .takes("N")
                .needs({"chips", "devices"})
                .essential(),
            self.chips_per_device);
    visitor(Field("flops_per_chip", "floating-point operations per second that a chip can do, such as 197T")
                .takes("RATE")
                .needs({"chips", "devices"})
                .essential(),
            self.flops_per_chip);
    visitor(Field("utilization", "fraction of the chips' operations that training reaches")
                .above(0, 1)
                .takes("F")
                .needs({"flops_per_chip"})
                .essential(),
            self.utilization);
    visitor(Field("watts_per_chip", "power that a chip draws, cooling included")
                .above(0, 1e6)
                .word(0, "none")
                .takes("W")
                .needs({"chips", "devices"})
                .essential(),
            self.watts_per_chip);
    visitor(Field("price_per_device_hour", "price of one device for an hour, in dollars")
                .above(0, 1e9)
                .word(0, "none")
                .takes("X")
                .formerly("price_per_hour")
                .needs({"chips", "devices"})
                .essential(),
            self.price_per_device_hour);
  }
};

struct CostOptions : Answer {
  std::vector<std::string> preset;
  Index time = 0, batch_size = 1;
  PrecisionChoice precision = PrecisionChoice::f32;
  bool measure = true;
  Quantity tokens;
  double days = 0;
  MachineOptions machines;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("preset", "built-in configurations instead of models")
                .not_empty()
                .one_of(models::preset_names())
                .takes("NAME,...")
                .essential(),
            self.preset);
    visitor(Field("time", "tokens of a sequence; auto means a training window")
                .range(1, 10000000)
                .word(0, "auto")
                .takes("T")
                .essential(),
            self.time);
    visitor(Field("batch_size", "sequences per step").range(1, 1 << 20).essential(), self.batch_size);
    visitor(Field("precision", "arithmetic of the steps").takes("NAME").essential(), self.precision);
    visitor(Field("measure", "do not run steps to predict the time on this machine").essential(), self.measure);
    visitor(Field("tokens", "number of tokens to train on, such as 300G").takes("D").essential(), self.tokens);
    visitor(Field("days", "train for so many days").above(0, 1e6).word(0, "none").takes("X").essential(), self.days);
    Answer::visit(self, visitor, "a picture .svg, .png or .pdf, or a table .tsv");
    visitor(Field("machines", "Machines"), self.machines);
  }

  RunPlan plan() const {
    return {.machines = {.chips = static_cast<double>(machines.chips),
                         .devices = static_cast<double>(machines.devices),
                         .chips_per_device = static_cast<double>(machines.chips_per_device),
                         .flops_per_chip = machines.flops_per_chip.value,
                         .utilization = machines.utilization,
                         .watts_per_chip = machines.watts_per_chip,
                         .price_per_device_hour = machines.price_per_device_hour},
            .work = {.tokens = tokens.value, .days = days}};
  }
};

void check_usage(const cli::Arguments& arguments, const CostOptions& options) {
  const std::vector<std::string>& files = arguments.operands("MODEL");
  const RunPlan plan = options.plan();
  check<UsageError>(files.empty() || options.preset.empty(), "give either models or --preset, not both");
  const bool has_model = !files.empty() || !options.preset.empty(), is_bill = plan.has_machines() && !has_model;
  check<UsageError>(!is_bill || options.days > 0 || !options.output.empty(),
                    "the price of a run on such machines needs --days X; or a model and --tokens D");
  check<UsageError>(has_model || (is_bill && options.output.empty()),
                    "give one MODEL or several, or --preset NAME,... (inspect cost --help shows the usage)");
  check<UsageError>(options.machines.chips == 0 || options.machines.devices == 0,
                    "--chips counts all chips and --devices all devices; give one of them, and --chips-per-device");
  check<UsageError>(plan.work.tokens == 0 || plan.work.days == 0, "--tokens and --days: give one of them");
  check<UsageError>(!plan.has_machines() || plan.work.tokens == 0 || plan.machines.flops_per_chip > 0,
                    "--tokens takes a time that depends on --flops-per-chip, which is missing");
  check<UsageError>(!plan.has_machines() || !(plan.work.tokens == 0 && plan.work.days == 0),
                    "a run on such machines needs --tokens or --days");
  options.check("costs", {".svg", ".png", ".pdf", ".tsv"});
  if (!options.output.empty()) cli::protect_inputs({}, {options.output}, arguments);
}

CostReport report_of(const std::string& name, models::ModelConfig config, const analysis::TrialShape& shape,
                     bool measure) {
  check<DataError>(config.reads_tokens(), name, ": reads ", models::what_it_reads(config),
                   "; only models of texts are counted; --dry-run of finetune or pretrain estimates a run");
  if (config.tokens().vocab_size == 0) config.tokens().vocab_size = 256;
  CostReport report{name, config.arch(), {}, {}};
  try {
    report.cost = analysis::cost_of(config, shape);
  } catch (const UsageError& error) {
    throw UsageError(concatenate(name, ": ", error.what()));
  }
  if (measure) report.step = analysis::predict_step_time(config, report.cost);
  return report;
}

// The report of a model file, or of an adapter file, which has the configuration of its base.
CostReport report_of_file(const std::string& path, analysis::TrialShape shape, bool measure) {
  if (formats::kind_of(path) != formats::FileKind::adapter) {
    return report_of(path, formats::checked_config(formats::ModelFile(path)), shape, measure);
  }
  const formats::ModelFile file(path, formats::FileKind::adapter);
  shape.adapters = formats::adapters_of(file);
  return report_of(path, file.config<models::ModelConfig>(), shape, measure);
}

std::vector<CostReport> reports_of(const cli::Arguments& arguments, const CostOptions& options) {
  const PrecisionChoice precision = choose_precision(options.precision, arguments);
  const analysis::TrialShape shape{options.time, options.batch_size, chosen(precision)};
  const bool measure = options.measure && !options.plan().has_machines();
  std::vector<CostReport> reports;
  for (const std::string& path : arguments.operands("MODEL")) {
    try {
      reports.push_back(report_of_file(path, shape, measure));
    } catch (const UsageError& error) {  // a file's configuration is no option
      throw DataError(error.what());
    }
  }
  for (const std::string& name : options.preset) {
    reports.push_back(report_of(name, models::preset(name), shape, measure));
  }
  return reports;
}

formats::Json costs_json(const std::vector<CostReport>& reports, const RunPlan& plan) {
  if (reports.empty()) return {{"run", run_json(nullptr, plan)}};
  formats::Json list = formats::Json::array();
  for (const CostReport& report : reports) list.push_back(cost_json(report, plan));
  return {{"models", std::move(list)}};
}

std::string costs_text(const std::vector<CostReport>& reports, const RunPlan& plan) {
  if (reports.empty()) return run_text(nullptr, plan);
  return reports.size() == 1 ? cost_text(reports.front(), plan) : cost_table(reports, plan);
}

void cost(const cli::Arguments& arguments, const CostOptions& options) {
  check_usage(arguments, options);
  const std::vector<CostReport> reports = reports_of(arguments, options);
  const RunPlan plan = options.plan();
  if (options.output.ends_with(".tsv")) {
    write_cost_table(options.output, reports);
  } else if (!options.output.empty()) {
    save_cost_chart(options.output, reports);
  } else if (options.json) {
    std::cout << dump(costs_json(reports, plan));
  } else {
    std::cout << printable_lines(costs_text(reports, plan));
  }
}

}  // namespace

cli::Verb verbs::cost() {
  return cli::make_verb<CostOptions>(
      {.summary = "Prints the parameters, operations, memory, time and price of models, by part.",
       .synopsis = {"MODEL... [--time T] [--batch-size N] [-o FILE] [--json] [options]",
                    "--preset NAME,... [--time T] [--batch-size N] [-o FILE] [--json] [options]",
                    "[--preset NAME] --chips N --price-per-device-hour X --days X [options]"},
       .operands = {{"MODEL", "model or adapter files, of which only the configuration is used", 0, cli::any_number}}},
      heddle::cost);
}

}  // namespace heddle

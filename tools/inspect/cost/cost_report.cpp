#include "tools/inspect/cost/cost_report.hpp"

#include <fmt/format.h>

#include <cmath>

#include "formats/archives/text_archive.hpp"
#include "libcore/base/printable.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/base/values.hpp"
#include "tools/cli/streams.hpp"
#include "tools/cli/text_table.hpp"
#include "tools/inspect/cost/quantity.hpp"
#include "tools/lines/escaped.hpp"

namespace heddle {

namespace {

using analysis::Bill;
using analysis::Cost;
using analysis::PartCost;
using analysis::StepTime;
using Rows = std::vector<std::vector<std::string>>;

constexpr std::size_t label_width = 18;

std::string flops_text(double flops) {
  return flops == 0 ? "-" : quantity_text(flops, "FLOP");
}

std::string ratio_text(double counted, double formula) {
  return fmt::format("{:.4g}", counted / formula);
}

double seconds_of(const StepTime& step, const std::string& part) {
  const auto found = step.parts.find(part);
  return found == step.parts.end() ? 0 : found->second;
}

std::string sequences_text(const Cost& cost) {
  return concatenate(cost.batch_size == 1 ? "one " : grouped(cost.batch_size) + " ",
                     cost.of_pairs ? "pair" : "sequence", cost.batch_size == 1 ? "" : "s", " of ", grouped(cost.time),
                     cost.of_pairs ? " source and " + grouped(cost.time) + " target" : "", " tokens");
}

std::string heading(const CostReport& report) {
  const Cost& cost = report.cost;
  std::string text =
      concatenate(printable(report.name), ": ", report.architecture, ", ", grouped(cost.parameters), " parameters");
  if (cost.head_parameters > 0) text += concatenate(", and ", grouped(cost.head_parameters), " in the head");
  if (cost.adapter_parameters > 0) {
    text += concatenate(", and ", grouped(cost.adapter_parameters), " in adapters; only these are trained");
  }
  return concatenate(text, "\na training step ", step_text(cost), "\n");
}

std::vector<std::string> row_of(const CostReport& report, const PartCost& part) {
  const Cost& cost = report.cost;
  const double share =
      100 * static_cast<double>(part.parameters) / static_cast<double>(std::max<Index>(1, cost.all_parameters()));
  std::vector<std::string> row{part.part,
                               part.parameters == 0 ? "-" : grouped(part.parameters),
                               part.parameters == 0 ? "-" : format_fixed(share, 3),
                               flops_text(part.forward_flops),
                               flops_text(part.backward_flops),
                               part.formula ? ratio_text(part.forward_flops, *part.formula) : "-",
                               part.bytes == 0 ? "-" : bytes_text(part.bytes)};
  if (report.step) row.push_back(part.bytes == 0 ? "-" : duration_text(seconds_of(*report.step, part.part)));
  return row;
}

std::string parts_table(const CostReport& report) {
  const Cost& cost = report.cost;
  Rows rows{{"part", "parameters", "%", "forward", "backward", "formula", "traffic"}};
  if (report.step) rows.front().push_back("time");
  for (const PartCost& part : cost.parts) rows.push_back(row_of(report, part));
  rows.push_back({"all", grouped(cost.all_parameters()), "100", flops_text(cost.forward_flops()),
                  flops_text(cost.backward_flops()), "", bytes_text(cost.bytes())});
  if (report.step) rows.back().push_back(duration_text(report.step->seconds));
  return text_table(rows, report.step ? "lrrrrrrr" : "lrrrrrr");
}

// The sum, and the categories with `between` before them.
std::string memory_list(std::string_view between, std::initializer_list<std::pair<const char*, double>> categories) {
  std::vector<std::string> texts;
  double total = 0;
  for (const auto& [name, bytes] : categories) {
    texts.push_back(concatenate(name, " ", bytes_text(bytes)));
    total += bytes;
  }
  return concatenate(bytes_text(total), between, join(texts));
}

std::string measured_text(const StepTime& step) {
  switch (step.from) {
    case StepTime::From::model:
      return "measured";
    case StepTime::From::sample:
      return concatenate("predicted from steps of one layer on ", counted(step.batch_size, "sequence", "sequences"),
                         " of ", grouped(step.time), " tokens");
    case StepTime::From::rates:
      break;
  }
  return "estimated from the rates of matrix products and memory, as one layer is too large to be measured";
}

std::string line(std::string_view name, const std::string& text) {
  return fmt::format("{:<{}}{}\n", name, label_width, text);
}

std::string flops_lines(const Cost& cost) {
  const double token = cost.flops_per_token(), six = cost.parameter_formula(), whole = six + cost.attention_formula;
  std::string text = line("FLOPs of a token", concatenate(flops_text(cost.forward_flops() / cost.tokens()),
                                                          " forward, ", flops_text(token), " in training"));
  text += line("  by 6 P", concatenate(flops_text(six), ", counted ", ratio_text(token, six), " of it"));
  if (cost.attention_formula > 0) {
    text += line("  and 12 L d T", concatenate(flops_text(whole), ", counted ", ratio_text(token, whole), " of it"));
  }
  return text;
}

std::string generation_lines(const CostReport& report) {
  if (!report.cost.generation) return "";
  const analysis::GenerationCost& cost = *report.cost.generation;
  std::string text =
      line("generation", memory_list(": ", {{"weights", cost.weights}, {"keys, values and states", cost.state}}));
  std::string step = concatenate("a step ", flops_text(cost.flops), " and ", bytes_text(cost.bytes));
  if (report.step) {
    const double rate = static_cast<double>(report.cost.batch_size) * report.step->memory_rate / cost.bytes;
    step += concatenate("; at most ", quantity_text(rate, ""), " tokens/s by memory");
  }
  return text + line("", step);
}

std::string time_lines(const CostReport& report) {
  if (!report.step) return "";
  const StepTime& step = *report.step;
  return line("time of a step", concatenate(duration_text(step.seconds), " on this machine, ",
                                            quantity_text(report.cost.tokens() / step.seconds, ""), " tokens/s")) +
         line("", measured_text(step));
}

std::string plain_number(double value) {
  return value == std::floor(value) && value < 1e15 ? grouped(static_cast<Index>(value)) : fmt::format("{:.6g}", value);
}

std::string dollars(double amount) {
  const double cents = std::round(100 * amount);
  if (cents >= 1e15) return fmt::format("${:.2e}", amount);
  const auto whole = static_cast<Index>(cents);
  std::string text = "$" + grouped(whole / 100);
  if (whole % 100 != 0) text += fmt::format(".{:02}", whole % 100);
  return text;
}

std::string hours_text(double hours) {
  if (hours >= 1e12) return fmt::format("{:.3g} h", hours);
  return plain_number(hours >= 1000 ? std::round(hours) : std::round(100 * hours) / 100) + " h";
}

Bill bill_of(const CostReport* report, const RunPlan& plan) {
  analysis::Work work = plan.work;
  if (report != nullptr) work.flops_per_token = report->cost.flops_per_token();
  if (plan.has_machines()) return analysis::bill_for(plan.machines, work);
  // This machine, at the speed of its steps.
  Bill bill{.chips = 1, .devices = 1};
  if (work.tokens > 0) bill.tokens = work.tokens;
  if (work.days > 0) bill.hours = 24 * work.days;
  if (report != nullptr && report->step) {
    const double tokens_per_hour = 3600 * report->cost.tokens() / report->step->seconds;
    if (work.tokens > 0) bill.hours = work.tokens / tokens_per_hour;
    if (work.days > 0) bill.tokens = *bill.hours * tokens_per_hour;
  }
  if (bill.tokens && work.flops_per_token > 0) bill.flops = *bill.tokens * work.flops_per_token;
  return bill;
}

std::string machines_lines(const RunPlan& plan, const Bill& bill) {
  const analysis::Machines& machines = plan.machines;
  const std::string chips = plain_number(bill.chips), devices = plain_number(bill.devices),
                    each = plain_number(machines.chips_per_device);
  std::string text = machines.chips > 0 ? concatenate(chips, " chips / ", each, " per device = ", devices, " devices")
                                        : concatenate(devices, " devices x ", each, " chips = ", chips, " chips");
  text = line("  machines", text);
  if (!bill.flops_per_second) return text;
  return text + line("  speed", concatenate(chips, " chips x ", quantity_text(machines.flops_per_chip, "FLOP/s"), " x ",
                                            fmt::format("{:.4g}", 100 * machines.utilization),
                                            " % = ", quantity_text(*bill.flops_per_second, "FLOP/s")));
}

std::string work_lines(const Cost& cost, const Bill& bill) {
  if (!bill.tokens || !bill.flops) return "";
  const double tokens = *bill.tokens;
  std::string text = line("  work", concatenate(quantity_text(tokens, ""), " tokens x ",
                                                flops_text(cost.flops_per_token()), " = ", flops_text(*bill.flops)));
  const double six = tokens * cost.parameter_formula();
  std::string formulas = concatenate("6 P D = ", flops_text(six));
  if (cost.attention_formula > 0) {
    formulas += concatenate("; with 12 L d T D, ", flops_text(six + tokens * cost.attention_formula));
  }
  text += line("", formulas);
  return text;
}

std::string hours_line(const RunPlan& plan, const Bill& bill) {
  const double hours = *bill.hours;
  if (plan.work.days > 0)
    return line("  time", concatenate(plain_number(plan.work.days), " days = ", hours_text(hours)));
  const std::string result = concatenate(hours_text(hours), " (", duration_text(3600 * hours), ")");
  if (!bill.flops_per_second) return line("  time", result + " on this machine");
  return line("  time", concatenate(flops_text(*bill.flops), " / ", quantity_text(*bill.flops_per_second, "FLOP/s"),
                                    " = ", result));
}

std::string price_lines(const RunPlan& plan, const Bill& bill) {
  std::string text;
  const std::string hours = hours_text(*bill.hours);
  if (bill.kilowatt_hours) {
    text +=
        line("  energy", concatenate(plain_number(bill.chips), " chips x ", plain_number(plan.machines.watts_per_chip),
                                     " W x ", hours, " = ", quantity_text(1000 * *bill.kilowatt_hours, "Wh")));
  }
  if (bill.price) {
    text += line("  price", concatenate(plain_number(bill.devices), " devices x ", hours, " x ",
                                        dollars(plan.machines.price_per_device_hour), " = ", dollars(*bill.price)));
  }
  return text;
}

formats::Json part_json(const PartCost& part, const CostReport& report) {
  formats::Json json{{"part", part.part},
                     {"parameters", part.parameters},
                     {"parameter_fraction", static_cast<double>(part.parameters) /
                                                static_cast<double>(std::max<Index>(1, report.cost.all_parameters()))},
                     {"forward_flops", part.forward_flops},
                     {"backward_flops", part.backward_flops}};
  if (part.formula) json["formula_forward_flops"] = *part.formula;
  json["bytes"] = part.bytes;
  if (report.step) json["seconds"] = seconds_of(*report.step, part.part);
  return json;
}

formats::Json flops_json(const Cost& cost) {
  const double token = cost.flops_per_token(), six = cost.parameter_formula();
  formats::Json json{{"forward", cost.forward_flops()}, {"backward", cost.backward_flops()},
                     {"step", cost.step_flops()},       {"per_token", token},
                     {"six_p_per_token", six},          {"of_six_p", token / six}};
  if (cost.attention_formula > 0) {
    json["attention_per_token"] = cost.attention_formula;
    json["of_six_p_and_attention"] = token / (six + cost.attention_formula);
  }
  return json;
}

formats::Json step_json(const CostReport& report) {
  const StepTime& step = *report.step;
  constexpr const char* names[] = {"model", "sample", "rates"};
  return {{"seconds_per_step", step.seconds},
          {"tokens_per_second", report.cost.tokens() / step.seconds},
          {"from", names[static_cast<std::size_t>(step.from)]},
          {"matmul_flops_per_second", step.matmul_rate},
          {"memory_bytes_per_second", step.memory_rate}};
}

}  // namespace

std::string run_text(const CostReport* report, const RunPlan& plan) {
  if (plan.is_empty()) return "";
  const Bill bill = bill_of(report, plan);
  std::string text = "training run\n";
  if (plan.has_machines()) text += machines_lines(plan, bill);
  if (report != nullptr) text += work_lines(report->cost, bill);
  if (bill.hours) text += hours_line(plan, bill) + price_lines(plan, bill);
  return text;
}

std::string step_text(const Cost& cost) {
  return concatenate("reads ", sequences_text(cost), " and predicts ", grouped(cost.predicted), ", in ",
                     to_text(cost.precision));
}

std::string cost_text(const CostReport& report, const RunPlan& plan) {
  const analysis::TrainingMemory& memory = report.cost.memory;
  return heading(report) + "\n" + parts_table(report) + "\n" + flops_lines(report.cost) +
         line("training memory",
              memory_list("\n" + std::string(label_width, ' '), {{"weights", memory.weights},
                                                                 {"gradients", memory.gradients},
                                                                 {"optimizer", memory.optimizer},
                                                                 {"activations", memory.activations}})) +
         generation_lines(report) + time_lines(report) + run_text(&report, plan);
}

std::string cost_table(const std::vector<CostReport>& reports, const RunPlan& plan) {
  std::vector<std::string> head{"", "parameters", "tokens", "FLOPs/token", "of 6P", "training", "generation"};
  std::string alignment = "lrrrrrr";
  const bool timed = std::ranges::any_of(reports, [](const CostReport& each) { return each.step.has_value(); });
  const auto add = [&](const char* name) {
    head.emplace_back(name);
    alignment += 'r';
  };
  if (timed) add("step");
  if (plan.work.tokens > 0) add("FLOPs");
  if (!plan.is_empty()) add("time");
  if (plan.machines.price_per_device_hour > 0) add("price");
  Rows rows{head};
  for (const CostReport& report : reports) {
    const Cost& cost = report.cost;
    const Bill bill = plan.is_empty() ? Bill{} : bill_of(&report, plan);
    rows.push_back({printable(report.name), quantity_text(static_cast<double>(cost.parameters), ""),
                    grouped(cost.batch_size * cost.time), flops_text(cost.flops_per_token()),
                    ratio_text(cost.flops_per_token(), cost.parameter_formula()), bytes_text(cost.memory.total()),
                    cost.generation ? bytes_text(cost.generation->memory()) : "-"});
    if (timed) rows.back().push_back(report.step ? duration_text(report.step->seconds) : "-");
    if (plan.work.tokens > 0) rows.back().push_back(flops_text(bill.flops.value_or(0)));
    if (!plan.is_empty()) rows.back().push_back(bill.hours ? duration_text(3600 * *bill.hours) : "-");
    if (plan.machines.price_per_device_hour > 0) rows.back().push_back(bill.price ? dollars(*bill.price) : "-");
  }
  return text_table(rows, alignment);
}

formats::Json run_json(const CostReport* report, const RunPlan& plan) {
  const Bill bill = bill_of(report, plan);
  formats::Json json = formats::Json::object();
  if (plan.has_machines()) json = {{"chips", bill.chips}, {"devices", bill.devices}};
  const auto add = [&json](const char* name, const std::optional<double>& value) {
    if (value) json[name] = *value;
  };
  add("flops_per_second", bill.flops_per_second);
  add("tokens", bill.tokens);
  add("flops", bill.flops);
  if (report != nullptr && bill.tokens) json["six_p_d"] = *bill.tokens * report->cost.parameter_formula();
  add("hours", bill.hours);
  add("kilowatt_hours", bill.kilowatt_hours);
  add("price", bill.price);
  return json;
}

formats::Json cost_json(const CostReport& report, const RunPlan& plan) {
  const Cost& cost = report.cost;
  formats::Json json{{"name", report.name},
                     {"architecture", report.architecture},
                     {"parameters", cost.parameters},
                     {"head_parameters", cost.head_parameters},
                     {"adapter_parameters", cost.adapter_parameters},
                     {"time", cost.time},
                     {"batch_size", cost.batch_size},
                     {"predicted", cost.predicted},
                     {"precision", to_text(cost.precision)},
                     {"parts", formats::Json::array()}};
  for (const PartCost& part : cost.parts) json["parts"].push_back(part_json(part, report));
  json["flops"] = flops_json(cost);
  json["bytes_per_step"] = cost.bytes();
  json["memory"] = {{"weights_bytes", cost.memory.weights},
                    {"gradients_bytes", cost.memory.gradients},
                    {"optimizer_bytes", cost.memory.optimizer},
                    {"activations_bytes", cost.memory.activations},
                    {"total_bytes", cost.memory.total()}};
  if (cost.generation) {
    json["generation"] = {{"weights_bytes", cost.generation->weights},
                          {"state_bytes", cost.generation->state},
                          {"flops_per_step", cost.generation->flops},
                          {"bytes_per_step", cost.generation->bytes}};
  }
  if (report.step) json["machine"] = step_json(report);
  if (!plan.is_empty()) json["run"] = run_json(&report, plan);
  return json;
}

void write_cost_table(const std::string& path, const std::vector<CostReport>& reports) {
  cli::Output output(path);
  output.stream() << "model\tpart\tparameters\tforward_flops\tbackward_flops\tformula_forward_flops\tbytes\tseconds\n";
  for (const CostReport& report : reports) {
    for (const PartCost& part : report.cost.parts) {
      output.stream() << escaped_field(report.name) << '\t' << part.part << '\t' << part.parameters << '\t'
                      << formats::text_of(part.forward_flops) << '\t' << formats::text_of(part.backward_flops) << '\t'
                      << (part.formula ? formats::text_of(*part.formula) : "") << '\t' << formats::text_of(part.bytes)
                      << '\t' << (report.step ? formats::text_of(seconds_of(*report.step, part.part)) : "") << '\n';
    }
  }
  output.close();
}

}  // namespace heddle

// Results of inspect cost, as text, JSON, a table and a picture.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formats/archives/json_archive.hpp"
#include "libcore/analysis/bill.hpp"
#include "libcore/analysis/cost.hpp"
#include "libcore/analysis/step_time.hpp"

namespace heddle {

struct CostReport {
  std::string name, architecture;
  analysis::Cost cost;
  std::optional<analysis::StepTime> step;  // on this machine
};

// A run: how much, and on which machines; neither chips nor devices mean this machine.
struct RunPlan {
  analysis::Machines machines;
  analysis::Work work;

  bool has_machines() const { return machines.chips > 0 || machines.devices > 0; }
  bool is_empty() const { return work.tokens == 0 && work.days == 0 && !has_machines(); }
};

// Description of a training step: "reads 8 sequences of 512 tokens and predicts 4,096, in f32".
std::string step_text(const analysis::Cost& cost);
// One model, part by part.
std::string cost_text(const CostReport& report, const RunPlan& plan);
// Several models side by side, a line each.
std::string cost_table(const std::vector<CostReport>& reports, const RunPlan& plan);
// The arithmetic of a run, of a model or of none, a step a line.
std::string run_text(const CostReport* report, const RunPlan& plan);

formats::Json cost_json(const CostReport& report, const RunPlan& plan);
formats::Json run_json(const CostReport* report, const RunPlan& plan);

// One line per model and part.
void write_cost_table(const std::string& path, const std::vector<CostReport>& reports);
// Bars of parameters, operations, memory and time, a bar per model, stacked by part.
void save_cost_chart(const std::string& path, const std::vector<CostReport>& reports);

}  // namespace heddle

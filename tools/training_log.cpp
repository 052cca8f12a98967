#include "training_log.hpp"

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "heddle/formats/atomic_file.hpp"
#include "heddle/tensor/precision.hpp"

namespace heddle {

namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> lines_up_to(const std::string& path, Index last_step) {
  std::vector<std::string> kept;
  std::ifstream old(path);
  for (std::string line; std::getline(old, line);) {
    const Json entry = Json::parse(line, nullptr, false);
    if (entry.is_object() && entry.value("step", Index{0}) <= last_step) kept.push_back(line);
  }
  return kept;
}

// Whole or not at all, whatever ends the program meanwhile. Pipes and terminals have nothing to keep.
void keep_lines(const std::string& path, Index last_step) {
  if (!std::filesystem::is_regular_file(path)) return;
  formats::AtomicFile file(path);
  for (const std::string& line : lines_up_to(path, last_step)) file.write(line + "\n");
  file.commit();
}

double rounded(double value, int digits) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double unit = std::pow(10.0, digits - 1 - std::floor(std::log10(std::abs(value))));
  return std::round(value * unit) / unit;
}

}  // namespace

TrainingLog::TrainingLog(const std::string& path, Index last_step) : path_(path) {
  if (last_step > 0) keep_lines(path, last_step);
  file_.open(path, last_step > 0 ? std::ios::app : std::ios::trunc);
  if (!file_) throw_system_error(path, "write");
}

void TrainingLog::write(const training::StepRecord& record, double matmul_rate) {
  Json step{{"step", record.step},
            {"tokens", record.tokens},
            {"loss", rounded(record.loss, 7)},
            {"learning_rate", rounded(record.learning_rate, 7)},
            {"gradient_norm", rounded(record.gradient_norm, 7)},
            {"precision", precision() == Precision::bf16 ? "bf16" : "f32"}};
  if (record.tokens_per_second > 0) {  // not of a step that was done before this run went on
    step["tokens_per_second"] = rounded(record.tokens_per_second, 5);
    step["matmul_fraction"] = rounded(record.flops_per_second / matmul_rate, 4);
  }
  file_ << step.dump() << "\n";
  if (!record.valid.empty()) {
    Json line{{"step", record.step}};
    for (const training::Metric& metric : record.valid) line["valid_" + metric.name] = rounded(metric.value, 7);
    file_ << line.dump() << "\n";
  }
  file_.flush();
  if (!file_) throw_system_error(path_, "write");
}

}  // namespace heddle

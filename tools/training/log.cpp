#include "tools/training/log.hpp"

#include <fcntl.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "formats/files/atomic_file.hpp"
#include "libcore/tensor/precision.hpp"

namespace heddle {

namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> lines_up_to(const std::string& path, Index last_step) {
  std::vector<std::string> kept;
  std::ifstream old(path);
  for (std::string line; std::getline(old, line);) {
    const Json entry = Json::parse(line, nullptr, false);
    if (!entry.is_object()) continue;
    const auto step = entry.find("step");
    if (step == entry.end() || (step->is_number() && step->get<double>() <= static_cast<double>(last_step))) {
      kept.push_back(line);
    }
  }
  return kept;
}

// Rewrites the log atomically. Pipes, terminals and open streams have no lines to keep.
void keep_lines(const std::string& path, Index last_step) {
  if (formats::named_descriptor(path) || !std::filesystem::is_regular_file(path)) return;
  formats::AtomicFile file(path);
  for (const std::string& line : lines_up_to(path, last_step)) file.write(line + "\n");
  file.commit();
}

formats::Descriptor open_log(const std::string& path, bool goes_on) {
  const std::optional<int> stream = formats::named_descriptor(path);
  const int mode = O_WRONLY | O_CREAT | O_CLOEXEC | (goes_on ? O_APPEND : O_TRUNC);
  formats::Descriptor file(stream ? ::fcntl(*stream, F_DUPFD_CLOEXEC, 0) : ::open(path.c_str(), mode, 0666), path);
  if (file.number() < 0) throw_system_error(path, "open for writing");
  return file;
}

double rounded(double value, int digits) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double unit = std::pow(10.0, digits - 1 - std::floor(std::log10(std::abs(value))));
  return std::round(value * unit) / unit;
}

}  // namespace

bool TrainingLog::is_in_use(const std::string& path) {
  std::error_code absent;
  return !formats::named_descriptor(path) && std::filesystem::is_regular_file(path, absent) &&
         std::filesystem::file_size(path, absent) > 0;
}

TrainingLog::TrainingLog(const std::string& path, Index last_step) {
  if (last_step > 0) keep_lines(path, last_step);
  file_ = open_log(path, last_step > 0);
}

void TrainingLog::write(const training::StepRecord& record, const std::string& units, double matmul_rate) {
  Json step{{"step", record.step},
            {units, record.units},
            {"loss", rounded(record.loss, 7)},
            {"learning_rate", rounded(record.learning_rate, 7)},
            {"gradient_norm", rounded(record.gradient_norm, 7)},
            {"precision", precision() == Precision::bf16 ? "bf16" : "f32"}};
  if (record.units_per_second > 0) {  // not for a step done before this run was resumed
    step[units + "_per_second"] = rounded(record.units_per_second, 5);
    step["matmul_fraction"] = rounded(record.flops_per_second / matmul_rate, 4);
  }
  std::string lines = step.dump() + "\n";
  if (!record.valid.empty()) {
    Json line{{"step", record.step}};
    for (const training::Metric& metric : record.valid) line["valid_" + metric.name] = rounded(metric.value, 7);
    lines += line.dump() + "\n";
  }
  file_.write(lines);
}

}  // namespace heddle

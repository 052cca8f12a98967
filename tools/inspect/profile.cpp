#include "tools/inspect/profile.hpp"

#include <algorithm>
#include <chrono>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>

#include "heddle/formats/archives/json_archive.hpp"
#include "heddle/tensor/limits.hpp"
#include "heddle/tensor/profile.hpp"
#include "heddle/training/objectives.hpp"
#include "heddle/training/trainer.hpp"
#include "tools/lines/json_line.hpp"
#include "tools/training/choose_precision.hpp"

namespace heddle {

namespace {

constexpr double least_seconds = 2;
constexpr Index least_steps = 3;

data::TokensInMemory random_tokens(const models::ModelConfig& config, Index batch_size, std::uint64_t seed) {
  std::vector<TokenId> ids(static_cast<std::size_t>(4 * batch_size * (config->training_length() + 1)));
  const RandomStream stream(seed, random_site("inspect/profile"));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    ids[i] = static_cast<TokenId>(stream.below(i, static_cast<std::uint64_t>(config->vocab_size)));
  }
  return {std::move(ids), config->vocab_size};
}

struct Measured {
  std::vector<Profile::Entry> entries;
  double seconds = 0;
  Index steps = 0;
};

Measured run_steps(training::Trainer& trainer) {
  using Clock = std::chrono::steady_clock;
  trainer.step();
  const Profile profile;
  Measured result;
  const auto start = Clock::now();
  while (result.steps < least_steps || result.seconds < least_seconds) {
    trainer.step();
    ++result.steps;
    result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  }
  result.entries = profile.entries();
  return result;
}

OperationProfile summed_up(const Profile::Entry& entry, const Measured& measured, const StepProfile& limits) {
  const auto steps = static_cast<double>(measured.steps);
  OperationProfile result{entry.name, static_cast<double>(entry.calls) / steps, 1e3 * entry.seconds / steps,
                          entry.seconds / measured.seconds};
  if (entry.seconds <= 0) return result;
  result.gflops = 1e-9 * entry.flops / entry.seconds;
  result.matmul_fraction = result.gflops / limits.matmul_gflops;
  result.gigabytes = 1e-9 * entry.bytes / entry.seconds;
  result.memory_fraction = result.gigabytes / limits.memory_gigabytes;
  return result;
}

}  // namespace

StepProfile profile_steps(models::ModelConfig config, Index batch_size, const ProfileOptions& options,
                          const cli::Arguments& arguments) {
  if (config->vocab_size == 0) config->vocab_size = 256;
  const auto seed = static_cast<std::uint64_t>(arguments.common().seed);
  const auto model = models::make_model(config, seed);
  const data::TokensInMemory tokens = random_tokens(config, batch_size, seed);
  training::TrainingConfig training;
  training.training.batch_size = batch_size;
  training.training.precision = choose_precision(options.precision, arguments);
  const auto objective =
      training::make_objective("auto", {.model = *model, .train = tokens, .masking = {}, .config = training});
  training::Trainer trainer(*objective, training);
  StepProfile result;
  result.precision = to_text(trainer.precision());
  result.matmul_gflops = 1e-9 * measure_matmul_rate(trainer.precision());
  result.memory_gigabytes = 1e-9 * measure_memory_rate();
  const Measured measured = run_steps(trainer);
  result.milliseconds = 1e3 * measured.seconds / static_cast<double>(measured.steps);
  result.tokens_per_second = 1e3 * static_cast<double>(batch_size * config->training_length()) / result.milliseconds;
  double rest = result.milliseconds;
  for (const Profile::Entry& entry : measured.entries) {
    result.operations.push_back(summed_up(entry, measured, result));
    rest -= result.operations.back().milliseconds;
  }
  result.operations.push_back({"other", 1, rest, rest / result.milliseconds});
  return result;
}

std::string profile_table(const StepProfile& profile) {
  std::ostringstream out;
  const auto number = [&](double value, int width, int digits) {
    out << std::fixed << std::setw(width) << std::setprecision(digits) << value;
  };
  out << std::fixed << std::setprecision(1) << "a step takes " << profile.milliseconds << " ms in " << profile.precision
      << ", " << std::setprecision(0) << profile.tokens_per_second
      << " tokens/s; limits measured just before: " << profile.matmul_gflops << " GFLOP/s in products, "
      << std::setprecision(1) << profile.memory_gigabytes << " GB/s of memory\n\n"
      << "operation                       calls       ms  share  GFLOP/s of limit    GB/s of limit\n";
  for (const OperationProfile& row : profile.operations) {
    out << std::left << std::setw(32) << row.operation << std::right;
    number(row.calls, 5, 0);
    number(row.milliseconds, 9, 2);
    number(100 * row.share, 6, 1);
    out << "%";
    number(row.gflops, 9, 0);
    number(row.matmul_fraction, 9, 2);
    number(row.gigabytes, 8, 1);
    number(row.memory_fraction, 9, 2);
    out << "\n";
  }
  return out.str();
}

std::string profile_json(const StepProfile& profile) {
  nlohmann::ordered_json json{{"precision", profile.precision},
                              {"tokens_per_second", profile.tokens_per_second},
                              {"milliseconds", profile.milliseconds},
                              {"matmul_gflops", profile.matmul_gflops},
                              {"memory_gigabytes", profile.memory_gigabytes}};
  for (const OperationProfile& row : profile.operations) json["operations"].push_back(formats::to_json(row));
  return json_line(json) + "\n";
}

}  // namespace heddle

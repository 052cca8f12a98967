// inspect profile: the time of each operation of each part of the model in a training step.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iostream>

#include "formats/archives/json_archive.hpp"
#include "formats/heddle/load_model.hpp"
#include "libcore/base/printable.hpp"
#include "libcore/models/presets.hpp"
#include "libcore/tensor/limits.hpp"
#include "libcore/tensor/precision.hpp"
#include "libcore/tensor/profile.hpp"
#include "libcore/training/objectives.hpp"
#include "libcore/training/trainer.hpp"
#include "tools/cli/choose_precision.hpp"
#include "tools/inspect/json_answer.hpp"
#include "tools/inspect/verbs.hpp"

namespace heddle {

namespace {

struct ProfileOptions {
  std::string preset;
  Index batch_size = 8;
  PrecisionChoice precision = PrecisionChoice::f32;
  bool json = false;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("preset", "a built-in configuration instead of a model")
                .not_empty()
                .one_of(models::preset_names())
                .takes("NAME")
                .essential(),
            self.preset);
    visitor(Field("batch_size", "sequences per step").range(1, 1 << 20).essential(), self.batch_size);
    visitor(Field("precision", "arithmetic of the steps").takes("NAME").essential(), self.precision);
    visitor(Field("json", "print one JSON object").essential(), self.json);
  }
};

// One operation of a part of the model, forward or backward, in one step.
struct OperationProfile {
  std::string part, operation;
  double calls = 0, milliseconds = 0, time_fraction = 0;
  double gflops = 0, matmul_fraction = 0;
  double gigabytes = 0, memory_fraction = 0;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("part", "part of the model; empty for none"), self.part);
    visitor(Field("operation", "name of the operation"), self.operation);
    visitor(Field("calls", "calls per step"), self.calls);
    visitor(Field("milliseconds", "time per step"), self.milliseconds);
    visitor(Field("time_fraction", "fraction of the step's time"), self.time_fraction);
    visitor(Field("gflops", "GFLOP/s of matrix products"), self.gflops);
    visitor(Field("matmul_fraction", "fraction of the rate of matrix products alone"), self.matmul_fraction);
    visitor(Field("gigabytes", "GB/s, reading inputs and writing results once"), self.gigabytes);
    visitor(Field("memory_fraction", "fraction of the memory bandwidth"), self.memory_fraction);
  }
};

struct StepProfile {
  std::string precision;
  double tokens_per_second = 0, milliseconds = 0, matmul_gflops = 0, memory_gigabytes = 0;
  std::vector<OperationProfile> operations;  // by decreasing time; the rest of the step is "other"
};

constexpr double least_seconds = 2;
constexpr Index least_steps = 3;

data::TokensInMemory random_tokens(const models::ModelConfig& config, Index batch_size, std::uint64_t seed) {
  std::vector<TokenId> ids(static_cast<std::size_t>(4 * batch_size * (config.tokens().training_length() + 1)));
  const RandomStream stream(seed, random_site("inspect/profile"));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    ids[i] = static_cast<TokenId>(stream.below(i, static_cast<std::uint64_t>(config.tokens().vocab_size)));
  }
  return {std::move(ids), config.tokens().vocab_size};
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
  OperationProfile result{entry.part, entry.name + (entry.backward ? " backward" : ""),
                          static_cast<double>(entry.calls) / steps, 1e3 * entry.seconds / steps,
                          entry.seconds / measured.seconds};
  if (entry.seconds <= 0) return result;
  result.gflops = 1e-9 * entry.flops / entry.seconds;
  result.matmul_fraction = result.gflops / limits.matmul_gflops;
  result.gigabytes = 1e-9 * entry.bytes / entry.seconds;
  result.memory_fraction = result.gigabytes / limits.memory_gigabytes;
  return result;
}

// Trains a model with random weights for some steps, on all threads.
StepProfile profile_steps(models::ModelConfig config, const ProfileOptions& options, const cli::Arguments& arguments) {
  const Index batch_size = options.batch_size;
  if (config.tokens().vocab_size == 0) config.tokens().vocab_size = 256;
  const auto seed = static_cast<std::uint64_t>(arguments.common().seed);
  const auto model = models::make_model(config, seed);
  const data::TokensInMemory tokens = random_tokens(config, batch_size, seed);
  training::TrainingConfig training;
  training.training.batch_size = batch_size;
  training.training.precision = choose_precision(options.precision, arguments);
  const auto objective = training::make_objective(training::objective_for(*model, training::DataKind::text),
                                                  {.model = *model, .train = {.text = &tokens}, .config = training});
  training::Trainer trainer(*objective, training);
  StepProfile result;
  result.precision = to_text(trainer.precision());
  result.matmul_gflops = 1e-9 * measure_matmul_rate(trainer.precision());
  result.memory_gigabytes = 1e-9 * measure_memory_rate();
  const Measured measured = run_steps(trainer);
  result.milliseconds = 1e3 * measured.seconds / static_cast<double>(measured.steps);
  result.tokens_per_second =
      1e3 * static_cast<double>(batch_size * config.tokens().training_length()) / result.milliseconds;
  double rest = result.milliseconds;
  for (const Profile::Entry& entry : measured.entries) {
    result.operations.push_back(summed_up(entry, measured, result));
    rest -= result.operations.back().milliseconds;
  }
  result.operations.push_back({"", "other", 1, rest, rest / result.milliseconds});
  return result;
}

std::string profile_table(const StepProfile& profile) {
  std::string text = fmt::format(
      "time per step: {:.1f} ms in {}, {:.0f} tokens/s; limits measured just before: {:.0f} GFLOP/s in matrix "
      "products, "
      "{:.1f} GB/s of memory bandwidth\n\n"
      "part: operation                              calls       ms % time  GFLOP/s of limit    GB/s of limit\n",
      profile.milliseconds, profile.precision, profile.tokens_per_second, profile.matmul_gflops,
      profile.memory_gigabytes);
  for (const OperationProfile& row : profile.operations) {
    const std::string name = row.part.empty() ? row.operation : row.part + ": " + row.operation;
    text += fmt::format("{:<44}{:6.0f}{:9.2f}{:6.1f}%{:9.0f}{:9.2f}{:8.1f}{:9.2f}\n", name, row.calls, row.milliseconds,
                        100 * row.time_fraction, row.gflops, row.matmul_fraction, row.gigabytes, row.memory_fraction);
  }
  return text;
}

formats::Json profile_json(const StepProfile& profile) {
  formats::Json json{{"precision", profile.precision},
                     {"tokens_per_second", profile.tokens_per_second},
                     {"milliseconds", profile.milliseconds},
                     {"matmul_gflops", profile.matmul_gflops},
                     {"memory_gigabytes", profile.memory_gigabytes}};
  for (const OperationProfile& row : profile.operations) json["operations"].push_back(formats::to_json(row));
  return json;
}

void profile(const cli::Arguments& arguments, const ProfileOptions& options) {
  const std::string path = arguments.operand("MODEL");
  check<UsageError>(path.empty() != options.preset.empty(),
                    "give one MODEL, or --preset NAME (inspect profile --help shows the usage)");
  const models::ModelConfig config =
      options.preset.empty() ? formats::checked_config(formats::ModelFile(path)) : models::preset(options.preset);
  const StepProfile result = profile_steps(config, options, arguments);
  std::cout << (options.json ? dump(profile_json(result)) : printable_lines(profile_table(result)));
}

}  // namespace

cli::Verb verbs::profile() {
  return cli::make_verb<ProfileOptions>(
      {.summary = "Runs some training steps and prints the time of each operation.",
       .synopsis = {"MODEL [--precision bf16] [--batch-size N] [--json]", "--preset NAME [--precision bf16] [--json]"},
       .operands = {{"MODEL", "a model file, of which only the configuration is used", 0, 1}}},
      heddle::profile);
}

}  // namespace heddle

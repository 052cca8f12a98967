#include "pretrain_dry_run.hpp"

#include <unistd.h>

#include <fstream>
#include <iomanip>
#include <iostream>
#include <memory>
#include <optional>

#include "heddle/formats/json_archive.hpp"
#include "heddle/tensor/limits.hpp"
#include "heddle/tensor/matmul.hpp"
#include "heddle/tensor/threads.hpp"
#include "make_objective.hpp"
#include "training_files.hpp"

namespace heddle {

namespace {

double resident_bytes() {
  std::ifstream status("/proc/self/statm");
  double pages = 0, resident = 0;
  status >> pages >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

struct Tokens {
  std::unique_ptr<TrainingFiles> files;  // or, without any,
  std::unique_ptr<data::TokensInMemory> memory;
  std::optional<text::Tokenizer> tokenizer = {};

  const data::TokenSource& source() const { return files ? files->tokens() : *memory; }
};

Tokens token_source(const PretrainOptions& options) {
  if (!options.train.empty()) {
    auto files = std::make_unique<TrainingFiles>(options.train);
    text::Tokenizer tokenizer = files->first().tokenizer();
    return {std::move(files), nullptr, std::move(tokenizer)};
  }
  const Index vocab = options.model.vocab_size;
  check<UsageError>(vocab > 0, "a dry run without --train needs --vocab-size");
  std::vector<TokenId> ids(static_cast<std::size_t>(2 * options.model.context));
  return {nullptr, std::make_unique<data::TokensInMemory>(std::move(ids), vocab)};
}

// Runs steps in a simulation; returns what the second one adds up to.
void simulate(const PretrainOptions& options, const Tokens& tokens, Estimate& result) {
  models::ModelConfig config = options.model;
  if (config.vocab_size == 0) config.vocab_size = tokens.source().vocab_size();
  const Simulation simulation;
  const auto model = models::make_model(config, 0);
  const training::Plan plan = options.setup.plan(0);
  const auto objective = make_objective(
      *model, {tokens.source(), nullptr, tokens.tokenizer ? &*tokens.tokenizer : nullptr}, options.setup.masking, plan);
  training::Trainer trainer(*objective, plan);
  trainer.step();
  const double before = matmul_flops();
  trainer.step();
  result.parameters = model->parameters().count();
  result.flops_per_step = matmul_flops() - before;
  result.memory_bytes += static_cast<double>(pool().statistics().bytes_from_system);
  result.steps = trainer.total_steps();
}

}  // namespace

Estimate estimate(const PretrainOptions& options) {
  Estimate result;
  const auto tokens = token_source(options);
  const double matmul_rate = measure_matmul_rate();
  result.memory_bytes = resident_bytes();
  simulate(options, tokens, result);
  // The optimizer and the norm of the gradient read and write 32 bytes a parameter; activations are read and written a
  // few times for each matrix product, which costs about a quarter of the products' time.
  result.seconds_per_step = 1.25 * result.flops_per_step / matmul_rate +
                            32.0 * static_cast<double>(result.parameters) / measure_memory_rate();
  return result;
}

void dry_run(const PretrainOptions& options) {
  const Estimate result = estimate(options);
  if (options.json) {
    std::cout << formats::to_json(result).dump() << "\n";
    return;
  }
  const double seconds = result.seconds_per_step * static_cast<double>(result.steps);
  std::cout << std::fixed << std::setprecision(2) << "parameters        " << grouped(result.parameters) << "\n"
            << "memory            " << result.memory_bytes * 0x1p-30 << " GiB\n"
            << "arithmetic        " << result.flops_per_step * 1e-9 << " GFLOP a step\n"
            << "time              about " << result.seconds_per_step << " s a step, " << seconds / 3600
            << " h for " << grouped(result.steps) << " steps\n";
}

}  // namespace heddle

#include "pretrain_dry_run.hpp"

#include <unistd.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <memory>
#include <optional>

#include "heddle/formats/json_archive.hpp"
#include "heddle/tensor/limits.hpp"
#include "heddle/tensor/matmul.hpp"
#include "heddle/tensor/processors.hpp"
#include "heddle/tensor/threads.hpp"
#include "make_objective.hpp"
#include "training_files.hpp"
#include "write_rate.hpp"

namespace heddle {

namespace {

using Clock = std::chrono::steady_clock;

// Steps that would take longer are not worth the wait.
constexpr double most_seconds_to_measure = 20;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

double resident_bytes() {
  std::ifstream status("/proc/self/statm");
  double pages = 0, resident = 0;
  status >> pages >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

// What there is to train on and to evaluate; or, for a shape alone, tokens that mean nothing.
struct Tokens {
  std::unique_ptr<TrainingFiles> files;
  std::unique_ptr<formats::TokenFile> valid_file;
  std::unique_ptr<data::TokensInMemory> memory;
  std::optional<text::Tokenizer> tokenizer = {};

  const data::TokenSource& train() const { return files ? files->tokens() : *memory; }
};

Tokens tokens_of(const PretrainOptions& options) {
  Tokens tokens;
  if (!options.train.empty()) {
    tokens.files = std::make_unique<TrainingFiles>(options.train);
    tokens.tokenizer = tokens.files->first().tokenizer();
    if (!options.valid.empty()) tokens.valid_file = std::make_unique<formats::TokenFile>(options.valid);
    return tokens;
  }
  const Index vocab = options.model.vocab_size;
  check<UsageError>(vocab > 0, "a dry run without --train needs --vocab-size");
  std::vector<TokenId> ids(static_cast<std::size_t>(2 * options.model.context));
  tokens.memory = std::make_unique<data::TokensInMemory>(std::move(ids), vocab);
  return tokens;
}

// A training as the options want it, of which an evaluation takes one batch.
class Trial {
 public:
  Trial(const PretrainOptions& options, const Tokens& tokens) {
    models::ModelConfig config = options.model;
    if (config.vocab_size == 0) config.vocab_size = tokens.train().vocab_size();
    model_ = models::make_model(config, 0);
    plan_ = options.setup.plan(0);
    plan_.schedule.learning_rate = 1e-12;  // a few steps must not diverge, whatever the rate is to be
    plan_.schedule.final_learning_rate = -1;
    plan_.training.eval_tokens = plan_.training.batch_size * config.context;
    objective_ = make_objective(
        *model_, {tokens.train(), tokens.valid_file.get(), tokens.tokenizer ? &*tokens.tokenizer : nullptr},
        options.setup.masking, plan_);
    trainer_.emplace(*objective_, plan_);
  }

  training::Trainer& trainer() { return *trainer_; }
  const Parameters& parameters() const { return model_->parameters(); }
  bool can_evaluate() const { return objective_->can_evaluate(); }
  void evaluate() const { (void)objective_->evaluate([] { return false; }); }

 private:
  std::unique_ptr<models::Model> model_;
  training::Plan plan_;
  std::unique_ptr<training::Objective> objective_;
  std::optional<training::Trainer> trainer_;
};

// Runs steps in a simulation, which allocates nothing.
void simulate(const PretrainOptions& options, const Tokens& tokens, Estimate& result) {
  const Simulation simulation;
  Trial trial(options, tokens);
  trial.trainer().step();
  const double before = matmul_flops();
  trial.trainer().step();
  result.flops_per_step = matmul_flops() - before;
  if (trial.can_evaluate()) trial.evaluate();
  result.parameters = trial.parameters().count();
  result.steps = trial.trainer().total_steps();
  MemoryEstimate& memory = result.memory;
  memory.weights = memory.gradients = static_cast<double>(result.parameters) * sizeof(Real);
  for (const training::OptimizerMoment& moment : trial.trainer().moments()) {
    (moment.name.starts_with("trained/") ? memory.average : memory.optimizer) += static_cast<double>(moment.value.bytes());
  }
  memory.activations = static_cast<double>(pool().statistics().bytes_from_system) - memory.weights - memory.gradients -
                       memory.optimizer - memory.average;
}

// Does steps, and an evaluation where there is one; returns the seconds of an evaluation.
double measure(const PretrainOptions& options, const Tokens& tokens, Estimate& result) {
  Trial trial(options, tokens);
  trial.trainer().step();
  double fastest = 0;
  const auto begin = Clock::now();
  for (int i = 0; i < 20 && (i < 3 || seconds_since(begin) < 1); ++i) {
    const auto start = Clock::now();
    trial.trainer().step();
    fastest += seconds_since(start);
    result.seconds_per_step = fastest / (i + 1);
  }
  result.measured = true;
  if (!trial.can_evaluate()) return 0;
  trial.evaluate();
  const auto start = Clock::now();
  trial.evaluate();
  return seconds_since(start);
}

// Of all evaluations, from the time of one batch.
double evaluation_seconds(const PretrainOptions& options, const Tokens& tokens, Index steps, double seconds_of_batch) {
  const training::TrainingOptions& training = options.setup.training;
  const Index all = tokens.valid_file->size();
  const Index read = training.eval_tokens > 0 ? std::min(all, training.eval_tokens) : all;
  const double batches = static_cast<double>(read) / static_cast<double>(training.batch_size * options.model.context);
  const Index every = training.eval_every > 0 ? training.eval_every : steps;
  return std::ceil(static_cast<double>(steps) / static_cast<double>(every)) * batches * seconds_of_batch;
}

void add_disk(const PretrainOptions& options, Estimate& result) {
  constexpr double files_own_part = 64 << 10;  // configuration, tokenizer, history
  const MemoryEstimate& memory = result.memory;
  const double weights = memory.weights + files_own_part;
  result.checkpoint_bytes = weights + memory.optimizer + memory.average;
  const auto kept = static_cast<double>(2 + options.control.keep);
  result.disk_bytes = kept * result.checkpoint_bytes + (options.valid.empty() ? 0 : weights);
}

double checkpoint_seconds(const PretrainOptions& options, const Estimate& result) {
  const Index every = options.setup.training.checkpoint_every;
  const double checkpoints = every > 0 ? std::ceil(static_cast<double>(result.steps) / static_cast<double>(every)) : 1;
  return checkpoints * result.checkpoint_bytes / measure_write_rate(folder_of(options.output));
}

// "1:30:00", at least five minutes and rounded up to whole ones.
std::string slurm_time(double seconds) {
  const Index minutes = std::max<Index>(5, static_cast<Index>(std::ceil(seconds / 60)));
  std::ostringstream text;
  text << minutes / 60 << ":" << std::setw(2) << std::setfill('0') << minutes % 60 << ":00";
  return text.str();
}

void print_memory(const Estimate& result) {
  const MemoryEstimate& memory = result.memory;
  std::cout << "memory            " << result.memory_bytes * 0x1p-30 << " GiB\n";
  for (const auto& [name, bytes] : std::vector<std::pair<const char*, double>>{{"weights", memory.weights},
                                                                               {"gradients", memory.gradients},
                                                                               {"optimizer", memory.optimizer},
                                                                               {"average", memory.average},
                                                                               {"activations", memory.activations},
                                                                               {"program", memory.program}}) {
    if (bytes > 0) std::cout << "  " << std::left << std::setw(16) << name << bytes * 0x1p-30 << " GiB\n";
  }
}

void print(const Estimate& result, Index threads) {
  std::cout << std::fixed << std::setprecision(2) << "parameters        " << grouped(result.parameters) << "\n";
  print_memory(result);
  std::cout << "arithmetic        " << result.flops_per_step * 1e-9 << " GFLOP a step\n"
            << "time              " << std::setprecision(3) << result.seconds_per_step << " s a step, "
            << (result.measured ? "measured" : "estimated from the machine's rates") << "; " << std::setprecision(2)
            << result.seconds / 3600 << " h for " << grouped(result.steps) << " steps\n"
            << "disk              " << result.disk_bytes * 0x1p-30 << " GiB, a checkpoint "
            << result.checkpoint_bytes * 0x1p-30 << " GiB\n"
            << "#SBATCH --cpus-per-task=" << threads << " --mem="
            << static_cast<Index>(std::ceil(result.memory_bytes * 1.15 / (100 << 20))) * 100
            << "M --time=" << slurm_time(1.25 * result.seconds) << " --signal=TERM@60\n";
}

}  // namespace

Estimate estimate(const PretrainOptions& options) {
  Estimate result;
  const Tokens tokens = tokens_of(options);
  const double matmul_rate = measure_matmul_rate();
  result.memory.program = resident_bytes();
  simulate(options, tokens, result);
  result.memory_bytes = result.memory.total();
  // Activations are read and written a few times for each matrix product, which costs about a quarter of its time.
  const double arithmetic_seconds = 1.25 * result.flops_per_step / matmul_rate;
  double evaluation = arithmetic_seconds / 3 / static_cast<double>(options.setup.training.accumulate);
  const bool fits = result.memory_bytes < 0.8 * available_memory();
  if (fits && 5 * arithmetic_seconds < most_seconds_to_measure) {
    evaluation = measure(options, tokens, result);
  } else {
    // The optimizer and the norm of the gradient read and write 32 bytes a parameter.
    result.seconds_per_step =
        arithmetic_seconds + 32.0 * static_cast<double>(result.parameters) / measure_memory_rate();
  }
  add_disk(options, result);
  result.seconds = static_cast<double>(result.steps) * result.seconds_per_step + checkpoint_seconds(options, result);
  if (tokens.valid_file) result.seconds += evaluation_seconds(options, tokens, result.steps, evaluation);
  return result;
}

void dry_run(const PretrainOptions& options, const cli::Arguments& arguments) {
  const Estimate result = estimate(options);
  if (options.json) {
    std::cout << formats::to_json(result).dump() << "\n";
  } else {
    print(result, arguments.common().threads);
  }
}

}  // namespace heddle

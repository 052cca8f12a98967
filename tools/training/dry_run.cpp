#include "tools/training/dry_run.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <iostream>
#include <map>

#include "formats/archives/json_archive.hpp"
#include "libcore/nn/parts.hpp"
#include "libcore/parallel/tree.hpp"
#include "libcore/tensor/context.hpp"
#include "libcore/tensor/limits.hpp"
#include "libcore/tensor/matmul.hpp"
#include "libcore/tensor/pool.hpp"
#include "libcore/tensor/processors.hpp"
#include "libcore/training/gradient_exchange.hpp"
#include "libcore/training/owners.hpp"
#include "tools/lines/json_line.hpp"
#include "tools/training/write_rate.hpp"

namespace heddle {

namespace {

using Clock = std::chrono::steady_clock;

// Later memory of a run besides tensors: the matrices of the rate that logs state, code and tables of libraries, and
// the allocator. 13 to 26 MB were measured in pre-training; in fine-tuning, blocks of varying shapes are not full.
constexpr double later = 18 << 20;

// Longer steps are estimated instead of measured.
constexpr double most_seconds_to_measure = 20;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double resident_bytes() {
  std::ifstream status("/proc/self/statm");
  double pages = 0, resident = 0;
  status >> pages >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

double bytes_of_pool() {
  return static_cast<double>(pool().statistics().bytes_from_system);
}

// The trial with its own trainer.
struct Begun {
  Trial trial;
  training::Trainer trainer;

  Begun(const DryRun& run, const training::TrainingConfig& config)
      : trial(run.begin(config)), trainer(*trial.objective, config) {}

  const Parameters& parameters() const { return trial.objective->parameters(); }
  bool can_evaluate() const { return trial.objective->can_evaluate(); }
  void evaluate() const {
    const PrecisionScope scope(trainer.precision());
    (void)trial.objective->evaluate({});
  }
};

// A few steps must not diverge, whatever the learning rate.
training::TrainingConfig harmless(training::TrainingConfig config) {
  config.training.learning_rate = 1e-12;
  return config;
}

class PlannedRank final : public parallel::Group {
 public:
  explicit PlannedRank(int ranks) : Group(0, ranks) {}
  std::unique_ptr<parallel::Pending> begin(std::span<const parallel::Outgoing>,
                                           std::span<const parallel::Incoming>) const override {
    return nullptr;
  }
  void abort(int) const override {}
};

// The ranks that share each copy of the model, and the copies.
Index sharing_ranks(const DryRun& run) {
  return run.sharing == nullptr ? 1 : run.sharing->group().size();
}
Index copies_of(const DryRun& run) {
  return run.ranks.ranks / sharing_ranks(run);
}

// Bytes of the optimizer's state on the rank that has most of it.
double state_of_largest_rank(const Parameters& parameters, const std::vector<training::StateTensor>& state,
                             Index ranks) {
  std::map<std::string, double> bytes;  // bytes of each parameter
  for (const training::StateTensor& tensor : state) {
    bytes[tensor.name.substr(tensor.name.find('/') + 1)] += static_cast<double>(tensor.value.bytes());
  }
  const PlannedRank first(static_cast<int>(ranks));
  const training::Owners owners(parameters, first);
  std::vector<double> held(static_cast<std::size_t>(ranks), 0);
  double everywhere = 0;
  for (const training::Trained& of : owners.trained()) {
    double& sum = of.owner == training::everyone ? everywhere : held[static_cast<std::size_t>(of.owner)];
    for (const Parameter* parameter : of.parameters) sum += bytes[parameter->name];
  }
  return everywhere + *std::ranges::max_element(held);
}

// The fraction of the trained numbers that are in tables.
double part_of_tables(const Parameters& parameters) {
  double tables = 0;
  const training::Owners owners(parameters, parallel::alone());
  for (const training::Trained& of : owners.trained()) {
    if (training::has_table(of)) tables += static_cast<double>(of.size());
  }
  return tables / static_cast<double>(parameters.trained_count());
}

// Bytes of the states of a unit that ranks sum where they share the model: what a layer with divided inputs writes, and
// in the backward pass what those before it read.
double summed_bytes_of_unit(const Parameters& parameters, const nn::ModelRanks& sharing) {
  double bytes = 0;
  for (const Parameter& parameter : parameters.all()) {
    const nn::PartOfWhole* const part = sharing.part_of(parameter.name);
    if (part == nullptr || part->dimension != 1) continue;
    bytes += 2.0 * static_cast<double>(sizeof(Real)) * static_cast<double>(parameter.value().shape()[0]);
  }
  return bytes;
}

// Simulates steps, without allocating memory. Returns the number of steps between evaluations.
Index simulate(const DryRun& run, Estimate& result) {
  const Simulation simulation;
  Begun begun(run, run.config);
  begun.trainer.step();
  const double before = matmul_flops(), units_before = static_cast<double>(begun.trainer.state().units);
  const Index steps = std::min(run.steps_to_simulate, std::max<Index>(1, begun.trainer.total_steps() - 1));
  for (Index i = 0; i < steps; ++i) begun.trainer.step();
  result.flops_per_step = (matmul_flops() - before) / static_cast<double>(steps);
  if (run.sharing != nullptr) {
    const double units = static_cast<double>(begun.trainer.state().units) - units_before;
    result.summed_bytes = summed_bytes_of_unit(begun.parameters(), *run.sharing) * units / static_cast<double>(steps);
  }
  if (begun.can_evaluate() && run.simulates_evaluation) begun.evaluate();
  result.parameters = result.own_parameters = begun.parameters().trained_count();
  if (run.sharing != nullptr) {
    const auto is_trained = [](const Parameter& parameter) { return parameter.is_trained(); };
    result.parameters = run.sharing->count(begun.parameters().only(is_trained));
  }
  result.steps = std::max<Index>(0, begun.trainer.total_steps() - run.steps_done);
  MemoryEstimate& memory = result.memory;
  memory.weights = static_cast<double>(begun.parameters().count()) * sizeof(Real);
  memory.gradients = static_cast<double>(result.own_parameters) * sizeof(Real);
  for (const training::StateTensor& tensor : begun.trainer.tensors()) {
    const bool is_of_objective = tensor.name.starts_with("objective/");
    (is_of_objective                       ? result.objective_bytes
     : tensor.name.starts_with("trained/") ? memory.average
                                           : memory.optimizer) += static_cast<double>(tensor.value.bytes());
  }
  memory.problems = begun.trial.objective->bytes_of_problems();
  memory.activations = bytes_of_pool() - memory.weights - memory.gradients - memory.optimizer - memory.average;
  // Less waits where a micro-batch uses few rows of a table.
  const Index sums = parallel::most_waiting(run.config.training.accumulate);
  memory.waiting = std::min(static_cast<double>(sums) * memory.gradients, memory.activations);
  memory.activations -= memory.waiting;
  result.optimizer_bytes = memory.optimizer;
  if (run.ranks.is_given()) {
    result.late_part = part_of_tables(begun.parameters());
    memory.optimizer = state_of_largest_rank(begun.parameters(), begun.trainer.tensors(), copies_of(run));
  }
  return begun.trainer.evaluation_interval();
}

// Throws as the run does.
void check_shared(const DryRun& run, const Parameters& parameters) {
  const Index sharing = sharing_ranks(run);
  if (sharing == 1) return;
  check<UsageError>(run.ranks.ranks % sharing == 0, "--tensor-parallel ", sharing, " does not divide the ",
                    run.ranks.ranks, " ranks of --ranks; plan for a multiple of ", sharing);
  check<UsageError>(run.ranks.per_node % sharing == 0, "--tensor-parallel ", sharing, ": ranks that share a model are ",
                    "on one node; give --ranks per-node=", sharing, " or a multiple of it");
  training::check_suits_parts(run.config.optimizer, sharing);
  run.sharing->check_divides(parameters);
}

// Makes the run that of one of its ranks, with the steps of the whole run. Throws as the run does.
void become_one_rank(DryRun& run) {
  if (!run.ranks.is_given()) return;
  const Simulation simulation;
  const Trial trial = run.begin(run.config);
  check_shared(run, trial.objective->parameters());
  const PlannedRank first(static_cast<int>(copies_of(run)));
  const training::Trainer whole(*trial.objective, run.config, first);
  training::TrainingOptions& options = run.config.training;
  options.steps = whole.total_steps();
  options.epochs = 0;
  options.eval_every = whole.evaluation_interval();
  options.accumulate /= copies_of(run);
}

// Adds what ranks need besides what one process does.
void add_ranks(const DryRun& run, Estimate& result) {
  const Index own = run.config.training.accumulate;
  const Index copies = copies_of(run), sharing = sharing_ranks(run);
  const HeldSums held = held_sums(own * copies, copies);
  MemoryEstimate& memory = result.memory;
  const double under_way = static_cast<double>(sizeof(Real)) * training::most_in_round * training::most_under_way;
  memory.waiting += static_cast<double>(held.waiting - parallel::most_waiting(own)) * memory.gradients;
  if (copies > 1) memory.waiting += static_cast<double>(held.nodes) * std::min(under_way, memory.gradients);
  if (run.config.optimizer->exchange == Precision::bf16) {  // updates that are sent
    memory.waiting += memory.gradients / sizeof(Real) * sizeof(BFloat16) / static_cast<double>(copies);
  }
  result.scaling = scaling_estimate(run.ranks,
                                    {.micro_batches = own,
                                     .seconds = result.seconds_per_step,
                                     .gradient_bytes = memory.gradients,
                                     .exchanged = run.config.optimizer->exchange,
                                     .memory_rate = measure_memory_rate(),
                                     .nodes_held = held.nodes,
                                     .late = result.late_part,
                                     .sharing = sharing,
                                     .summed_bytes = result.summed_bytes},
                                    run.network);
  result.seconds_per_step = result.scaling.time.seconds;
}

// Times steps and, if the run evaluates, an evaluation; returns the seconds of an evaluation.
double measure(const DryRun& run, Estimate& result) {
  Begun begun(run, run.config);
  begun.trainer.step();
  double seconds = 0;
  const auto begin = Clock::now();
  for (int i = 0; i < 20 && (i < 3 || seconds_since(begin) < 1); ++i) {
    const auto start = Clock::now();
    begun.trainer.step();
    seconds += seconds_since(start);
    result.seconds_per_step = seconds / (i + 1);
  }
  result.measured = true;
  if (!begun.can_evaluate()) return 0;
  const double before = bytes_of_pool();
  begun.evaluate();
  if (!run.simulates_evaluation) result.memory.activations += bytes_of_pool() - before;
  const auto start = Clock::now();
  begun.evaluate();
  return seconds_since(start);
}

double times(Index steps, Index every) {
  return std::ceil(static_cast<double>(steps) / static_cast<double>(every));
}

void add_disk(const DryRun& run, Estimate& result) {
  constexpr double files_own_part = 64 << 10;  // configuration, tokenizer, history
  const MemoryEstimate& memory = result.memory;
  // Files have all parts of a model that ranks share.
  const double parts =
      run.sharing == nullptr ? 1 : static_cast<double>(result.parameters) / static_cast<double>(result.own_parameters);
  const double weights = parts * (run.saves_what_is_trained ? memory.gradients : memory.weights) + files_own_part;
  result.checkpoint_bytes = weights + parts * (result.optimizer_bytes + memory.average) + result.objective_bytes;
  // The previous checkpoint stays until the next one is written.
  const Index kept = run.control.keep, best = run.keeps_best ? 2 + kept : 0;
  result.disk_bytes = static_cast<double>(2 + kept) * result.checkpoint_bytes + static_cast<double>(best) * weights;
}

// The number of checkpoints in the steps of the result.
double checkpoints(const DryRun& run, const Estimate& result) {
  const auto [every, seconds] = run.control.checkpoint_every;
  if (every > 0) return times(result.steps, every);
  const double all = static_cast<double>(result.steps) * result.seconds_per_step;
  return seconds > 0 ? std::ceil(all / seconds) : 1;
}

// "1:30:00", at least five minutes and rounded up to whole ones.
std::string slurm_time(double seconds) {
  const Index minutes = std::max<Index>(5, static_cast<Index>(std::ceil(seconds / 60)));
  return fmt::format("{}:{:02}:00", minutes / 60, minutes % 60);
}

// "1.25 GiB", "12.5 MiB": three significant digits.
std::string quantity(double value, std::initializer_list<std::pair<double, const char*>> units) {
  const std::pair<double, const char*>* unit = units.begin();
  while (unit + 1 != units.end() && value < unit->first) ++unit;
  const double shown = value / unit->first;
  return fmt::format("{:.{}f} {}", shown, shown < 9.995 ? 2 : shown < 99.95 ? 1 : 0, unit->second);
}

std::string memory_text(double bytes) {
  return quantity(bytes, {{0x1p30, "GiB"}, {0x1p20, "MiB"}, {0x1p10, "KiB"}});
}

std::string time_text(double seconds) {
  return quantity(seconds, {{3600, "h"}, {60, "min"}, {1, "s"}, {1e-3, "ms"}, {1e-6, "us"}});
}

// ", 2 numbers for each that is trained"
std::string numbers_per_parameter(double bytes, Index parameters) {
  if (parameters == 0) return "";
  return fmt::format(", {:.3g} numbers for each that is trained",
                     bytes / static_cast<double>(sizeof(Real)) / static_cast<double>(parameters));
}

void print_memory(const Estimate& result, const char* of_rank) {
  const MemoryEstimate& memory = result.memory;
  std::cout << "memory            " << memory_text(result.memory_bytes) << of_rank << "\n";
  struct Line {
    const char* name;
    double bytes;
    std::string note = "";
  };
  for (const Line& line : std::vector<Line>{
           {"weights", memory.weights},
           {"gradients", memory.gradients},
           {"waiting", memory.waiting, ", gradients of micro-batches to be added to others"},
           {"optimizer", memory.optimizer, numbers_per_parameter(memory.optimizer, result.own_parameters)},
           {"average", memory.average},
           {"activations", memory.activations},
           {"problems", memory.problems},
           {"program", memory.program}}) {
    if (line.bytes > 0) std::cout << fmt::format("  {:<16}{}{}\n", line.name, memory_text(line.bytes), line.note);
  }
}

// The time that a job needs; with --max-time, the time until the run stops, which is after at least one step.
double job_seconds(const Estimate& result, const RunControl& control) {
  const double all = 1.25 * result.seconds, most = control.max_time.seconds;
  return most == 0 ? all : std::min(all, most + 60 + 2 * result.seconds_per_step + 2 * result.seconds_to_save);
}

std::string rate_text(double bytes_per_second) {
  return quantity(8 * bytes_per_second, {{1e9, "Gb/s"}, {1e6, "Mb/s"}, {1e3, "kb/s"}});
}

std::string sharing_line(const ScalingEstimate& scaling) {
  if (scaling.sharing == 1) return "";
  return fmt::format("shared by         {} ranks each copy of the model: {} summed per step, {}\n", scaling.sharing,
                     memory_text(scaling.summed_bytes), time_text(scaling.seconds_of_sums));
}

void print_scaling(const ScalingEstimate& scaling) {
  const StepTime& time = scaling.time;
  std::cout << fmt::format("ranks             {} on {}, {} each in a step\n", scaling.ranks,
                           counted(scaling.nodes, "node", "nodes"),
                           counted(scaling.micro_batches, "micro-batch", "micro-batches"))
            << sharing_line(scaling)
            << fmt::format("exchange          {} per step, {}: {}, of which {} make the step longer\n",
                           memory_text(scaling.exchanged_bytes), how_ranks_exchange(), time_text(time.exchange),
                           time_text(time.exposed))
            << fmt::format("network           latency {}, bandwidth {}, {}\n", time_text(scaling.latency),
                           rate_text(scaling.bandwidth), scaling.network)
            << fmt::format("efficiency        {:.1f} %: one {} takes {} per step\n", 100 * time.efficiency,
                           scaling.sharing == 1 ? "rank" : "copy", time_text(time.one_rank));
}

// Resources of the job. The memory is per node.
std::string slurm_line(const Estimate& result, const DryRun& run, Index threads) {
  const RankPlan& ranks = run.ranks;
  const double memory = result.memory_bytes * 1.15 * static_cast<double>(ranks.per_node);
  const std::string tasks = ranks.is_given() ? fmt::format("--nodes={} --ntasks={} --ntasks-per-node={} ",
                                                           ranks.nodes(), ranks.ranks, ranks.per_node)
                                             : "";
  return fmt::format("#SBATCH {}--cpus-per-task={} --mem={}M --time={} --signal=TERM@60", tasks, threads,
                     static_cast<Index>(std::ceil(memory / (100 << 20))) * 100,
                     slurm_time(job_seconds(result, run.control)));
}

std::string evaluations_line(const Estimate& result) {
  if (result.evaluations == 0 || result.seconds == 0) return "";
  const double all = static_cast<double>(result.evaluations) * result.seconds_per_evaluation;
  return fmt::format("evaluations       {} of {}: {:.1f} % of the time\n", grouped(result.evaluations),
                     time_text(result.seconds_per_evaluation), 100 * all / result.seconds);
}

void print(const Estimate& result, const DryRun& run, const cli::Arguments& arguments) {
  const Index threads = arguments.common().threads;
  const char* const of_rank = run.ranks.is_given() ? " on each rank" : "";
  std::cout << "parameters        " << grouped(result.parameters) << "\n";
  print_memory(result, of_rank);
  std::cout << "arithmetic        "
            << quantity(result.flops_per_step, {{1e12, "TFLOP"}, {1e9, "GFLOP"}, {1e6, "MFLOP"}}) << " per step"
            << of_rank << "\n"
            << "time              " << time_text(result.seconds_per_step) << " per step, "
            << (result.measured ? "measured" : "estimated from the machine's rates")
            << (run.ranks.is_given() ? " on one rank" : "") << "; " << time_text(result.seconds) << " for "
            << grouped(result.steps) << " steps\n"
            << evaluations_line(result) << "disk              " << memory_text(result.disk_bytes) << ", a checkpoint "
            << memory_text(result.checkpoint_bytes) << "\n";
  if (run.ranks.is_given()) print_scaling(result.scaling);
  std::cout << slurm_line(result, run, threads) << "\n";
  if (run.ranks.is_given()) {
    std::cout << "srun --mpi=pmix --kill-on-bad-exit=1 --cpus-per-task=" << threads << " "
              << arguments.command_line({"dry_run", "json", "ranks"}) << "\n";
  }
}

}  // namespace

std::unique_ptr<const parallel::Group> planned_ranks(Index ranks) {
  return std::make_unique<const PlannedRank>(static_cast<int>(ranks));
}

double body_parameters(const Parameters& parameters) {
  namespace parts = nn::parts;
  double count = 0;
  for (const Parameter& parameter : parameters.all()) {
    const std::string_view part = parts::of_parameter(parameter.name);
    const bool is_beside =
        part == parts::token_embeddings || part == parts::positions || part == parts::segments || part == parts::output;
    if (!is_beside) count += static_cast<double>(parameter.value().size());
  }
  return count;
}

StepSize step_size(DryRun run) {
  run.config = harmless(run.config);
  const Simulation simulation;
  Begun begun(run, run.config);
  const training::Objective& objective = *begun.trial.objective;
  const Index samples = objective.samples_per_batch(run.config.training.batch_size);
  begun.trainer.step();
  const double before = matmul_flops(), units_before = static_cast<double>(begun.trainer.state().units);
  for (Index step = 0; step < run.steps_to_simulate; ++step) begun.trainer.step();
  const auto steps = static_cast<double>(run.steps_to_simulate);
  const double units_per_step = (static_cast<double>(begun.trainer.state().units) - units_before) / steps;
  const double units = units_per_step / static_cast<double>(samples * run.config.training.accumulate);
  return {.flops = (matmul_flops() - before) / steps,
          .units = units_per_step,
          .unique_units = units * static_cast<double>(objective.samples_per_epoch()),
          .body_parameters = body_parameters(begun.parameters())};
}

Estimate estimate(DryRun run) {
  run.config = harmless(run.config);
  become_one_rank(run);
  Estimate result;
  const double matmul_rate = measure_matmul_rate(chosen(run.config.training.precision));
  pool().trim();  // frees the matrices of that measurement
  result.memory.program = resident_bytes() + later;
  const Index eval_every = simulate(run, result);
  // Activations are read and written a few times for each matrix product, which costs about a quarter of its time.
  const double arithmetic_seconds = 1.25 * result.flops_per_step / matmul_rate;
  double evaluation =
      run.evaluation.batches * arithmetic_seconds / 3 / static_cast<double>(run.config.training.accumulate);
  const bool fits = result.memory.total() < 0.8 * available_memory();
  const bool is_whole = sharing_ranks(run) == 1;  // parts of a model need the other ranks
  if (fits && is_whole && 5 * arithmetic_seconds < most_seconds_to_measure) {
    evaluation = measure(run, result);
  } else {
    // The optimizer and the norm of the gradient read and write 32 bytes per parameter.
    result.seconds_per_step =
        arithmetic_seconds + 32.0 * static_cast<double>(result.own_parameters) / measure_memory_rate();
  }
  if (run.ranks.is_given()) add_ranks(run, result);
  result.memory_bytes = result.memory.total();
  add_disk(run, result);
  result.seconds_to_save = result.checkpoint_bytes / measure_write_rate(folder_of(run.output));
  result.seconds =
      static_cast<double>(result.steps) * result.seconds_per_step + checkpoints(run, result) * result.seconds_to_save;
  if (run.evaluates) result.seconds_per_evaluation = run.evaluation.parts * evaluation;
  if (run.evaluates) result.evaluations = static_cast<Index>(times(result.steps, eval_every));
  result.seconds += static_cast<double>(result.evaluations) * result.seconds_per_evaluation;
  return result;
}

Estimate dry_run(const DryRun& run, bool json, const cli::Arguments& arguments) {
  const Estimate result = estimate(run);
  if (json) {
    formats::Json object = formats::to_json(result);
    if (run.ranks.is_given()) object["scaling"] = formats::to_json(result.scaling);
    std::cout << json_line(object) << "\n";
  } else {
    print(result, run, arguments);
  }
  return result;
}

}  // namespace heddle

#include "libcore/analysis/step_time.hpp"

#include <algorithm>
#include <chrono>

#include "libcore/nn/parts.hpp"
#include "libcore/tensor/limits.hpp"
#include "libcore/tensor/matmul.hpp"
#include "libcore/tensor/processors.hpp"
#include "libcore/tensor/profile.hpp"

namespace heddle::analysis {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// An output this wide computes each number as fast as a wider one.
constexpr Index vocabulary_of_samples = 8192;
constexpr Index shortest_sample = 64;
constexpr Index least_steps = 3;

// One layer of each stack, and a part of the vocabularies.
class Shrink : public FieldVisitor {
 public:
  void operator()(const Field&, bool&) override {}
  void operator()(const Field& field, Index& value) override {
    if (field.name == "layers" || field.name == "encoder_layers") value = std::min<Index>(value, 1);
    if (field.name == "distinct_layers") value = 0;
    if (field.name == "vocab_size" || field.name == "source_vocab_size") {
      value = std::min(value, vocabulary_of_samples);
    }
    if (field.name == "start_token") value = std::min(value, Index{0});
  }
  void operator()(const Field&, double&) override {}
  void operator()(const Field&, std::string&) override {}
};

struct Sample {
  models::ModelConfig config;
  TrialShape shape;
};

// Requirements of a simulated step.
struct Needs {
  double flops, bytes;
};

Needs needs_of(const Sample& sample) {
  const Simulation simulation;
  Trial trial(sample.config, sample.shape);
  const double before = matmul_flops();
  trial.trainer().step();
  return {matmul_flops() - before, static_cast<double>(pool().statistics().bytes_from_system)};
}

bool fits(const Sample& sample, double most_flops, double most_bytes) {
  const Needs needs = needs_of(sample);
  return needs.flops <= most_flops && needs.bytes <= most_bytes;
}

// Nothing if even the smallest sample is too large.
std::optional<Sample> sample_of(const models::ModelConfig& config, const Cost& cost, double most_flops) {
  const double most_bytes = 0.5 * available_memory();
  Sample sample{config, {cost.time, cost.batch_size, cost.precision, cost.adapters}};
  if (cost.step_flops() <= most_flops && cost.memory.total() <= most_bytes) return sample;
  Shrink shrink;
  sample.config.visit_own(shrink);
  while (!fits(sample, most_flops, most_bytes)) {
    Index& larger = sample.shape.batch_size > 1 ? sample.shape.batch_size : sample.shape.time;
    if (larger == sample.shape.time && sample.shape.time <= shortest_sample) {
      // Weights alone may take long, but no longer than some of the others' steps.
      return fits(sample, 8 * most_flops, most_bytes) ? std::optional(sample) : std::nullopt;
    }
    larger = (larger + 1) / 2;
  }
  return sample;
}

// Seconds of a step, in all and of each operation.
struct Measured {
  double seconds = 0;
  std::map<std::tuple<std::string, std::string, bool>, Profile::Entry> operations{};  // operations of one step
};

Measured measure(const Sample& sample, double seconds) {
  Trial trial(sample.config, sample.shape);
  trial.trainer().step();
  const Profile profile;
  Index steps = 0;
  const auto start = Clock::now();
  while (steps < least_steps || seconds_since(start) < 2 * seconds) {
    trial.trainer().step();
    ++steps;
  }
  Measured result{.seconds = seconds_since(start) / static_cast<double>(steps)};
  for (Profile::Entry entry : profile.entries()) {
    const auto count = static_cast<double>(steps);
    entry.calls /= steps;
    entry.seconds /= count;
    entry.flops /= count;
    entry.bytes /= count;
    const std::string part = entry.part.empty() ? std::string(nn::parts::other) : entry.part;
    result.operations.emplace(std::tuple(part, entry.name, entry.backward), entry);
  }
  return result;
}

// At the rates of matrix products and memory. Operations between products cost about a quarter of the products' time.
double at_rates(const OperationCost& operation, const StepTime& rates) {
  return operation.flops > 0 ? 1.25 * operation.flops / rates.matmul_rate : operation.bytes / rates.memory_rate;
}

// Measured speed: steps of a sample and, if the model's steps have more tokens, of one with about half as many.
struct Speed {
  Measured measured;
  std::optional<Measured> half;
  double more_tokens = 1;  // tokens of the model's step relative to the sample's
};

// Some of the time of products, such as that of packing weights, does not grow with the tokens. Two samples show it, as
// far as their times are to be trusted.
double seconds_of_products(const OperationCost& operation, const Profile::Entry& measured, const Profile::Entry& half,
                           double more_tokens) {
  const double more_products = operation.flops / measured.flops / more_tokens, ratio = half.flops / measured.flops;
  const double fixed = ratio < 1 ? (half.seconds - ratio * measured.seconds) / (1 - ratio) : 0;
  const double trusted = std::clamp(fixed, 0.0, measured.seconds / 2);
  return more_products * (trusted + (measured.seconds - trusted) * more_tokens);
}

double predicted(const OperationCost& operation, const Speed& speed, const StepTime& rates) {
  const std::tuple key(operation.part, operation.operation, operation.backward);
  const auto found = speed.measured.operations.find(key);
  if (found == speed.measured.operations.end()) return at_rates(operation, rates);
  const Profile::Entry& measured = found->second;
  if (measured.flops > 0) {
    const bool has_half = speed.half && speed.half->operations.contains(key);
    const Profile::Entry& half = has_half ? speed.half->operations.at(key) : measured;
    return seconds_of_products(operation, measured, half, speed.more_tokens);
  }
  return measured.bytes > 0 ? measured.seconds * operation.bytes / measured.bytes : measured.seconds;
}

// Adds up the operations of the cost at the sample's speed.
void predict(const Cost& cost, const Speed& speed, StepTime& result) {
  double sample_known = 0, sample_calls = 0, calls = 0;
  for (const auto& [key, entry] : speed.measured.operations) {
    sample_known += entry.seconds;
    sample_calls += static_cast<double>(entry.calls);
  }
  for (const OperationCost& operation : cost.operations) {
    result.parts[operation.part] += predicted(operation, speed, result);
    calls += operation.calls;
  }
  // The rest of the time, between operations, goes by their number.
  const double rest = std::max(0.0, speed.measured.seconds - sample_known);
  if (sample_calls > 0) result.parts[std::string(nn::parts::other)] += rest * calls / sample_calls;
}

Speed speed_of(const Sample& sample, const Cost& cost, double seconds) {
  const double tokens = static_cast<double>(sample.shape.time) * static_cast<double>(sample.shape.batch_size);
  Speed speed{.measured = measure(sample, seconds), .half = {}, .more_tokens = cost.tokens() / tokens};
  if (speed.more_tokens <= 1) return speed;
  Sample half = sample;
  (half.shape.batch_size > 1 ? half.shape.batch_size : half.shape.time) /= 2;
  speed.half = measure(half, seconds / 2);
  return speed;
}

}  // namespace

StepTime predict_step_time(const models::ModelConfig& config, const Cost& cost, double seconds) {
  StepTime result{.matmul_rate = measure_matmul_rate(cost.precision), .memory_rate = measure_memory_rate()};
  const std::optional<Sample> sample = sample_of(config, cost, seconds * result.matmul_rate);
  if (sample) {
    const bool whole =
        sample->config == config && sample->shape.time == cost.time && sample->shape.batch_size == cost.batch_size;
    result.from = whole ? StepTime::From::model : StepTime::From::sample;
    result.vocab_size = sample->config.tokens().vocab_size;
    result.time = sample->shape.time;
    result.batch_size = sample->shape.batch_size;
    predict(cost, speed_of(*sample, cost, seconds), result);
  } else {
    for (const OperationCost& operation : cost.operations) {
      result.parts[operation.part] += at_rates(operation, result);
    }
  }
  for (const auto& [part, part_seconds] : result.parts) result.seconds += part_seconds;
  return result;
}

}  // namespace heddle::analysis

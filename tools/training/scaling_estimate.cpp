#include "tools/training/scaling_estimate.hpp"

#include <algorithm>

#include "libcore/training/gradient_exchange.hpp"

namespace heddle {

namespace {

// Models training/gradient_exchange.hpp and owners.hpp: during the last backward pass gradients are summed in rounds
// of some numbers, of each of which every rank sends the others their parts; each updates a part of the weights, and
// sends it to the others during their next forward pass (training/weight_exchange.hpp).
RankStep as_runs_are(double bytes_per_number) {
  RankStep step;
  step.exchange = Exchange::direct;
  step.bucket_bytes = bytes_per_number * training::most_in_round;
  step.overlaps = true;
  step.divides_state = true;
  return step;
}

// The optimizer and the norm of the gradient read and write so much for each number.
constexpr double passes_of_update = 32 / 4;
// Ranks of a node send through memory that they share: one writes a copy, the other one reads it and writes its own.
constexpr double passes_within_node = 4;

}  // namespace

ScalingEstimate scaling_estimate(const RankPlan& plan, const AloneStep& step, const std::optional<Network>& measured) {
  Network network = measured.value_or(Network());
  network.latency = plan.latency.value_or(network.latency);
  network.bandwidth = plan.bandwidth.value_or(network.bandwidth);
  network.node_rate = step.memory_rate / passes_within_node;
  const auto bytes_per_number =
      static_cast<double>(step.exchanged == Precision::bf16 ? bytes_of(DType::bfloat16) : bytes_of(DType::real));
  const double exchanged_bytes = step.gradient_bytes * bytes_per_number / sizeof(Real);
  RankStep of_rank = as_runs_are(bytes_per_number);
  of_rank.micro_batches = step.micro_batches;
  // Most of a step is its micro-batches, whatever the memory's rate was at this moment.
  of_rank.update = std::min(passes_of_update * step.gradient_bytes / step.memory_rate, step.seconds / 2);
  // Each rank of a copy sends the others 2 (M - 1) / M of what they sum; all waits for that.
  const double sums = 2 * static_cast<double>(step.sharing - 1) * step.summed_bytes / network.node_rate;
  of_rank.micro_batch = (step.seconds - of_rank.update + sums) / static_cast<double>(step.micro_batches);
  of_rank.gradient_bytes = exchanged_bytes;
  of_rank.factor = static_cast<double>(step.nodes_held);
  of_rank.late = step.late;
  ScalingEstimate result;
  const Index copies = plan.ranks / step.sharing;
  result.ranks = plan.ranks;
  result.sharing = step.sharing;
  result.nodes = plan.nodes();
  result.micro_batches = step.micro_batches;
  result.summed_bytes = step.summed_bytes;
  result.seconds_of_sums = sums;
  result.exchanged_bytes = copies > 1 ? exchanged_bytes : 0;
  result.latency = network.latency;
  result.bandwidth = network.bandwidth;
  result.network = plan.latency && plan.bandwidth ? "given" : measured ? "measured" : "assumed";
  result.time = step_time(of_rank, {copies, plan.per_node / step.sharing}, network);
  return result;
}

std::string how_ranks_exchange() {
  return "gradients in the last backward pass, those of embeddings after it, weights in the first forward pass";
}

}  // namespace heddle

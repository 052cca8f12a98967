#include "tools/training/scaling_model.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "libcore/parallel/tree.hpp"

namespace heddle {

namespace {

struct Counts {
  double ranks, on_node;  // on_node: of a full node
};

Counts counts_of(const Placement& placement) {
  return {static_cast<double>(placement.ranks), static_cast<double>(std::min(placement.ranks, placement.per_node))};
}

bool is_power_of_two(Index count) {
  return std::has_single_bit(static_cast<std::uint64_t>(count));
}

// Messages that wait for each other, or of the processor.
double seconds_of_messages(Exchange exchange, Index ranks, double latency, double overhead) {
  const double others = static_cast<double>(ranks - 1);
  switch (exchange) {
    case Exchange::direct:
      return 2 * (latency + others * overhead);
    case Exchange::ring:
      return 2 * others * latency;
    case Exchange::halving:
      break;
  }
  const double rounds = std::floor(std::log2(static_cast<double>(ranks)));
  return 2 * (rounds + (is_power_of_two(ranks) ? 0 : 1)) * latency;
}

}  // namespace

Traffic traffic(Exchange exchange, double bytes, const Placement& placement, double factor) {
  const auto [ranks, on_node] = counts_of(placement);
  if (placement.ranks == 1) return {};
  const double halves = 1 + factor, part = bytes / ranks;
  const bool has_others = ranks > on_node;
  if (exchange == Exchange::ring) {
    // One rank alone of a node has its neighbour on the next node.
    const double of_rank = halves * (ranks - 1) * part;
    return {has_others ? of_rank : 0, (has_others ? on_node - 1 : on_node) * of_rank};
  }
  Traffic all{on_node * halves * (ranks - on_node) * part, on_node * halves * (on_node - 1) * part};
  const bool folds = exchange == Exchange::halving && !is_power_of_two(placement.ranks);
  if (folds) (has_others ? all.between_nodes : all.within_node) += on_node * 2 * bytes;
  return all;
}

double exchange_seconds(Exchange exchange, double bytes, const Placement& placement, const Network& network,
                        double factor) {
  if (placement.ranks == 1) return 0;
  const Traffic moved = traffic(exchange, bytes, placement, factor);
  const double latency = moved.between_nodes > 0 ? network.latency : network.node_latency;
  return seconds_of_messages(exchange, placement.ranks, latency, network.overhead) +
         std::max(moved.between_nodes / network.bandwidth, moved.within_node / network.node_rate);
}

StepTime step_time(const RankStep& step, const Placement& placement, const Network& network) {
  StepTime time;
  const auto ranks = static_cast<double>(placement.ranks), own = static_cast<double>(step.micro_batches);
  time.one_rank = ranks * own * step.micro_batch + step.update;
  if (placement.ranks > 1 && step.gradient_bytes > 0) {
    const double pieces = std::ceil(step.gradient_bytes / step.bucket_bytes);
    const double of_piece =
        exchange_seconds(step.exchange, step.gradient_bytes / pieces, placement, network, step.factor);
    const double backward = step.micro_batch * 2 / 3;
    time.exchange = pieces * of_piece;
    const double first = step.divides_state ? step.factor / (1 + step.factor) : 1;
    const double can_hide = (1 - step.late) * (pieces - 1) * of_piece;
    const double hidden = std::min(first * can_hide, (1 - 1 / pieces) * backward) +
                          std::min((1 - first) * can_hide, (1 - 1 / pieces) * (step.micro_batch - backward));
    time.exposed = time.exchange - (step.overlaps ? hidden : 0);
  }
  time.seconds = own * step.micro_batch + time.exposed + step.update / (step.divides_state ? ranks : 1);
  time.efficiency = time.one_rank / (ranks * time.seconds);
  return time;
}

HeldSums held_sums(Index leaves, Index ranks) {
  HeldSums most;
  for (Index rank = 0; rank < ranks; ++rank) {
    const parallel::Range own = parallel::part_of(leaves, static_cast<int>(rank), static_cast<int>(ranks));
    std::vector<parallel::Range> held;
    for (Index leaf = own.begin; leaf < own.end; ++leaf) {
      most.waiting = std::max(most.waiting, std::ssize(held));
      held.push_back({leaf, leaf + 1});
      while (held.size() > 1 && parallel::parent(held.back(), leaves).begin == held[held.size() - 2].begin) {
        const Index end = held.back().end;
        held.pop_back();
        held.back().end = end;
      }
    }
    most.nodes = std::max(most.nodes, std::ssize(held));
  }
  return most;
}

}  // namespace heddle

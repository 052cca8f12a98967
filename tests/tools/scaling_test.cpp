// The cost model of runs on many ranks, against values by hand.
#include <doctest/doctest.h>

#include <array>
#include <cmath>

#include "libcore/base/error.hpp"
#include "libcore/parallel/thread_group.hpp"
#include "libcore/parallel/tree.hpp"
#include "tools/training/measure_network.hpp"
#include "tools/training/rank_plan.hpp"
#include "tools/training/scaling_estimate.hpp"

using namespace heddle;
using doctest::Approx;

namespace scaling_tests {

namespace {

constexpr Exchange all[] = {Exchange::direct, Exchange::ring, Exchange::halving};

// 1 ms, 100 MB/s; a node's ranks are four times as fast among each other.
const Network slow{.latency = 1e-3, .bandwidth = 1e8, .overhead = 1e-5, .node_rate = 4e8, .node_latency = 1e-4};

double seconds(Exchange exchange, double bytes, Index ranks, Index per_node = 1, double factor = 1) {
  return exchange_seconds(exchange, bytes, {ranks, per_node}, slow, factor);
}

std::string refusal(const std::string& text) {
  try {
    (void)RankPlan::from_text(text);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("scaling: exchanges among nodes of one rank each") {
  for (const Exchange exchange : all) CHECK(seconds(exchange, 8e6, 1) == 0);
  // 2 (P - 1) / P S / B = 2 · 7/8 · 0.08 s = 0.14 s
  CHECK(seconds(Exchange::halving, 8e6, 8) == Approx(6e-3 + 0.14));
  CHECK(seconds(Exchange::ring, 8e6, 8) == Approx(14e-3 + 0.14));
  CHECK(seconds(Exchange::direct, 8e6, 8) == Approx(2e-3 + 14e-5 + 0.14));
  // Two ranks: each way has one message, and all are the same but for the processor's time.
  for (const Exchange exchange : all) {
    CHECK(seconds(exchange, 1e6, 2) == Approx(2e-3 + 0.01 + (exchange == Exchange::direct ? 2e-5 : 0)));
  }
  // Three: one rank above two sends all 1e6 bytes to another and gets the sum back, 2 (1 ms + 10 ms).
  CHECK(seconds(Exchange::halving, 1e6, 3) == Approx(4e-3 + 2 * 2e6 / 3e8 + 0.02));
  // Where each rank holds two nodes of the tree, the first half of the exchange sends twice as much.
  CHECK(seconds(Exchange::direct, 3e6, 3, 1, 2) == Approx(2e-3 + 4e-5 + 3 * 0.02));
}

TEST_CASE("scaling: ranks of a node use its link together, and its memory among themselves") {
  // 8 ranks on 2 nodes. To the other node each sends 2 · 4/8 of the bytes, to the three beside it 2 · 3/8.
  const Traffic direct = traffic(Exchange::direct, 8e6, {8, 4});
  CHECK(direct.between_nodes == Approx(4 * 8e6));
  CHECK(direct.within_node == Approx(4 * 6e6));
  CHECK(seconds(Exchange::direct, 8e6, 8, 4) == Approx(2e-3 + 14e-5 + 0.32));
  // On a ring one of the four has its neighbour on the other node.
  const Traffic ring = traffic(Exchange::ring, 8e6, {8, 4});
  CHECK(ring.between_nodes == Approx(14e6));
  CHECK(ring.within_node == Approx(3 * 14e6));
  // On one node nothing leaves it.
  for (const Exchange exchange : all) {
    CHECK(traffic(exchange, 8e6, {8, 8}).between_nodes == 0);
    CHECK(traffic(exchange, 8e6, {8, 8}).within_node == Approx(8 * 14e6));
    CHECK(traffic(exchange, 8e6, {1, 1}).within_node == 0);
  }
  CHECK(seconds(Exchange::ring, 8e6, 8, 8) == Approx(14e-4 + 0.28));
}

TEST_CASE("scaling: what of an exchange a step waits for") {
  // Two micro-batches of 0.3 s, of which a backward pass takes 0.2 s; 10 pieces of 1 MB among 2 ranks, 12 ms each.
  RankStep step{.micro_batches = 2,
                .micro_batch = 0.3,
                .update = 0.04,
                .gradient_bytes = 1e7,
                .bucket_bytes = 1e6,
                .exchange = Exchange::ring};
  StepTime time = step_time(step, {2, 1}, slow);
  CHECK(time.exchange == Approx(0.12));
  CHECK(time.exposed == Approx(0.12));
  CHECK(time.seconds == Approx(0.6 + 0.12 + 0.04));
  CHECK(time.one_rank == Approx(1.24));
  CHECK(time.efficiency == Approx(1.24 / (2 * 0.76)));
  // The backward pass hides all but the last piece.
  step.overlaps = true;
  time = step_time(step, {2, 1}, slow);
  CHECK(time.exchange == Approx(0.12));
  CHECK(time.exposed == Approx(0.012));
  // A network of a tenth of the speed is busy from the first piece on, which is complete after 0.02 s of 0.2 s.
  Network slower = slow;
  slower.bandwidth /= 10;
  time = step_time(step, {2, 1}, slower);
  CHECK(time.exchange == Approx(1.02));
  CHECK(time.exposed == Approx(1.02 - 0.18));
  // With ZeRO-1 each rank updates its half. The weights, half of the exchange, take 0.51 s, of which 0.09 s of the next
  // forward pass hide a part, and the gradients what the 0.18 s do not hide.
  step.divides_state = true;
  CHECK(step_time(step, {2, 1}, slower).seconds == Approx(0.6 + 0.02 + 0.42 + 0.33));
  // Both passes hide all but one of ten pieces of 6 ms.
  CHECK(step_time(step, {2, 1}, slow).exposed == Approx(0.006 + 0.006));
  // Unless a third of them is of embeddings: twice 0.054 s less a third are hidden.
  step.late = 1.0 / 3;
  CHECK(step_time(step, {2, 1}, slow).exposed == Approx(0.12 - 0.072));
  step.late = 0;
  CHECK(step_time(step, {1, 1}, slow).exchange == 0);
  CHECK(step_time(step, {1, 1}, slow).efficiency == Approx(1));
}

TEST_CASE("scaling: the sums that ranks hold are those of the tree") {
  for (const Index leaves : {1, 2, 3, 6, 8, 12, 24, 30}) {
    for (Index ranks = 1; ranks <= leaves; ++ranks) {
      if (leaves % ranks != 0) continue;
      Index nodes = 1;
      for (int rank = 0; rank < ranks; ++rank) {
        const parallel::Range own = parallel::part_of(leaves, rank, static_cast<int>(ranks));
        nodes = std::max(nodes, std::ssize(parallel::nodes_within(own, leaves)));
      }
      CAPTURE(leaves);
      CAPTURE(ranks);
      CHECK(held_sums(leaves, ranks).nodes == nodes);
    }
    CHECK(held_sums(leaves, 1).waiting == parallel::most_waiting(leaves));
    CHECK(held_sums(leaves, leaves).waiting == 0);
  }
  // [2, 4) of [0, 3) and [3, 6): two sums of one each.
  CHECK(held_sums(6, 3).nodes == 2);
  CHECK(held_sums(6, 3).waiting == 1);
}

TEST_CASE("scaling: the estimate of a plan") {
  const AloneStep step{.micro_batches = 4, .seconds = 4.2, .gradient_bytes = 1e9, .memory_rate = 1e10};
  const RankPlan plan = RankPlan::from_text("16:bandwidth=10Gb/s,latency=10us,per-node=2");
  const ScalingEstimate given = scaling_estimate(plan, step, Network{});
  CHECK(given.nodes == 8);
  CHECK(given.network == "given");
  CHECK(given.bandwidth == 1.25e9);
  CHECK(given.time.one_rank == Approx(16 * (4.2 - 0.8) + 0.8));  // an update of 8 times 1e9 bytes at 1e10 per second
  CHECK(given.time.seconds == Approx(4.2 - 0.8 + 0.8 / 16 + given.time.exposed));
  CHECK(given.time.exchange == Approx(2 * 2 * 14.0 / 16 / 1.25).epsilon(0.02));
  // Two thirds of a micro-batch, 0.57 s, hide a part of the gradients, and the other third a part of the weights.
  CHECK(given.time.exposed == Approx(given.time.exchange - 0.85).epsilon(0.02));
  AloneStep rounded = step;
  rounded.exchanged = Precision::bf16;
  const ScalingEstimate half = scaling_estimate(plan, rounded, Network{});
  CHECK(half.exchanged_bytes == given.exchanged_bytes / 2);
  CHECK(half.time.exchange == Approx(given.time.exchange / 2).epsilon(0.01));
  CHECK(half.time.one_rank == given.time.one_rank);
  CHECK(scaling_estimate(RankPlan::from_text("2"), step, std::nullopt).network == "assumed");
  const ScalingEstimate measured =
      scaling_estimate(RankPlan::from_text("2:latency=1s"), step, Network{.latency = 1e-6, .bandwidth = 7e8});
  CHECK(measured.network == "measured");
  CHECK(measured.latency == 1);
  CHECK(measured.bandwidth == 7e8);
  CHECK(scaling_estimate(RankPlan::from_text("1"), step, std::nullopt).time.efficiency == Approx(1));
}

TEST_CASE("scaling: a plan as text") {
  CHECK_FALSE(RankPlan::from_text("none").is_given());
  CHECK(RankPlan().text() == "none");
  const RankPlan plan = RankPlan::from_text("5:per-node=2,latency=20us,bandwidth=1.25GB/s");
  CHECK(plan.ranks == 5);
  CHECK(plan.nodes() == 3);
  CHECK(*plan.latency == Approx(2e-5));
  CHECK(*plan.bandwidth == 1.25e9);
  CHECK(plan.text() == "5:per-node=2,latency=20us,bandwidth=10Gb/s");
  CHECK(RankPlan::from_text("4:latency=2ms").latency == 2e-3);
  CHECK(RankPlan::from_text("4:bandwidth=100Mb/s").bandwidth == 1.25e7);
  for (const char* const text : {"1", "7:per-node=7", "3:latency=500ms", "64:bandwidth=400Gb/s"}) {
    CHECK(RankPlan::from_text(text).text() == text);
  }
  CHECK(refusal("many") == "'many' is not a whole number");
  CHECK(refusal("0") == "0 is out of range; it must be from 1 to 100000");
  CHECK(refusal("4:per-node=8") == "per-node: 8 is more than the number of ranks, 4");
  CHECK(refusal("4:per-node=0") == "per-node: 0 is out of range; it must be from 1 to 100000");
  CHECK(refusal("4:latency=20") == "latency: '20' is not a time such as 20us or 0.1ms");
  CHECK(refusal("4:latency=-1us") == "latency: '-1us' is not a time such as 20us or 0.1ms");
  CHECK(refusal("4:bandwidth=nanGb/s") == "bandwidth: 'nanGb/s' is not a rate such as 10Gb/s or 1.25GB/s");
  CHECK(refusal("4:bandwidth=10Gb") == "bandwidth: '10Gb' is not a rate such as 10Gb/s or 1.25GB/s");
  CHECK(refusal("4:speed=1") == "has no setting 'speed'; it has per-node, latency and bandwidth");
}

TEST_CASE("scaling: the network that ranks find is the same for all") {
  for (const int ranks : {2, 3}) {
    std::array<Network, 3> found;
    parallel::on_ranks(ranks, [&](const parallel::Group& group) {
      found[static_cast<std::size_t>(group.rank())] = measure_network(group);
    });
    for (int rank = 0; rank < ranks; ++rank) {
      const Network& network = found[static_cast<std::size_t>(rank)];
      CHECK(network.latency == found[0].latency);
      CHECK(network.latency > 0);
      CHECK(network.overhead < network.latency * 64);
      CHECK(network.bandwidth > 0);
      CHECK(network.bandwidth == found[0].bandwidth);
    }
  }
}

}  // namespace scaling_tests

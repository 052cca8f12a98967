// A dry run's estimate of a run on many ranks.
#pragma once

#include <optional>
#include <string>

#include "libcore/base/visit.hpp"
#include "libcore/tensor/precision.hpp"
#include "tools/training/rank_plan.hpp"
#include "tools/training/scaling_model.hpp"

namespace heddle {

struct ScalingEstimate {
  Index ranks = 1, nodes = 1;
  Index sharing = 1;        // ranks of each copy of the model
  Index micro_batches = 1;  // per rank and step
  double exchanged_bytes = 0, summed_bytes = 0;
  double latency = 0, bandwidth = 0;
  std::string network = "";  // where these two come from: "given", "measured", "assumed"
  double seconds_of_sums = 0;
  StepTime time;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("ranks", "number of ranks"), self.ranks);
    visitor(Field("nodes", "number of nodes"), self.nodes);
    visitor(Field("micro_batches", "micro-batches of a rank in each step"), self.micro_batches);
    visitor(Field("exchanged_bytes", "bytes of gradients that are summed over the ranks in each step, and of weights"),
            self.exchanged_bytes);
    visitor(Field("latency", "seconds of a small message"), self.latency);
    visitor(Field("bandwidth", "bytes per second of a node's link, in each direction"), self.bandwidth);
    visitor(Field("network", "whether latency and bandwidth are given, measured or assumed"), self.network);
    visitor(Field("seconds_per_step", "seconds per step, with the exchange"), self.time.seconds);
    visitor(Field("seconds_of_exchange", "seconds in which gradients and weights are exchanged"), self.time.exchange);
    visitor(Field("seconds_exposed", "seconds by which the exchange makes a step longer"), self.time.exposed);
    visitor(Field("seconds_of_one_rank", "seconds of the same step on one rank"), self.time.one_rank);
    visitor(Field("efficiency", "rate of all ranks, divided by their number times the rate of one"),
            self.time.efficiency);
    visitor(Field("tensor_parallel", "ranks that share each copy of the model"), self.sharing);
    visitor(Field("summed_bytes", "bytes of states that the ranks of a copy sum in each step"), self.summed_bytes);
    visitor(Field("seconds_of_sums", "seconds of these sums"), self.seconds_of_sums);
  }
};

// The step of one rank alone, as it was measured or estimated.
struct AloneStep {
  Index micro_batches = 1;
  double seconds = 0, gradient_bytes = 0;
  Precision exchanged = Precision::f32;  // gradients, and weights or updates
  double memory_rate = 1;                // from measure_memory_rate()
  Index nodes_held = 1;                  // HeldSums
  double late = 0;                       // the part of the gradients that are of embeddings
  Index sharing = 1;                     // ranks that share the model, of which this is one
  double summed_bytes = 0;               // bytes of states that they sum; `seconds` excludes them
};

// `measured` is what the ranks of the dry run found, where there are several; settings of the plan go before it.
ScalingEstimate scaling_estimate(const RankPlan& plan, const AloneStep& step, const std::optional<Network>& measured);

// "gradients in the last backward pass, ...": what runs exchange, and when.
std::string how_ranks_exchange();

}  // namespace heddle

// Time of a step of data-parallel training on many ranks, from the time on one and the network. Pure arithmetic: dry
// runs print it, and tests/benchmark/scaling_out compares it with a simulation.
#pragma once

#include "libcore/base/real.hpp"

namespace heddle {

// Algorithm that sums S bytes over P ranks: a reduce-scatter, after which each rank has the sum of its part, and an
// all-gather. Each rank sends 2 (P - 1) / P S bytes in all of them.
enum class Exchange {
  direct,   // each rank sends every other one its part, all messages at once
  ring,     // 2 (P - 1) messages of S / P in turn, to the next rank (Patarasuk & Yuan 2009)
  halving,  // 2 log2 P messages of S / 2, S / 4, ... (Rabenseifner's; Thakur, Rabenseifner & Gropp 2005, section 4.5)
};

// Ranks are placed on nodes in order, as many on each as there is room for.
struct Placement {
  Index ranks = 1, per_node = 1;
};

struct Network {
  double latency = 20e-6;      // seconds until a message of few bytes has arrived
  double bandwidth = 1.25e9;   // bytes per second of a node's link, in each direction at the same time
  double overhead = 1e-6;      // seconds of a processor for each message, of which many are on their way at once
  double node_rate = 2.5e9;    // bytes per second that all ranks of a node together send to each other
  double node_latency = 1e-6;  // latency of a message to a rank of the same node
};

// Bytes of one exchange that leave a node in each direction, and that its ranks send to each other. The factor is how
// often the first half of an exchange sends its bytes (1; sums of a tree that ranks cut otherwise than in halves,
// more).
struct Traffic {
  double between_nodes = 0, within_node = 0;
};
Traffic traffic(Exchange exchange, double bytes, const Placement& placement, double factor = 1);

// Seconds of one exchange of so many bytes, all ranks starting together: with latency a and bandwidth B,
//   direct   2 (a + (P - 1) o) + T / B, with the overhead o
//   ring     2 (P - 1) a + T / B
//   halving  2 log2(P) a + T / B; unless P is a power of two, the ranks above one send all to another rank and get all
//            back, 2 (a + S / B) more
// where T is the traffic between nodes; that within nodes moves at the same time, and the longer one counts. 0 for
// one rank.
double exchange_seconds(Exchange exchange, double bytes, const Placement& placement, const Network& network,
                        double factor = 1);

// A step of one rank, and what its gradients are.
struct RankStep {
  Index micro_batches = 1;        // per rank
  double micro_batch = 0;         // seconds of one, forward and backward
  double update = 0;              // seconds of clipping and the optimizer for all parameters
  double gradient_bytes = 0;      // gradients that are exchanged
  double bucket_bytes = 4 << 20;  // they are exchanged in pieces of this size, in turn
  double factor = 1;              // as in traffic()
  Exchange exchange = Exchange::direct;
  bool overlaps = false;  // whether a piece is exchanged as soon as the last backward pass has completed it
  // Whether each rank updates its part alone (ZeRO-1, Rajbhandari et al. 2020). Then the second half of an exchange has
  // weights in place of gradients; with overlaps, they arrive during the next step's first forward pass.
  bool divides_state = false;
  double late = 0;  // the part of the gradients that no pass hides
};

struct StepTime {
  double seconds = 0;     // per step
  double exchange = 0;    // total over all pieces in sequence, including weights that follow an update
  double exposed = 0;     // time that they add to the step
  double one_rank = 0;    // seconds of the same step on one rank, which computes the micro-batches of all
  double efficiency = 1;  // one_rank / (ranks seconds)
};

// Backward passes take two thirds of a micro-batch, as their products are twice those of forward passes. n pieces of c
// seconds each, which are complete at even distances in a backward pass of b seconds, are exchanged in turn, so the
// last one is done max(c, n c - (1 - 1 / n) b) after it. Where the state is divided, that is so for the first half of
// an exchange, and for the second one with the forward pass, a third of a micro-batch, in place of the backward pass.
StepTime step_time(const RankStep& step, const Placement& placement, const Network& network);

// The part of a gradient's memory that waits on one rank at most, in numbers of whole gradients, and the sums that the
// rank holds in the end, at most, where ranks add their micro-batches in the tree of parallel/tree.hpp. Precondition:
// the ranks divide the leaves.
struct HeldSums {
  Index waiting = 0, nodes = 1;
};
HeldSums held_sums(Index leaves, Index ranks);

}  // namespace heddle

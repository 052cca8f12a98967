// The network between ranks, as this group's ranks find it.
#pragma once

#include "libcore/parallel/group.hpp"
#include "tools/training/scaling_model.hpp"

namespace heddle {

// Latency, bandwidth and overhead between the first and the last rank, which send at the same time, as exchanges of
// gradients do: half of a round trip of 8 bytes, the rate of 4 MiB, and the time of one of 64 small messages at once.
// Medians; takes about a second on a network of 1 Gb/s. All ranks call it, and all get the same. Precondition: there
// are several.
Network measure_network(const parallel::Group& group);

}  // namespace heddle

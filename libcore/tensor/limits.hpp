// The limits of this machine, measured now on all threads. Each takes about a tenth of a second.
#pragma once

#include "libcore/tensor/precision.hpp"

namespace heddle {

// Matrix products in this precision, FLOP/s: the second best of some 1024-cubes. Throws UsageError where the processor
// lacks it.
double measure_matmul_rate(Precision precision);

// Bytes per second of a pass over memory that reads and writes.
double measure_memory_rate();

}  // namespace heddle

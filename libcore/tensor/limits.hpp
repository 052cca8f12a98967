// What this machine can do, measured now on all threads. Each takes about a tenth of a second.
#pragma once

namespace heddle {

// Matrix products at the current precision, FLOP/s: the second best of some 1024-cubes.
double measure_matmul_rate();

// Bytes a second of a pass over memory that reads and writes.
double measure_memory_rate();

}  // namespace heddle

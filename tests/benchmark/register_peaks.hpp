// Rates of arithmetic on registers alone: what no program on this processor can exceed.
#pragma once

namespace heddle::benchmark {

// Multiply-adds of floats with AVX-512 or AVX2, on all threads: FLOP/s; 0 where there is neither.
double multiply_add_rate();

// Products of bfloat16 on matrix units (AMX), on all threads: FLOP/s; 0 where there are none.
double matrix_unit_rate();

}  // namespace heddle::benchmark

#include "choose_precision.hpp"

#include <cmath>

#include "heddle/tensor/limits.hpp"

namespace heddle {

namespace {

double rate_at(Precision precision) {
  set_precision(precision);
  return measure_matmul_rate();
}

std::string gigaflops(double rate) { return grouped(static_cast<Index>(std::lround(rate * 1e-9))); }

}  // namespace

PrecisionChoice choose_precision(PrecisionChoice wanted, const cli::Arguments& arguments) {
  if (wanted == PrecisionChoice::f32) {
    set_precision(Precision::f32);
    return wanted;
  }
  if (!bf16_is_supported()) {
    const std::string reason = "this processor has no bf16 arithmetic (AMX or AVX-512 BF16)";
    if (wanted == PrecisionChoice::bf16) {
      arguments.warn(reason + "; computing in f32 instead");
    } else {
      arguments.say("precision f32: " + reason);
    }
    return choose_precision(PrecisionChoice::f32, arguments);
  }
  const double single = rate_at(Precision::f32), half = rate_at(Precision::bf16);
  const std::string rates = concatenate("matrix products run at ", gigaflops(half), " GFLOP/s in bf16 (", bf16_unit(),
                                        ") and at ", gigaflops(single), " in f32");
  if (half > single) {
    if (wanted == PrecisionChoice::automatic) arguments.say("precision bf16: " + rates);
    return PrecisionChoice::bf16;
  }
  if (wanted == PrecisionChoice::bf16) {
    arguments.warn("bf16 would not be faster here: " + rates + "; computing in f32 instead");
  } else {
    arguments.say("precision f32: " + rates);
  }
  return choose_precision(PrecisionChoice::f32, arguments);
}

}  // namespace heddle

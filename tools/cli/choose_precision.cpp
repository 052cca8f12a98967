#include "tools/cli/choose_precision.hpp"

#include <algorithm>
#include <cmath>

#include "libcore/tensor/limits.hpp"

namespace heddle {

namespace {

struct Rates {
  double single = 0, half = 0;
};

// The best of up to three measurements, since other programs may slow one down.
Rates measure_rates() {
  Rates best;
  for (int turn = 0; turn < 3 && best.half <= best.single; ++turn) {
    best.single = std::max(best.single, measure_matmul_rate(Precision::f32));
    best.half = std::max(best.half, measure_matmul_rate(Precision::bf16));
  }
  return best;
}

std::string gigaflops(double rate) {
  return grouped(static_cast<Index>(std::lround(rate * 1e-9)));
}

}  // namespace

PrecisionChoice choose_precision(PrecisionChoice wanted, const cli::Arguments& arguments, Start start) {
  if (wanted == PrecisionChoice::f32) return wanted;
  if (!bf16_is_supported()) {
    const std::string reason = "this processor has no bf16 arithmetic (AMX or AVX-512 BF16)";
    if (wanted == PrecisionChoice::bf16) {
      arguments.warn(reason + "; computing in f32 instead" +
                     (start == Start::resumed ? ", also when resumed again, unless --precision is given" : ""));
    } else {
      arguments.say("precision f32: " + reason);
    }
    return PrecisionChoice::f32;
  }
  if (wanted == PrecisionChoice::bf16) return wanted;
  const auto [single, half] = measure_rates();
  const std::string rates = concatenate("matrix products run at ", gigaflops(half), " GFLOP/s in bf16 (", bf16_unit(),
                                        ") and at ", gigaflops(single), " in f32");
  const bool is_faster = half > single;
  arguments.say(concatenate("precision ", is_faster ? "bf16: " : "f32: ", rates));
  return is_faster ? PrecisionChoice::bf16 : PrecisionChoice::f32;
}

}  // namespace heddle

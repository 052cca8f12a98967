#include "libcore/tensor/math.hpp"

namespace heddle::math {

std::string instruction_set() {
#ifdef HEDDLE_AVX512_CLONES
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd")) {
    return "avx512";
  }
#endif
#ifdef HEDDLE_AVX2_CLONES
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "avx2";
#endif
  return "baseline";
}

}  // namespace heddle::math

#include "heddle/tensor/math.hpp"

namespace heddle::math {

std::string instruction_set() {
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(HEDDLE_SANITIZED)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd")) {
    return "avx512";
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "avx2";
#endif
  return "baseline";
}

}  // namespace heddle::math

// Common code of the tests of single variants.
#pragma once

#include "oracles.hpp"

namespace heddle::testing {

inline AttentionCall call_of(const Tensor& q, const Tensor& k, const Tensor& v, const Mask& mask = {}) {
  return {.query = Variable(q), .key = Variable(k), .value = Variable(v), .mask = mask};
}

// The result of a variant without parameters for one batch.
inline Tensor mixed(const std::string& text, const Tensor& q, const Tensor& k, const Tensor& v, const Mask& mask = {}) {
  return Made(text, {q.shape()[1], q.shape()[3], k.shape()[1], v.shape()[3]})->mix(call_of(q, k, v, mask)).value();
}

}  // namespace heddle::testing

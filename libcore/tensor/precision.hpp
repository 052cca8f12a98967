// Which numbers training and inference compute with.
#pragma once

#include <string_view>

#include "heddle/base/visit.hpp"
#include "heddle/tensor/element.hpp"

namespace heddle {

enum class Precision {
  f32,   // everything in single precision
  bf16,  // products of bfloat16 with float sums; activations and their gradients kept as bfloat16 between operations
};
template <>
struct Names<Precision> {
  static constexpr std::pair<Precision, std::string_view> list[] = {{Precision::f32, "f32"}, {Precision::bf16, "bf16"}};
};

// Of this process. bf16 needs a processor with instructions for it: throws UsageError elsewhere.
void set_precision(Precision precision);
Precision precision();
bool bf16_is_supported();

// "AMX", "AVX-512 BF16", or "" where there is neither.
std::string_view bf16_unit();

// What operations store results as that only feed products.
inline Element activation_element() { return precision() == Precision::bf16 ? Element::bfloat16 : Element::real; }

}  // namespace heddle

// The data types of stored tensors. Computation uses Reals; the others save memory and bandwidth.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "libcore/base/bfloat16.hpp"
#include "libcore/base/real.hpp"
#include "libcore/tensor/kernel.hpp"

namespace heddle {

enum class DType : std::uint8_t {
  real,      // float, or double in the libraries that check gradients
  bfloat16,  // base/bfloat16.hpp
  int8,      // a row's elements are its numbers times the row's scale; weights only
  q8,        // blocks of 32 neighbours of a row, of 8 bits and with a scale of their own; weights only
  q4,        // the same of 4 bits
};

// Blocks as llama.cpp's Q8_0 and Q4_0 have them: a scale in half precision, little-endian, and 32 numbers. The last
// block of a row is filled up with zeros.
constexpr Index block_elements = 32;
struct Q8Block {
  std::uint8_t scale[2];
  std::int8_t numbers[block_elements];  // element = scale * number
};
struct Q4Block {
  std::uint8_t scale[2];
  std::uint8_t pairs[block_elements / 2];  // element = scale * (bits - 8): lower bits: 0 to 15, upper ones: 16 to 31
};
static_assert(sizeof(Q8Block) == 34 && sizeof(Q4Block) == 18);

// Memory layout of a format's rows; the rest of its row of the table is in storage_format.hpp.
struct StoredBlock {
  std::string_view name;
  std::string_view in_files;  // the HDF5 type, as files call it
  Index elements, bytes;
  bool row_scales = false;  // rows have a Real scale each
};
constexpr StoredBlock stored_blocks[] = {
    {sizeof(Real) == 4 ? "float32" : "float64", "float32", 1, sizeof(Real)},
    {"bfloat16", "bfloat16", 1, sizeof(BFloat16)},
    {"int8", "int8", 1, 1, true},
    {"q8", "int8", block_elements, sizeof(Q8Block)},
    {"q4", "int8", block_elements, sizeof(Q4Block)},
};

constexpr const StoredBlock& block_of(DType dtype) {
  return stored_blocks[static_cast<std::size_t>(dtype)];
}
constexpr std::string_view name_of(DType dtype) {
  return block_of(dtype).name;
}
// Bytes of a block; of an element where blocks have one.
constexpr std::size_t bytes_of(DType dtype) {
  return static_cast<std::size_t>(block_of(dtype).bytes);
}
// Bytes of a row of so many elements, or of so many neighbours that fill whole blocks.
constexpr Index bytes_of_row(DType dtype, Index elements) {
  const StoredBlock& block = block_of(dtype);
  return (elements + block.elements - 1) / block.elements * block.bytes;
}
// Whether elements are numbers of their own, that operations can read and write.
constexpr bool is_plain(DType dtype) {
  return dtype == DType::real || dtype == DType::bfloat16;
}

template <class T>
inline constexpr DType dtype_of = DType::real;
template <>
inline constexpr DType dtype_of<BFloat16> = DType::bfloat16;
template <>
inline constexpr DType dtype_of<std::int8_t> = DType::int8;
template <>
inline constexpr DType dtype_of<Q8Block> = DType::q8;
template <>
inline constexpr DType dtype_of<Q4Block> = DType::q4;

// load() and store() let one loop serve every type.
HEDDLE_INLINE Real load(Real x) {
  return x;
}
HEDDLE_INLINE Real load(BFloat16 x) {
  return static_cast<Real>(widened(x));
}
HEDDLE_INLINE void store(Real& to, Real x) {
  to = x;
}
HEDDLE_INLINE void store(BFloat16& to, Real x) {
  to = rounded(static_cast<float>(x));
}

}  // namespace heddle

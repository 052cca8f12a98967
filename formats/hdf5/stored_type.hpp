// The dtypes of datasets and their layout in a file.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <vector>

#include "libcore/base/real.hpp"
#include "libcore/tensor/dtype.hpp"

namespace heddle::formats::hdf5 {

// The dtype of elements in memory and, little-endian, in the file.
enum class DType { int8, int64, uint16, uint32, uint64, bfloat16, float32, float64, text };

std::string name_of(DType dtype);  // "float32"
Index size_of(DType dtype);        // bytes; text elements have a width instead

template <class T>
constexpr DType dtype_of() {
  if constexpr (std::same_as<T, std::int8_t>) return DType::int8;
  if constexpr (std::same_as<T, std::int64_t>) return DType::int64;
  if constexpr (std::same_as<T, std::uint16_t>) return DType::uint16;
  if constexpr (std::same_as<T, std::uint32_t>) return DType::uint32;
  if constexpr (std::same_as<T, std::uint64_t>) return DType::uint64;
  if constexpr (std::same_as<T, BFloat16>) return DType::bfloat16;
  if constexpr (std::same_as<T, float>) return DType::float32;
  if constexpr (std::same_as<T, double>) return DType::float64;
  if constexpr (std::same_as<T, char>) return DType::text;
}

// The layout of a data set in the file.
struct DatasetLayout {
  DType dtype = DType::float32;
  std::vector<Index> extents;
  Index text_width = 0;  // bytes of a text element, filled up with at least one NUL
  // Rows per chunk, and then the first of at most two extents may grow; 0: contiguous, placed when first written.
  Index chunk = 0;
  bool compress = false;  // needs chunks
};

// Bytes of the elements. Throws DataError if they are more than any file could hold; `where` names what is being read.
Index bytes_of(const DatasetLayout& layout, const std::string& where);
// Bytes of one element, and of one row, of all dimensions but the first.
Index width_of(const DatasetLayout& layout);
Index row_bytes(const DatasetLayout& layout);

// Deflate compresses to no less than 1/1032 of the size, plus a small header.
inline constexpr Index best_compression = 1100;
inline constexpr Index largest_chunk = Index{1} << 25;  // bytes, decompressed

// Throws DataError unless these rows exist and take that many bytes.
void check_rows(const DatasetLayout& layout, Index first, Index count, std::size_t bytes, const std::string& where);

}  // namespace heddle::formats::hdf5

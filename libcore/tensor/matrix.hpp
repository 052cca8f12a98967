// Matrices inside tensors, as products take them.
#pragma once

#include <utility>

#include "libcore/tensor/tensor.hpp"

namespace heddle {

// A [rows, columns] matrix whose rows lie `stride` apart; transposed, it stands for its transpose and rows and columns
// are those of the transpose.
struct MatrixView {
  const void* data;
  Index rows, columns, stride;
  bool transposed = false;
  DType dtype = DType::real;
  const Real* scales = nullptr;  // of the stored rows, int8 only

  template <class T>
  const T* as() const {
    return static_cast<const T*>(data);
  }
  // The distance in memory from one row (column) to the next.
  Index row_step() const { return transposed ? 1 : stride; }
  Index column_step() const { return transposed ? stride : 1; }

  // The transpose.
  MatrixView flipped() const {
    MatrixView result = *this;
    std::swap(result.rows, result.columns);
    result.transposed = !transposed;
    return result;
  }
  MatrixView rows_in(Index begin, Index end) const {
    MatrixView part = *this;
    part.data = static_cast<const std::byte*>(data) + begin * row_step() * static_cast<Index>(bytes_of(dtype));
    part.rows = end - begin;
    if (scales != nullptr && !transposed) part.scales += begin;
    return part;
  }
  MatrixView columns_in(Index begin, Index end) const {
    MatrixView part = *this;
    part.data = static_cast<const std::byte*>(data) + begin * column_step() * static_cast<Index>(bytes_of(dtype));
    part.columns = end - begin;
    if (scales != nullptr && transposed) part.scales += begin;
    return part;
  }
};

template <class T>
MatrixView matrix(const T* data, Index rows, Index columns, Index stride = 0) {
  return {data, rows, columns, stride == 0 ? columns : stride, false, dtype_of<T>};
}
// The transpose of a [rows, columns] matrix: [columns, rows].
template <class T>
MatrixView transpose(const T* data, Index rows, Index columns, Index stride = 0) {
  return {data, columns, rows, stride == 0 ? columns : stride, true, dtype_of<T>};
}
// A contiguous tensor of any type as [size / columns, columns], and its transpose.
inline MatrixView matrix(const Tensor& x) {
  const Index columns = x.shape()[-1];
  return {x.raw(), columns == 0 ? 0 : x.size() / columns, columns, columns, false, x.dtype(), x.scales()};
}
inline MatrixView transpose(const Tensor& x) {
  return matrix(x).flipped();
}

struct MatrixTarget {
  void* data;
  Index rows, columns, stride;
  DType dtype = DType::real;

  template <class T>
  T* as() const {
    return static_cast<T*>(data);
  }
};
template <class T>
MatrixTarget target(T* data, Index rows, Index columns, Index stride = 0) {
  return {data, rows, columns, stride == 0 ? columns : stride, dtype_of<T>};
}
inline MatrixTarget target(const Tensor& x) {
  const Index columns = x.shape()[-1];
  return {x.raw(), columns == 0 ? 0 : x.size() / columns, columns, columns, x.dtype()};
}

// A tile of the target: rows and columns as half-open ranges.
struct Tile {
  Index row_begin, row_end, column_begin, column_end;
  Index rows() const { return row_end - row_begin; }
  Index columns() const { return column_end - column_begin; }
};

}  // namespace heddle

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
  const Real* scales = nullptr;  // scales of the stored rows, if the format has them
  Index skipped = 0;             // elements of each row's first block that are not of the matrix

  template <class T>
  const T* as() const {
    return static_cast<const T*>(data);
  }
  // The distance in memory, in elements, from one row (column) to the next.
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
    MatrixView part = transposed ? stored_from(0, begin) : stored_from(begin, 0);
    part.rows = end - begin;
    return part;
  }
  MatrixView columns_in(Index begin, Index end) const {
    MatrixView part = transposed ? stored_from(begin, 0) : stored_from(0, begin);
    part.columns = end - begin;
    return part;
  }
  const std::byte* stored_row(Index row) const {
    return static_cast<const std::byte*>(data) + bytes_of_row(dtype, row * stride);
  }

 private:
  // The submatrix from this row and column of the matrix as stored.
  MatrixView stored_from(Index row, Index column) const {
    const Index elements = block_of(dtype).elements, at = skipped + column;
    MatrixView part = *this;
    part.data = stored_row(row) + bytes_of_row(dtype, at / elements * elements);
    part.skipped = at % elements;
    if (scales != nullptr) part.scales += row;
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
  const Index columns = x.shape()[-1], block = block_of(x.dtype()).elements;
  const Index stride = (columns + block - 1) / block * block;
  return {x.raw(), columns == 0 ? 0 : x.size() / columns, columns, stride, false, x.dtype(), x.scales()};
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

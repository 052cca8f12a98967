#include "libcore/ops/attention_problem.hpp"

#include <algorithm>

namespace heddle::ops {

namespace {

void check_shapes(const Shape& q, const Shape& k, const Shape& v) {
  const bool fit =
      q.rank() == 4 && k.rank() == 4 && v.rank() == 4 && q[3] == k[3] && k[0] == v[0] && k[1] == v[1] && k[2] == v[2];
  check<ShapeError>(fit, "attention: query ", q, ", key ", k, ", value ", v);
  check<ShapeError>(k[1] > 0 && q[1] % k[1] == 0, "attention: ", q[1], " heads of queries cannot share ", k[1],
                    " heads of keys and values evenly: query ", q, ", key ", k);
}

bool is_one_or(Index size, Index whole) {
  return size == 1 || size == whole;
}

void check_biases(const FusedAttention& options, const AttentionSizes& sizes) {
  const Shape scores{sizes.batch, sizes.heads, sizes.query_time, sizes.key_time};
  if (!options.bias.empty()) {
    const Shape b = options.bias.shape();
    check<ShapeError>(b.rank() == 4 && is_one_or(b[0], scores[0]) && is_one_or(b[1], scores[1]) && b[2] == scores[2] &&
                          b[3] == scores[3],
                      "attention: a bias of shape ", b, " for scores of shape ", scores);
  }
  if (!options.offset_bias.empty()) {
    const Shape b = options.offset_bias.shape();
    check<ShapeError>(b.rank() == 2 && is_one_or(b[0], scores[1]) && b[1] % 2 == 1,
                      "attention: a bias by offset of shape ", b, ", not [heads or 1, 2 reach + 1], for scores of ",
                      scores);
  }
  if (const OffsetTable& table = options.query_bias; !table.empty()) {
    const Shape b = table.values.shape();
    check<ShapeError>(b.rank() == 4 && b[0] == scores[0] && b[1] == scores[1] && b[2] == scores[2] && table.zero >= 0 &&
                          table.zero < b[3],
                      "attention: a bias by query and offset of shape ", b, " with offset 0 at ", table.zero,
                      ", for scores of ", scores);
  }
}

void check_options(const FusedAttention& options) {
  check<ShapeError>(options.query_tile >= 1 && options.query_tile <= 64, "attention: query_tile = ", options.query_tile,
                    " must be from 1 to 64");
  check<ShapeError>(options.key_tile >= 1, "attention: key_tile = ", options.key_tile, " must be at least 1");
  check<ShapeError>(options.scale >= 0, "attention: scale = ", options.scale, " must not be negative");
}

// As kernels read it: Reals, neighbouring elements of a row together.
Tensor readable(const Variable& bias) {
  if (bias.empty()) return {};
  const Tensor& value = bias.value();
  if (value.dtype() != DType::real) return value.as(DType::real);
  return value.stride(-1) == 1 || value.shape()[-1] == 1 ? value : value.copy();
}

}  // namespace

void check_key_rows(const std::vector<Index>& rows, Index batch, Index keys) {
  check<ShapeError>(rows.empty() ? keys == batch : static_cast<Index>(rows.size()) == batch, "attention: ", keys,
                    " rows of keys, of which ", rows.size(), " are picked, for ", batch, " of queries");
  check<ShapeError>(std::ranges::all_of(rows, [keys](Index row) { return row >= 0 && row < keys; }),
                    "attention: a picked row of keys is not among the ", keys);
  check<ShapeError>(rows.empty() || Recording::current() == nullptr, "attention: picked rows of keys are not recorded");
}

void check_mask(const Mask& mask, const AttentionSizes& sizes) {
  const auto batch = static_cast<std::size_t>(sizes.batch);
  check<ShapeError>((mask.key_lengths.empty() || mask.key_lengths.size() == batch) &&
                        (mask.query_offsets.empty() || mask.query_offsets.size() == batch),
                    "attention: the mask has lengths for ", mask.key_lengths.size(), " and offsets for ",
                    mask.query_offsets.size(), " of ", batch, " batches");
  if (!mask.pairs) return;
  const Shape pairs{mask.pairs->batch(), mask.pairs->query_time(), mask.pairs->key_time()};
  check<ShapeError>(
      (pairs[0] == 1 || pairs[0] == sizes.batch) && pairs[1] == sizes.query_time && pairs[2] == sizes.key_time,
      "attention: the mask has pairs of shape ", pairs, " for scores of shape ",
      Shape{sizes.batch, sizes.heads, sizes.query_time, sizes.key_time});
}

AttentionProblem checked_problem(const Tensor& query, const Tensor& key, const Tensor& value,
                                 const FusedAttention& options) {
  check_shapes(query.shape(), key.shape(), value.empty() ? key.shape() : value.shape());
  const Shape q = query.shape(), k = key.shape();
  const AttentionSizes sizes{q[0], q[1], k[1], q[2], k[2], q[3], value.empty() ? 0 : value.shape()[3]};
  check_key_rows(options.key_rows, q[0], k[0]);
  for (const Tensor* t : {&query, &key, &value}) {
    check<ShapeError>(t->empty() || t->stride(3) == 1 || t->shape()[3] == 1,
                      "attention needs the elements of a head together");
  }
  check_mask(options.mask, sizes);
  check_biases(options, sizes);
  check_options(options);
  return {query,
          key,
          value,
          options,
          sizes,
          readable(options.bias),
          readable(options.offset_bias),
          readable(options.query_bias.values)};
}

MatrixView head_of(const Tensor& t, Index batch, Index head) {
  const Index offset = batch * t.stride(0) + head * t.stride(1);
  return {static_cast<const std::byte*>(t.raw()) + offset * static_cast<Index>(bytes_of(t.dtype())),
          t.shape()[2],
          t.shape()[3],
          t.stride(2),
          false,
          t.dtype()};
}

}  // namespace heddle::ops

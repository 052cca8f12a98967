// Attention by the generalised Fourier integral: weights that are powers of products of sinc functions.
#pragma once

#include <vector>

#include "libcore/autograd/tape.hpp"
#include "libcore/ops/mask.hpp"

namespace heddle::ops {

struct FourierAttention {
  Index power = 4;
  Mask mask{};
  std::vector<Index> key_rows{};  // the row of key and value that each batch has; empty: its own. Never recorded
};

// k_ij = (prod over a of sinc(R_a (q_ia - k_ja)))^power for the keys j that the mask allows, 0 for others; sinc(u) =
// sin(u) / u, sinc(0) = 1. y_i = sum_j k_ij v_j / (sum_j k_ij + 1e-6). Head h reads the keys and values of head h /
// (heads / kv_heads).
// Source: Nguyen et al. 2022, "FourierFormer", equations 13 and 14, and the 1e-6 of its published code (SPEC 1.8).
// Shapes: query [batch, heads, query_time, width], key [batch, kv_heads, key_time, width], value [batch, kv_heads,
// key_time, value_width], Reals or bfloat16, any strides with neighbouring elements of a head together; radius R [1] or
// [width] -> [batch, query_time, heads, value_width], contiguous, stored as the query is.
// Throws ShapeError, also for an odd power: a gradient by w / sinc needs one factor to be left where sinc is 0.
// Cost: time in the allowed pairs times width; memory linear in time: the backward pass computes the kernel again.
// A product too small for a Real is 0, which is what 1e-6 makes of it.
Variable fourier_attention(const Variable& query, const Variable& key, const Variable& value, const Variable& radius,
                           const FourierAttention& options);

// The k_ij themselves: [batch, heads, query_time, key_time], Reals, never recorded; any power from 1 on.
Tensor fourier_kernel(const Tensor& query, const Tensor& key, const Tensor& radius, const FourierAttention& options);
// The same divided by sum_j k_ij + 1e-6.
Tensor fourier_weights(const Tensor& query, const Tensor& key, const Tensor& radius, const FourierAttention& options);

}  // namespace heddle::ops

// The state of variants that need all keys and values again in every step.
#pragma once

#include <vector>

#include "heddle/attention/attention.hpp"

namespace heddle {

// The keys and values of all positions so far: [places, kv_heads, room, width] each; the room grows up to the capacity,
// which may be far more than a text needs. A row of the batch has a place there, so that rows leave and change their
// order without a copy.
class KeyValueCache : public AttentionState {
 public:
  KeyValueCache(Index batch, Index capacity, HeadShape shape, DType dtype);

  // Shapes: key [batch, kv_heads, time, key_width], value [batch, kv_heads, time, value_width].
  void append(const Tensor& key, const Tensor& value, const StepRows& rows);
  void reorder(const std::vector<Index>& rows) override;

  // Of the first `time` positions of all places.
  Variable keys(Index time) const { return Variable(keys_.narrowed(2, 0, time)); }
  Variable values(Index time) const { return Variable(values_.narrowed(2, 0, time)); }
  const std::vector<Index>& places() const { return places_; }

 private:
  // More places (dimension 0), or more room in each (2).
  void enlarge(int dimension, Index count);

  Index capacity_;
  Tensor keys_, values_;
  std::vector<Index> places_;   // of each row
  std::vector<Index> lengths_;  // of each row: positions that it has seen
};

// A variant of which a step is mix() of the new queries with the keys and values of the cache.
class CachedAttention : public Attention {
 public:
  std::unique_ptr<AttentionState> start(Index batch, Index capacity, DType dtype) const override;
  Tensor step(const AttentionCall& call, const StepRows& rows, AttentionState& state) const override;

 protected:
  explicit CachedAttention(const HeadShape& shape) : shape_(shape) {}
  const HeadShape& shape() const { return shape_; }

 private:
  HeadShape shape_;
};

}  // namespace heddle

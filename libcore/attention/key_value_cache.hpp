// The state of variants that need all keys and values again in every step.
#pragma once

#include <vector>

#include "libcore/attention/attention.hpp"

namespace heddle {

// The keys and values of the positions that may still be attended to: [places, kv_heads, size, width] each. A row of
// the batch has a place there, so that rows leave and change their order without a copy. A place begins with the
// position first() of its row: 0, or with a window whichever is still needed.
class KeyValueCache : public AttentionState {
 public:
  KeyValueCache(Index batch, Index capacity, HeadShape shape, DType dtype);

  // window: the most positions before a new one that it may attend to; 0: all.
  // Shapes: key [batch, kv_heads, time, key_width], value [batch, kv_heads, time, value_width].
  void append(const Tensor& key, const Tensor& value, const StepRows& rows, Index window);
  // After a long step: keeps the room that single positions need.
  void shrink(Index window);
  void reorder(const std::vector<Index>& rows) override;

  // steady_length(), within what is there.
  Index length_for(Index time) const;
  // The first `time` positions, which all places hold.
  Variable keys(Index time) const { return Variable(keys_.narrowed(2, 0, time)); }
  Variable values(Index time) const { return Variable(values_.narrowed(2, 0, time)); }
  const std::vector<Index>& places() const { return places_; }
  const std::vector<Index>& first() const { return first_; }  // the position of each row's first key

 private:
  Index room_for(Index window, Index size) const;  // for places that hold `size` positions
  void make_room(const StepRows& rows, Index window);
  enum class Contents { kept, undefined };
  void resize(Index places, Index size, Contents contents);

  Index capacity_;
  Tensor keys_, values_;
  std::vector<Index> places_, first_, end_;  // per row
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

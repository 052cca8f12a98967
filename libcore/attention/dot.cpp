// Scaled dot-product attention: w_ij = softmax_j(scale q_i . k_j).
// Source: Vaswani et al. 2017, "Attention is all you need", equation 1.
// Setting: scale, 1 / sqrt(key_width) by default; T5 has 1.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "heddle/attention/attention.hpp"
#include "heddle/ops/arithmetic.hpp"
#include "heddle/tensor/threads.hpp"

namespace heddle {

namespace {

// The keys and values of all positions so far: [places, kv_heads, room, width] each; the room grows up to the capacity,
// which may be far more than a text needs. A row of the batch has a place there, so that rows leave and change their
// order without a copy.
class KeyValueCache : public AttentionState {
 public:
  KeyValueCache(Index batch, Index capacity, HeadShape shape, DType dtype)
      : capacity_(capacity),
        keys_({batch, shape.kv_heads, std::min(capacity, room_at_first), shape.key_width}, dtype),
        values_({batch, shape.kv_heads, std::min(capacity, room_at_first), shape.value_width}, dtype),
        places_(static_cast<std::size_t>(batch)),
        lengths_(places_.size(), 0) {
    std::iota(places_.begin(), places_.end(), Index{0});
    // Masked positions get weight zero, but zero times an undefined value may be NaN.
    keys_.fill(0);
    values_.fill(0);
  }

  void append(const Tensor& key, const Tensor& value, const std::vector<Index>& seen, const std::vector<Index>& added) {
    const Index batch = key.shape()[0];
    Index room = keys_.shape()[2];
    for (std::size_t b = 0; b < seen.size(); ++b) {
      const Index length = seen[b] + added[b];
      check<ShapeError>(length <= capacity_, "a cache of ", capacity_, " positions is full");
      lengths_.at(b) = length;
      if (length > room) room = std::min(capacity_, std::max(length, 2 * room));
    }
    if (room > keys_.shape()[2]) enlarge(2, room);
    parallel_for(batch, [&](Index row) {
      const auto at = static_cast<std::size_t>(row);
      const Index place = places_[at], count = added[at];
      const auto part = [count](const Tensor& t, Index i, Index begin) {
        return t.narrowed(0, i, 1).narrowed(2, begin, count);
      };
      part(keys_, place, seen[at]).assign(part(key, row, 0));
      part(values_, place, seen[at]).assign(part(value, row, 0));
    });
  }

  // Copies only where several rows continue one: into places that no row needs any longer.
  void reorder(const std::vector<Index>& rows) override {
    std::vector<Index> lengths;
    for (const Index row : rows) lengths.push_back(lengths_.at(static_cast<std::size_t>(row)));
    lengths_ = std::move(lengths);
    if (static_cast<Index>(rows.size()) > keys_.shape()[0]) enlarge(0, static_cast<Index>(rows.size()));
    std::vector<bool> taken(static_cast<std::size_t>(keys_.shape()[0]), false);
    std::vector<Index> places;
    std::vector<std::size_t> copied;  // rows
    for (const Index row : rows) {
      places.push_back(places_[static_cast<std::size_t>(row)]);
      if (taken[static_cast<std::size_t>(places.back())]) copied.push_back(places.size() - 1);
      taken[static_cast<std::size_t>(places.back())] = true;
    }
    std::vector<Index> sources;
    auto free = taken.begin();
    for (const std::size_t row : copied) {
      free = std::find(free, taken.end(), false);
      *free = true;
      sources.push_back(std::exchange(places[row], static_cast<Index>(free - taken.begin())));
    }
    places_ = std::move(places);
    parallel_for(static_cast<Index>(copied.size()), [&](Index i) {
      const std::size_t row = copied[static_cast<std::size_t>(i)];
      copy(keys_, sources[static_cast<std::size_t>(i)], keys_, places_[row], lengths_[row]);
      copy(values_, sources[static_cast<std::size_t>(i)], values_, places_[row], lengths_[row]);
    });
  }

  Variable keys(Index time) const { return Variable(keys_.narrowed(2, 0, time)); }
  Variable values(Index time) const { return Variable(values_.narrowed(2, 0, time)); }
  const std::vector<Index>& places() const { return places_; }

 private:
  static void copy(const Tensor& from, Index source, const Tensor& to, Index target, Index length) {
    to.narrowed(0, target, 1).narrowed(2, 0, length).assign(from.narrowed(0, source, 1).narrowed(2, 0, length));
  }

  // More places (dimension 0), or more room in each (2).
  void enlarge(int dimension, Index count) {
    for (Tensor* const tensor : {&keys_, &values_}) {
      Shape shape = tensor->shape();
      shape.set(dimension, count);
      const Tensor larger(shape, tensor->dtype());
      larger.fill(0);
      larger.narrowed(dimension, 0, tensor->shape()[dimension]).assign(*tensor);
      *tensor = larger;
    }
  }

  static constexpr Index room_at_first = 1024;

  Index capacity_;
  Tensor keys_, values_;
  std::vector<Index> places_;   // of each row
  std::vector<Index> lengths_;  // of each row: positions that it has seen
};

class DotAttention : public Attention {
 public:
  DotAttention(HeadShape shape, double scale) : shape_(shape), scale_(static_cast<Real>(scale)) {}

  AttentionSupport support() const override {
    return {.causal = true,
            .cross = true,
            .cached = true,
            .window = true,
            .grouped = true,
            .bias = true,
            .relative = true,
            .weights = true};
  }

  Variable mix(const AttentionCall& call) const override {
    return ops::fused_attention(call.query, call.key, call.value, options_of(call));
  }

  std::unique_ptr<AttentionState> start(Index batch, Index capacity, DType dtype) const override {
    return std::make_unique<KeyValueCache>(batch, capacity, shape_, dtype);
  }

  Tensor step(const AttentionCall& call, const StepRows& rows, AttentionState& state) const override {
    auto& cache = dynamic_cast<KeyValueCache&>(state);
    cache.append(call.key.value(), call.value.value(), rows.seen, rows.added);
    ops::FusedAttention options = options_of(call);
    options.mask = {.causal = true, .window = call.mask.window, .key_lengths = rows.seen, .query_offsets = rows.seen};
    for (std::size_t b = 0; b < rows.added.size(); ++b) options.mask.key_lengths[b] += rows.added[b];
    options.key_rows = cache.places();
    const Index time = *std::max_element(options.mask.key_lengths.begin(), options.mask.key_lengths.end());
    return ops::fused_attention(call.query, cache.keys(time), cache.values(time), options).value();
  }

  Tensor weights(const AttentionCall& call) const override {
    return ops::attention_weights(call.query.value(), call.key.value(), options_of(call));
  }

 private:
  ops::FusedAttention options_of(const AttentionCall& call) const {
    ops::FusedAttention options{
        .scale = scale_, .mask = call.mask, .key_rows = call.key_rows, .offset_bias = call.offsets.bias};
    if (const ops::OffsetTable& query = call.offsets.query; !query.empty()) {
      options.query_bias = {ops::scale(query.values, scale_), query.zero};
    }
    if (const ops::OffsetTable& key = call.offsets.key; !key.empty()) {
      const Variable bias = ops::key_bias(key, call.query.shape()[2], call.mask.query_offsets);
      options.bias = ops::scale(bias, scale_);
    }
    return options;
  }

  HeadShape shape_;
  Real scale_;
};

}  // namespace

std::unique_ptr<Attention> make_DotAttention(Settings& settings, const AttentionScopes&, HeadShape shape) {
  const double usual = 1 / std::sqrt(static_cast<double>(shape.key_width));
  return std::make_unique<DotAttention>(shape, settings.number("scale", usual, 0, 1000));
}

}  // namespace heddle

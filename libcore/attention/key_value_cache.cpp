#include "heddle/attention/key_value_cache.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "heddle/tensor/threads.hpp"

namespace heddle {

namespace {

constexpr Index room_at_first = 1024;

void copy(const Tensor& from, Index source, const Tensor& to, Index target, Index length) {
  to.narrowed(0, target, 1).narrowed(2, 0, length).assign(from.narrowed(0, source, 1).narrowed(2, 0, length));
}

}  // namespace

KeyValueCache::KeyValueCache(Index batch, Index capacity, HeadShape shape, DType dtype)
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

void KeyValueCache::append(const Tensor& key, const Tensor& value, const StepRows& rows) {
  const Index batch = key.shape()[0];
  Index room = keys_.shape()[2];
  for (std::size_t b = 0; b < rows.seen.size(); ++b) {
    const Index length = rows.seen[b] + rows.added[b];
    check<ShapeError>(length <= capacity_, "a cache of ", capacity_, " positions is full");
    lengths_.at(b) = length;
    if (length > room) room = std::min(capacity_, std::max(length, 2 * room));
  }
  if (room > keys_.shape()[2]) enlarge(2, room);
  parallel_for(batch, [&](Index row) {
    const auto at = static_cast<std::size_t>(row);
    const Index place = places_[at], count = rows.added[at];
    const auto part = [count](const Tensor& t, Index i, Index begin) {
      return t.narrowed(0, i, 1).narrowed(2, begin, count);
    };
    part(keys_, place, rows.seen[at]).assign(part(key, row, 0));
    part(values_, place, rows.seen[at]).assign(part(value, row, 0));
  });
}

// Copies only where several rows continue one: into places that no row needs any longer.
void KeyValueCache::reorder(const std::vector<Index>& rows) {
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

void KeyValueCache::enlarge(int dimension, Index count) {
  for (Tensor* const tensor : {&keys_, &values_}) {
    Shape shape = tensor->shape();
    shape.set(dimension, count);
    const Tensor larger(shape, tensor->dtype());
    larger.fill(0);
    larger.narrowed(dimension, 0, tensor->shape()[dimension]).assign(*tensor);
    *tensor = larger;
  }
}

std::unique_ptr<AttentionState> CachedAttention::start(Index batch, Index capacity, DType dtype) const {
  return std::make_unique<KeyValueCache>(batch, capacity, shape_, dtype);
}

Tensor CachedAttention::step(const AttentionCall& call, const StepRows& rows, AttentionState& state) const {
  auto& cache = dynamic_cast<KeyValueCache&>(state);
  cache.append(call.key.value(), call.value.value(), rows);
  AttentionCall whole = call;
  whole.mask = {.causal = true, .window = call.mask.window, .key_lengths = rows.seen, .query_offsets = rows.seen};
  for (std::size_t b = 0; b < rows.added.size(); ++b) whole.mask.key_lengths[b] += rows.added[b];
  const Index time = *std::max_element(whole.mask.key_lengths.begin(), whole.mask.key_lengths.end());
  whole.key = cache.keys(time);
  whole.value = cache.values(time);
  whole.key_rows = cache.places();
  return mix(whole).value();
}

}  // namespace heddle

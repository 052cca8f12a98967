#include "libcore/attention/key_value_cache.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "libcore/tensor/threads.hpp"

namespace heddle {

namespace {

constexpr Index room_at_first = 1024;

struct Part {
  const Tensor& of;
  Index place, begin;
};
void copy(const Part& from, const Part& to, Index length) {
  const auto part = [length](const Part& p) { return p.of.narrowed(0, p.place, 1).narrowed(2, p.begin, length); };
  part(to).assign(part(from));
}

std::vector<Index> picked_numbers(const std::vector<Index>& numbers, const std::vector<Index>& rows) {
  std::vector<Index> result;
  for (const Index row : rows) result.push_back(numbers.at(static_cast<std::size_t>(row)));
  return result;
}

}  // namespace

// Nothing has room before the first step, which says how much is needed.
KeyValueCache::KeyValueCache(Index batch, Index capacity, HeadShape shape, DType dtype)
    : capacity_(capacity),
      keys_({batch, shape.kv_heads, 0, shape.key_width}, dtype),
      values_({batch, shape.kv_heads, 0, shape.value_width}, dtype),
      places_(static_cast<std::size_t>(batch)),
      first_(places_.size(), 0),
      end_(places_.size(), 0) {
  std::iota(places_.begin(), places_.end(), Index{0});
}

void KeyValueCache::append(const Tensor& key, const Tensor& value, const StepRows& rows, Index window) {
  for (std::size_t b = 0; b < rows.seen.size(); ++b) {
    check<ShapeError>(rows.seen[b] + rows.added[b] <= capacity_, "a cache of ", capacity_, " positions is full");
  }
  Index size = 0;
  for (std::size_t b = 0; b < rows.seen.size(); ++b) {
    end_.at(b) = rows.seen[b] + rows.added[b];
    size = std::max(size, end_[b] - first_[b]);
  }
  if (size > keys_.shape()[2]) make_room(rows, window);
  parallel_for(key.shape()[0], [&](Index row) {
    const auto at = static_cast<std::size_t>(row);
    const Index begin = rows.seen[at] - first_[at], count = rows.added[at];
    copy({key, row, 0}, {keys_, places_[at], begin}, count);
    copy({value, row, 0}, {values_, places_[at], begin}, count);
  });
}

void KeyValueCache::shrink(Index window) {
  if (window == 0 || keys_.shape()[2] <= room_for(window, window + 1)) return;
  make_room({end_, std::vector<Index>(end_.size(), 0)}, window);
}

Index KeyValueCache::length_for(Index time) const {
  return std::min(keys_.shape()[2], steady_length(time));
}

// Moving what is kept takes as long as a few steps, so it should not be needed in every one; the capacity may be far
// more than a text needs.
Index KeyValueCache::room_for(Index window, Index size) const {
  if (window > 0) return std::min(capacity_, window + size);
  return std::min(capacity_, std::max({room_at_first, size, 2 * keys_.shape()[2]}));
}

// Forgets what the positions from `seen` on cannot attend to, and has room for those added.
void KeyValueCache::make_room(const StepRows& rows, Index window) {
  std::vector<Index> dropped;
  Index size = 1;
  for (std::size_t b = 0; b < first_.size(); ++b) {
    const Index first = window == 0 ? 0 : std::max(first_[b], rows.seen[b] - window);
    dropped.push_back(first - std::exchange(first_[b], first));
    size = std::max(size, rows.seen[b] - first_[b] + rows.added[b]);
  }
  const Tensor former_keys = keys_, former_values = values_;
  resize(keys_.shape()[0], room_for(window, size), Contents::undefined);
  for (std::size_t b = 0; b < first_.size(); ++b) {
    const Index kept = rows.seen[b] - first_[b];
    if (kept <= 0) continue;
    copy({former_keys, places_[b], dropped[b]}, {keys_, places_[b], 0}, kept);
    copy({former_values, places_[b], dropped[b]}, {values_, places_[b], 0}, kept);
  }
}

// Masked positions get weight zero, but zero times an undefined value may be NaN.
void KeyValueCache::resize(Index places, Index size, Contents contents) {
  for (Tensor* const tensor : {&keys_, &values_}) {
    Shape shape = tensor->shape();
    const Index former = shape[0];
    shape.set(0, places);
    shape.set(2, size);
    const Tensor other(shape, tensor->dtype());
    other.fill(0);
    if (contents == Contents::kept && size > 0) other.narrowed(0, 0, former).assign(*tensor);
    *tensor = other;
  }
}

// Copies only where several rows continue one: into places that no row needs any longer.
void KeyValueCache::reorder(const std::vector<Index>& rows) {
  first_ = picked_numbers(first_, rows);
  end_ = picked_numbers(end_, rows);
  if (const auto count = static_cast<Index>(rows.size()); count > keys_.shape()[0]) {
    resize(count, keys_.shape()[2], Contents::kept);
  }
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
    const Index source = sources[static_cast<std::size_t>(i)], length = end_[row] - first_[row];
    copy({keys_, source, 0}, {keys_, places_[row], 0}, length);
    copy({values_, source, 0}, {values_, places_[row], 0}, length);
  });
}

std::unique_ptr<AttentionState> CachedAttention::start(Index batch, Index capacity, DType dtype) const {
  return std::make_unique<KeyValueCache>(batch, capacity, shape_, dtype);
}

Tensor CachedAttention::step(const AttentionCall& call, const StepRows& rows, AttentionState& state) const {
  auto& cache = dynamic_cast<KeyValueCache&>(state);
  const Index window = call.mask.window;
  cache.append(call.key.value(), call.value.value(), rows, window);
  AttentionCall whole = call;
  whole.mask = {.causal = true, .window = window, .key_lengths = rows.seen, .query_offsets = rows.seen};
  for (std::size_t b = 0; b < rows.added.size(); ++b) {
    whole.mask.query_offsets[b] -= cache.first()[b];
    whole.mask.key_lengths[b] += rows.added[b] - cache.first()[b];
  }
  const Index time = cache.length_for(*std::max_element(whole.mask.key_lengths.begin(), whole.mask.key_lengths.end()));
  whole.key = cache.keys(time);
  whole.value = cache.values(time);
  whole.key_rows = cache.places();
  const Tensor mixed = mix(whole).value();
  cache.shrink(window);
  return mixed;
}

}  // namespace heddle

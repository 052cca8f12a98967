#include "libcore/data/token_batches.hpp"

#include <algorithm>

#include "libcore/base/random.hpp"
#include "libcore/base/strings.hpp"

namespace heddle::data {

namespace {

// As many for each stream.
Index windows_of_streams(const TokenSource& source, Index time, Index streams) {
  for (const TokenSource::Part& part : source.parts()) {
    check<DataError>(part.weight == 1, source.name_at(part.begin), ": weight ", part.weight,
                     " has no effect on text that is read in order, as a model with a memory reads it; leave it out");
  }
  const Index each = (source.size() - 1) / (streams * time);
  check<DataError>(each >= 1, source.name(), ": ", source.size(), " tokens are fewer than the ", streams * time + 1,
                   " of ", counted(streams, "window", "windows"), " of ", time,
                   ": a model with a memory reads a part of the text for each sample of a step; use more text, or a "
                   "smaller `batch_size` or `sequence_length`");
  return each * streams;
}

// One window is given up so that windows may begin anywhere.
Index windows_in(const TokenSource& source, Index time) {
  const Index whole = (source.size() - 1) / time;
  check<DataError>(whole >= 1, source.name(), ": ", source.size(), " tokens are fewer than the ", time + 1,
                   " that a window of ", time, " needs; use more text, or a model of a smaller `sequence_length`");
  return whole > 1 ? whole - 1 : 1;
}

}  // namespace

TrainingWindows::TrainingWindows(const TokenSource& source, Index time, std::uint64_t seed, Index streams)
    : source_(source),
      time_(time),
      streams_(streams),
      windows_(streams > 0 ? windows_of_streams(source, time, streams) : windows_in(source, time)),
      slack_(source.size() - 1 - windows_ * time),
      seed_(seed) {
  if (streams == 0) order_.emplace(source, windows_, time, seed);
}

Index TrainingWindows::offset_of(Index sample) const {
  static const std::uint64_t site = random_site("data/shift");
  const auto [window, pass] = order_ ? (*order_)(sample) : in_stream(sample);
  const RandomStream stream(seed_, site, static_cast<std::uint64_t>(pass));
  const Index most = order_ ? std::min(slack_, time_) : slack_;
  const auto shift = static_cast<Index>(stream.below(0, static_cast<std::uint64_t>(most + 1)));
  return shift + window * time_;
}

SampleOrder::Place TrainingWindows::in_stream(Index sample) const {
  return {sample % streams_ * (windows_ / streams_) + windows_before(sample), sample / windows_};
}

TokenBatch TrainingWindows::batch(Index first, Index batch) const {
  TokenBatch result{batch, time_, {}, {}};
  std::vector<TokenId> window(static_cast<std::size_t>(time_ + 1));
  for (Index i = 0; i < batch; ++i) {
    source_.read(offset_of(first + i), window);
    result.ids.insert(result.ids.end(), window.begin(), window.end() - 1);
    result.targets.insert(result.targets.end(), window.begin() + 1, window.end());
  }
  return result;
}

void for_each_evaluation_batch(const TokenSource& source, const EvaluationWindows& windows,
                               const std::function<void(const TokenBatch&)>& body) {
  const Index size = windows.limit > 0 ? std::min(windows.limit, source.size()) : source.size();
  const Index stride = windows.stride > 0 ? windows.stride : windows.time;
  check<UsageError>(stride <= windows.time, "`stride`: ", stride, " is more than the ", windows.time,
                    " tokens of a window, so that some are left out");
  Index predicted = 0;  // the last token that is
  std::vector<TokenId> window;
  for (Index start = 0; predicted + 1 < size;) {
    const Index whole = start + windows.time < size ? (size - 1 - start - windows.time) / stride + 1 : 0;
    TokenBatch part{std::clamp<Index>(whole, 1, windows.batch), std::min(windows.time, size - 1 - start), {}, {}};
    window.resize(static_cast<std::size_t>(part.time + 1));
    for (Index i = 0; i < part.batch; ++i, start += stride) {
      source.read(start, window);
      part.ids.insert(part.ids.end(), window.begin(), window.end() - 1);
      const auto known = predicted - start;  // targets that an earlier window predicts
      part.targets.insert(part.targets.end(), static_cast<std::size_t>(known), -1);
      part.targets.insert(part.targets.end(), window.begin() + 1 + known, window.end());
      predicted = start + part.time;
    }
    body(part);
  }
}

}  // namespace heddle::data

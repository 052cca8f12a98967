#include "libcore/data/sample_order.hpp"

#include <algorithm>
#include <cmath>

#include "libcore/base/random.hpp"
#include "libcore/data/permutation.hpp"

namespace heddle::data {

SampleOrder::SampleOrder(const TokenSource& tokens, Index windows, Index width, std::uint64_t seed) : seed_(seed) {
  const std::vector<TokenSource::Part> parts = tokens.parts();
  const bool alike = std::ranges::all_of(parts, [](const TokenSource::Part& part) { return part.weight == 1; });
  if (alike) {
    parts_.push_back({0, windows, windows});
  } else {
    for (const TokenSource::Part& part : parts) {
      const Index first = std::min(windows, (part.begin + width - 1) / width);
      const Index count = std::min(windows, (part.end + width - 1) / width) - first;
      const Index samples = std::llround(part.weight * static_cast<double>(count));
      check<DataError>(samples > 0, tokens.name_at(part.begin), ": weight ", part.weight, " of ", count, " windows of ",
                       width,
                       " tokens leaves nothing to train on; raise the weight, give more text, or leave the file out");
      parts_.push_back({first, count, samples});
    }
  }
  for (const Part& part : parts_) samples_ += part.samples;
}

SampleOrder::Place SampleOrder::operator()(Index sample) const {
  const Index epoch = sample / samples_;
  Index place = Permutation(samples_, seed_, static_cast<std::uint64_t>(epoch))(sample % samples_);
  if (parts_.size() == 1 && parts_[0].samples == parts_[0].windows) return {parts_[0].first + place, epoch};
  static const std::uint64_t site = random_site("data/part");
  std::uint64_t number = 0;
  auto part = parts_.begin();
  for (; place >= part->samples; ++part, ++number) place -= part->samples;
  const Index turn = epoch * part->samples + place, pass = turn / part->windows;
  const Permutation order(part->windows, seed_ ^ (site + number), static_cast<std::uint64_t>(pass));
  return {part->first + order(turn % part->windows), pass};
}

}  // namespace heddle::data

#include "libcore/data/masked_batches.hpp"

namespace heddle::data {

MaskedWindows::MaskedWindows(const TokenSource& source, MaskVocabulary vocabulary, const MaskedText& options)
    : source_(source),
      vocabulary_(std::move(vocabulary)),
      options_(options),
      pairs_(options.masking.segment_pairs || options.unrelated_pairs),
      body_(options.time - (!pairs_                ? 2
                            : options.has_segments ? 3
                                                   : 4)) {
  constexpr Index least = 2;  // a pair has a token on either side
  check<UsageError>(body_ >= least, "a context of ", options.time, " has no room for text between special tokens");
  check<DataError>(source.size() >= least, source.name(), ": no text to mask in ", source.size(), " tokens");
  windows_ = source.size() / body_ + (source.size() % body_ >= least ? 1 : 0);
  order_.emplace(source, windows_, body_, options.seed);
}

MaskedBatch MaskedWindows::batch(Index first, Index count) const {
  std::vector<Place> places;
  for (Index sample = first; sample < first + count; ++sample) places.push_back((*order_)(sample));
  return batch_of(places);
}

MaskedBatch MaskedWindows::in_order(Index first, Index count) const {
  std::vector<Place> places;
  for (Index window = first; window < first + count; ++window) places.push_back({window, 0});
  return batch_of(places);
}

MaskedBatch MaskedWindows::batch_of(const std::vector<Place>& places) const {
  MaskedBatch result;
  result.time = options_.time;
  std::vector<Sequence> sequences;
  for (const Place& place : places) {
    sequences.push_back(sequence(place));
    result.lengths.push_back(static_cast<Index>(sequences.back().ids.size()));
    result.tokens += result.lengths.back();
  }
  for (const Sequence& one : sequences) {
    const Index row = result.batch++ * result.time;
    result.ids.insert(result.ids.end(), one.ids.begin(), one.ids.end());
    result.ids.resize(static_cast<std::size_t>(row + result.time), vocabulary_.padding);
    for (const Index position : one.masked.positions) result.rows.push_back(row + position);
    result.targets.insert(result.targets.end(), one.masked.targets.begin(), one.masked.targets.end());
    if (options_.permutation) {
      result.ranks.push_back(one.ranks);
      result.ranks.back().resize(static_cast<std::size_t>(result.time), -1);
    }
    if (!pairs_) continue;
    result.unrelated.push_back(one.unrelated);
    if (!options_.has_segments) continue;
    result.segments.resize(static_cast<std::size_t>(row + one.first_length), 0);
    result.segments.resize(static_cast<std::size_t>(row) + one.ids.size(), 1);
    result.segments.resize(static_cast<std::size_t>(row + result.time), 0);
  }
  if (result.tokens == result.batch * result.time) result.lengths.clear();
  check<DataError>(!result.rows.empty(), source_.name(), ": ", result.batch, " texts of ", body_,
                   " tokens contain only special tokens, so there is nothing to mask");
  return result;
}

MaskedWindows::Sequence MaskedWindows::sequence(const Place& place) const {
  static const std::uint64_t masks = random_site("data/masks"), pairs = random_site("data/pairs");
  const bool changes = options_.masking.masking == MaskingKind::dynamic;
  const auto draw = static_cast<std::uint64_t>(changes ? place.pass * windows_ + place.window : place.window);
  const Index begin = place.window * body_;
  std::vector<TokenId> text(static_cast<std::size_t>(std::min(body_, source_.size() - begin)));
  source_.read(begin, text);
  Sequence result{{vocabulary_.classification}, static_cast<Index>(text.size()) + 2};
  auto cut = text.end();
  if (pairs_) {
    const RandomStream stream(options_.seed, pairs, draw);
    cut = text.begin() + 1 + static_cast<Index>(stream.below(0, text.size() - 1));
    result.first_length = (cut - text.begin()) + 2;
    result.unrelated = options_.unrelated_pairs && stream.uniform(2) < 0.5 ? 1 : 0;
    if (result.unrelated == 1) make_unrelated({cut, text.end()}, stream);
  }
  result.ids.insert(result.ids.end(), text.begin(), cut);
  result.ids.push_back(vocabulary_.separator);
  if (pairs_) {
    if (!options_.has_segments) result.ids.push_back(vocabulary_.separator);
    result.ids.insert(result.ids.end(), cut, text.end());
    result.ids.push_back(vocabulary_.separator);
  }
  const RandomStream stream(options_.seed, masks, draw);
  if (options_.permutation) {
    Permuted permuted =
        permute_tokens(result.ids, vocabulary_, *options_.permutation, options_.masking.whole_words, stream);
    result.masked = std::move(permuted.chosen);
    result.ranks = std::move(permuted.ranks);
  } else {
    result.masked = mask_tokens(result.ids, vocabulary_, options_.masking, stream);
  }
  return result;
}

void MaskedWindows::make_unrelated(std::span<TokenId> second, const RandomStream& stream) const {
  const auto places = static_cast<std::uint64_t>(source_.size() - static_cast<Index>(second.size()) + 1);
  source_.read(static_cast<Index>(stream.below(2, places)), second);
}

}  // namespace heddle::data

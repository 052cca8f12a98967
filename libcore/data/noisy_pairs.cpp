#include "libcore/data/noisy_pairs.hpp"

#include <algorithm>
#include <cmath>

namespace heddle::data {

namespace {

constexpr Index fewest_tokens = 2;  // tokens of a piece

}  // namespace

NoisyPairs::NoisyPairs(const Text& text, NoiseVocabulary vocabulary, const NoiseOptions& options, std::uint64_t seed)
    : tokens_(text.tokens), vocabulary_(std::move(vocabulary)), options_(options), seed_(seed) {
  check<DataError>(vocabulary_.size() >= tokens_.vocab_size(), name(), ": vocabulary of ", tokens_.vocab_size(),
                   " is not the tokenizer's ", vocabulary_.size());
  Index begin = 0;
  for (const Index length : tokens_.document_lengths()) {
    cut(begin, length - (vocabulary_.ends_documents ? 1 : 0), text.most);
    begin += length;
  }
  check<DataError>(!pieces_.empty(), name(), ": has no document of ", fewest_tokens, " tokens or more to corrupt");
  repeat_parts();
  if (options_.noise != NoiseKind::spans) return;
  const Index longest = std::ranges::max_element(pieces_, {}, &Piece::count)->count;
  const Index needed = span_counts(longest, options_).spans + (options_.random_roll ? 2 : 1);
  check<DataError>(needed <= static_cast<Index>(vocabulary_.sentinels.size()), name(), ": ", longest,
                   " tokens in a piece need ", needed, " sentinels, and the tokenizer has ",
                   vocabulary_.sentinels.size(), "; train it with `sentinels` = ", needed,
                   ", or use a smaller `sequence_length`");
}

void NoisyPairs::cut(Index begin, Index length, Index most) {
  if (length < fewest_tokens) {
    ++left_out_;
    return;
  }
  const Index parts = (length + most - 1) / most;
  for (Index part = 0; part < parts; ++part) {
    const Index first = length * part / parts, end = length * (part + 1) / parts;
    if (end - first >= fewest_tokens) pieces_.push_back({begin + first, end - first, part + 1 == parts});
  }
}

void NoisyPairs::repeat_parts() {
  const std::vector<Piece> once = std::move(pieces_);
  pieces_.clear();
  auto piece = once.begin();
  for (const TokenSource::Part& part : tokens_.parts()) {
    const auto end = std::find_if(piece, once.end(), [&](const Piece& other) { return other.begin >= part.end; });
    check<UsageError>(part.weight == std::floor(part.weight), tokens_.name_at(part.begin), ": weight ", part.weight,
                      ": the denoise objective reads whole files; give weights that are whole numbers");
    for (Index time = 0; time < static_cast<Index>(part.weight); ++time) pieces_.insert(pieces_.end(), piece, end);
    piece = end;
  }
}

const NoisyPairs::Piece& NoisyPairs::at(Index pair) const {
  check<DataError>(pair >= 0 && pair < size(), name(), ": has no piece ", pair, ", only ", size());
  return pieces_[static_cast<std::size_t>(pair)];
}

Index NoisyPairs::source_length(Index pair) const {
  return noised_lengths(at(pair).count, options_).source;
}

Index NoisyPairs::target_length(Index pair) const {
  return noised_lengths(at(pair).count, options_).target;
}

std::vector<TokenId> NoisyPairs::text_of(const Piece& piece) const {
  std::vector<TokenId> text(static_cast<std::size_t>(piece.count));
  tokens_.read(piece.begin, text);
  std::erase_if(text, [this](TokenId id) { return vocabulary_.is_special[static_cast<std::size_t>(id)]; });
  const auto is_blank = [this](TokenId id) { return vocabulary_.is_blank[static_cast<std::size_t>(id)]; };
  while (piece.ends_document && !text.empty() && is_blank(text.back())) text.pop_back();
  return text;
}

TokenPair NoisyPairs::in_epoch(Index pair, Index epoch) const {
  static const std::uint64_t site = random_site("data/noise");
  const std::vector<TokenId> text = text_of(at(pair));
  const auto step = static_cast<std::uint64_t>(epoch * size() + pair);
  return corrupt(text, vocabulary_, options_, RandomStream(seed_, site, step));
}

}  // namespace heddle::data

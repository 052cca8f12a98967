#include "heddle/data/framing.hpp"

#include <algorithm>

namespace heddle::data {

Framing::Framing(const text::Tokenizer& tokenizer, Index context, bool has_segments)
    : context_(context), has_segments_(has_segments) {
  if (tokenizer.classification() && tokenizer.separator()) {
    begin_ = tokenizer.classification();
    end_ = *tokenizer.separator();
    return;
  }
  check<UsageError>(tokenizer.end_of_text().has_value(),
                    "the model's tokenizer has neither [CLS] and [SEP] nor a token that ends texts, one of which "
                    "fine-tuning needs");
  end_ = *tokenizer.end_of_text();
}

Index Framing::overhead(bool pair) const {
  if (!begin_) return pair ? 2 : 1;
  return pair ? (has_segments_ ? 3 : 4) : 2;
}

std::vector<FramedSequence> Framing::operator()(std::span<const TokenId> first, Overlong overlong) const {
  return cut(first, std::nullopt, overlong);
}

std::vector<FramedSequence> Framing::operator()(std::span<const TokenId> first, std::span<const TokenId> second,
                                                Overlong overlong) const {
  return cut(first, second, overlong);
}

std::vector<FramedSequence> Framing::cut(std::span<const TokenId> first, std::optional<std::span<const TokenId>> second,
                                         Overlong overlong) const {
  const Index a = static_cast<Index>(first.size()), b = second ? static_cast<Index>(second->size()) : 0;
  const Index room = context_ - overhead(second.has_value());
  check<DataError>(room >= (second ? 2 : 1), "a context of ", context_, " tokens is too short for ",
                   second ? "two texts" : "a text");
  check<DataError>(a + b <= room || overlong != Overlong::error, a + b + context_ - room,
                   " tokens are more than the context of ", context_, "; see --overlong");
  std::vector<FramedSequence> sequences;
  for (const Window& window : windows(a, b, room, overlong)) sequences.push_back(frame(first, second, window));
  return sequences;
}

std::vector<Framing::Window> Framing::windows(Index first, Index second, Index room, Overlong overlong) const {
  if (first + second <= room) return {{0, first, 0, second}};
  // The shorter text keeps up to half of the room, the longer one has the rest.
  const Index shorter = std::min({first, second, room / 2}), longer = room - shorter;
  const bool first_is_longer = first >= second;
  const Index length = std::max(first, second);
  std::vector<Window> result;
  for (Index from = 0;;) {
    const Index count = std::min(longer, length - from);
    result.push_back(first_is_longer ? Window{from, count, 0, shorter} : Window{0, shorter, from, count});
    if (overlong == Overlong::truncate || from + count >= length) return result;
    from = std::min(from + std::max<Index>(1, longer / 2), length - longer);
  }
}

FramedSequence Framing::frame(std::span<const TokenId> first, std::optional<std::span<const TokenId>> second,
                              const Window& window) const {
  FramedSequence sequence;
  std::vector<TokenId>& ids = sequence.ids;
  const auto append = [&](std::span<const TokenId> tokens, Index from, Index count) {
    ids.insert(ids.end(), tokens.begin() + from, tokens.begin() + from + count);
    ids.push_back(end_);
  };
  if (begin_) ids.push_back(*begin_);
  sequence.first_at = static_cast<Index>(ids.size());
  sequence.first_from = window.first_from;
  sequence.first_count = window.first_count;
  append(first, window.first_from, window.first_count);
  if (!second) return sequence;
  if (begin_ && !has_segments_) ids.push_back(end_);
  sequence.second_at = static_cast<Index>(ids.size());
  sequence.second_from = window.second_from;
  sequence.second_count = window.second_count;
  append(*second, window.second_from, window.second_count);
  if (!has_segments_) return sequence;
  sequence.segments.assign(ids.size(), 0);
  std::fill(sequence.segments.begin() + sequence.second_at, sequence.segments.end(), 1);
  return sequence;
}

}  // namespace heddle::data

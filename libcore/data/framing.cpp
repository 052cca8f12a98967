#include "libcore/data/framing.hpp"

#include <algorithm>

namespace heddle::data {

namespace {

struct Span {
  Index from, count;
};

// Windows of at most `width` that cover the length and overlap by half.
std::vector<Span> overlapping(Index length, Index width) {
  std::vector<Span> spans;
  for (Index from = 0;;) {
    const Index count = std::min(width, length - from);
    spans.push_back({from, count});
    if (from + count >= length) return spans;
    from = std::min(from + std::max<Index>(1, width / 2), length - width);
  }
}

}  // namespace

std::vector<TokenId> TextFrame::around(std::span<const TokenId> text) const {
  std::vector<TokenId> ids;
  if (begin) ids.push_back(*begin);
  ids.insert(ids.end(), text.begin(), text.end());
  ids.push_back(end);
  return ids;
}

TextFrame text_frame(const text::Tokenizer& tokenizer, std::string_view user) {
  if (tokenizer.classification() && tokenizer.separator()) return {tokenizer.classification(), *tokenizer.separator()};
  check<UsageError>(tokenizer.end_of_text().has_value(),
                    "the tokenizer has neither [CLS] and [SEP] nor a token that ends texts, one of which ", user,
                    " needs");
  return {std::nullopt, *tokenizer.end_of_text()};
}

Framing::Framing(const text::Tokenizer& tokenizer, Index context, bool has_segments)
    : frame_(text_frame(tokenizer, "fine-tuning")), context_(context), has_segments_(has_segments) {}

Index Framing::overhead(bool pair) const {
  if (!frame_.begin) return pair ? 2 : 1;
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
  const Index room = this->room(second.has_value());
  check<DataError>(a + b <= room || overlong != Overlong::error, a + b + context_ - room,
                   " tokens are more than the context of ", context_, "; see `overlong`");
  std::vector<FramedSequence> sequences;
  for (const Window& window : windows(a, b, room, overlong)) sequences.push_back(frame(first, second, window));
  return sequences;
}

std::vector<FramedSequence> Framing::question(std::span<const TokenId> question, std::span<const TokenId> context,
                                              Overlong overlong) const {
  const auto asked = static_cast<Index>(question.size()), length = static_cast<Index>(context.size());
  const Index room = this->room(true);
  const Index kept = asked + length <= room ? asked : std::min(asked, room / 2);
  check<DataError>(kept == asked || overlong == Overlong::truncate, "a question of ", asked,
                   " tokens leaves too little of the model's ", context_,
                   " for its context; see `overlong` = truncate");
  std::vector<FramedSequence> sequences;
  for (const Span& window : overlapping(length, room - kept)) {
    sequences.push_back(frame(question, context, {0, kept, window.from, window.count}));
  }
  return sequences;
}

Index Framing::room(bool pair) const {
  const Index room = context_ - overhead(pair);
  check<DataError>(room >= (pair ? 2 : 1), "a context of ", context_, " tokens is too short for ",
                   pair ? "two texts" : "a text");
  return room;
}

std::vector<Framing::Window> Framing::windows(Index first, Index second, Index room, Overlong overlong) const {
  if (first + second <= room) return {{0, first, 0, second}};
  // The shorter text keeps up to half of the room, the longer one has the rest.
  const Index shorter = std::min({first, second, room / 2}), longer = room - shorter;
  std::vector<Window> result;
  for (const Span& span : overlapping(std::max(first, second), longer)) {
    result.push_back(first >= second ? Window{span.from, span.count, 0, shorter}
                                     : Window{0, shorter, span.from, span.count});
    if (overlong == Overlong::truncate) break;
  }
  return result;
}

FramedSequence Framing::frame(std::span<const TokenId> first, std::optional<std::span<const TokenId>> second,
                              const Window& window) const {
  FramedSequence sequence;
  std::vector<TokenId>& ids = sequence.ids;
  const auto append = [&](std::span<const TokenId> tokens, Index from, Index count) {
    ids.insert(ids.end(), tokens.begin() + from, tokens.begin() + from + count);
    ids.push_back(frame_.end);
  };
  if (frame_.begin) ids.push_back(*frame_.begin);
  sequence.first_at = static_cast<Index>(ids.size());
  sequence.first_from = window.first_from;
  sequence.first_count = window.first_count;
  append(first, window.first_from, window.first_count);
  if (!second) return sequence;
  if (frame_.begin && !has_segments_) ids.push_back(frame_.end);
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

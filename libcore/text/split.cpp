#include "libcore/text/split.hpp"

namespace heddle::text {

Split::Split(const std::string& expression, Matches matches, bool inverted)
    : pattern_(expression), matches_(matches), inverted_(inverted) {}

void Split::for_each(std::string_view text, const Take& take) const {
  PatternSpan piece{0, 0, false};  // the piece that may still grow
  const auto finish = [&] {
    if (piece.end > piece.begin) take(piece.begin, piece.end);
  };
  for_each_span(pattern_, text, [&](PatternSpan span) {
    span.is_match = span.is_match != inverted_;
    const bool was_match = piece.is_match, none = piece.end == piece.begin;
    bool grows = false;
    switch (matches_) {
      case Matches::isolated:
        break;
      case Matches::removed:
        if (span.is_match) span.begin = span.end;
        break;
      case Matches::contiguous:
        grows = span.is_match == was_match;
        break;
      case Matches::with_previous:
        grows = span.is_match && !was_match;
        break;
      case Matches::with_next:
        grows = !span.is_match && was_match;
        break;
    }
    if (grows && !none) {
      piece = {piece.begin, span.end, span.is_match};
    } else {
      finish();
      piece = span;
    }
  });
  finish();
}

Side Split::side(char32_t left, char32_t right) const {
  if (pattern_.spans(left, right) || matches_ == Matches::with_previous || matches_ == Matches::with_next) {
    return Side::together;
  }
  const bool ends_piece = pattern_.always_takes(left) || pattern_.always_takes(right);
  return ends_piece && matches_ != Matches::contiguous ? Side::cut : Side::apart;
}

}  // namespace heddle::text

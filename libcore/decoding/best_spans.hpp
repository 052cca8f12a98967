// The most likely answers among the spans of a text: those with the highest
//
//   score(i, j) = start_i + end_j,  i <= j < i + longest,  i and j allowed,
//
// as Devlin et al. 2019, "BERT", section 4.2, choose them. The score of no answer is start + end of [CLS], a position
// that is not allowed. Cost: positions times longest.
#pragma once

#include <span>
#include <vector>

#include "libcore/base/real.hpp"

namespace heddle::decoding {

struct SpanLimits {
  Index longest = 30;  // positions
  Index count = 1;     // number of spans wanted
};

// Positions first to last, both in the span.
struct ScoredSpan {
  Index first = 0, last = 0;
  double score = 0;
};

// The best spans, sorted by falling score, then by begin and end; fewer if there are fewer. Spans may overlap.
// `allowed` says for each position whether a span may begin or end there; spans with NaN or infinite scores are never
// chosen. Throws ShapeError for unequal sizes, UsageError for limits below 1.
std::vector<ScoredSpan> best_spans(std::span<const Real> start, std::span<const Real> end,
                                   const std::vector<bool>& allowed, const SpanLimits& limits);

}  // namespace heddle::decoding

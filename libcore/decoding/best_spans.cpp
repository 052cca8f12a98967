#include "libcore/decoding/best_spans.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "libcore/base/error.hpp"

namespace heddle::decoding {

namespace {

bool is_better(const ScoredSpan& a, const ScoredSpan& b) {
  return std::tuple(-a.score, a.first, a.last) < std::tuple(-b.score, b.first, b.last);
}

// The best so far: a heap whose front is the worst of them.
class Best {
 public:
  explicit Best(Index count) : count_(static_cast<std::size_t>(count)) {}

  void offer(const ScoredSpan& span) {
    if (spans_.size() == count_) {
      if (!is_better(span, spans_.front())) return;
      std::ranges::pop_heap(spans_, is_better);
      spans_.pop_back();
    }
    spans_.push_back(span);
    std::ranges::push_heap(spans_, is_better);
  }

  std::vector<ScoredSpan> sorted() && {
    std::ranges::sort_heap(spans_, is_better);
    return std::move(spans_);
  }

 private:
  std::size_t count_;
  std::vector<ScoredSpan> spans_;
};

}  // namespace

std::vector<ScoredSpan> best_spans(std::span<const Real> start, std::span<const Real> end,
                                   const std::vector<bool>& allowed, const SpanLimits& limits) {
  check<ShapeError>(start.size() == end.size() && start.size() == allowed.size(), start.size(), " start scores, ",
                    end.size(), " end scores and ", allowed.size(), " positions");
  check<UsageError>(limits.longest >= 1 && limits.count >= 1, "spans need a length and a count of at least 1");
  Best best(limits.count);
  for (std::size_t i = 0; i < start.size(); ++i) {
    if (!allowed[i]) continue;
    const std::size_t stop = std::min(start.size() - i, static_cast<std::size_t>(limits.longest)) + i;
    for (std::size_t j = i; j < stop; ++j) {
      const double score = static_cast<double>(start[i]) + static_cast<double>(end[j]);
      if (allowed[j] && std::isfinite(score)) best.offer({static_cast<Index>(i), static_cast<Index>(j), score});
    }
  }
  return std::move(best).sorted();
}

}  // namespace heddle::decoding

// Heads that score classes, or positions, from hidden states.
#pragma once

#include "libcore/nn/linear.hpp"

namespace heddle::heads {

// logits = W drop(h) + b (SPEC 4.4); with one class, a number.  Parameters: weight [classes, width], bias [classes].
class Classifier {
 public:
  Classifier(const Scope& scope, Index width, Index classes);
  // hidden [batch, width] or [batch, time, width] -> [.., classes], Real
  Variable operator()(const Variable& hidden, const Pass& pass) const;
  // The same for rows [count, width] that are positions of a batch, counted through it: sequence * time + position.
  Variable token_logits(const Variable& hidden, const std::vector<Index>& positions, Index time,
                        const Pass& pass) const;

 private:
  nn::Linear dense_;
  std::uint64_t dropout_site_;
};

// Scores of each position as the first and as the last one of an answer: s . h_t + b.
// Source: Devlin et al. 2019, "BERT", section 4.2.  Parameters: start and end, each weight [1, width] and bias [1].
class Span {
 public:
  struct Scores {
    Variable start, end;  // [batch, time], Real
  };
  Span(const Scope& scope, Index width);
  // hidden [batch, time, width]
  Scores operator()(const Variable& hidden, const Pass& pass) const;

 private:
  Classifier start_, end_;
};

}  // namespace heddle::heads

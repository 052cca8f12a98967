// Interface of every head that predicts tokens.
#pragma once

#include "libcore/ops/cross_entropy.hpp"

namespace heddle::heads {

class TokenHead {
 public:
  virtual ~TokenHead() = default;
  // hidden [..., width] -> [..., vocab], Real
  virtual Variable operator()(const Variable& hidden) const = 0;
  // The mean cross-entropy of the targets, one per row of hidden: [1].
  virtual Variable loss(const Variable& hidden, const std::vector<TokenId>& targets,
                        const ops::CrossEntropy& options) const = 0;
};

}  // namespace heddle::heads

// Models whose states are sums over tokens, so that what each token contributes is known exactly.
#pragma once

#include <vector>

#include "libcore/models/roles.hpp"

namespace heddle::models {

class SummedVectors : public virtual ContextualVectors {
 public:
  static constexpr std::string_view ability = "sums vectors of tokens";
  // Contribution of each token of the text to the hidden state of a position: [tokens, width], in row-major order; they
  // sum to the state. A part that several tokens have together is divided evenly among them. Throws DataError for ids
  // outside the vocabulary.
  virtual std::vector<double> summands(TokenList text, Index position) const = 0;
};

}  // namespace heddle::models

// Choosing the next token.
#pragma once

#include <vector>

#include "heddle/base/random.hpp"
#include "heddle/base/visit.hpp"

namespace heddle::decoding {

struct SamplingOptions {
  double temperature = 1;
  Index top_k = 0;
  double top_p = 1;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("temperature", "divides the logits; 0 takes the most probable token (greedy)")
                .range(0, 1000).takes("X"), self.temperature);
    visitor(Field("top_k", "sample among the N most probable tokens; 0 means all").range(0).takes("N"), self.top_k);
    visitor(Field("top_p", "sample among the fewest tokens whose probabilities reach P (Holtzman et al. 2020)")
                .above(0, 1).takes("P"), self.top_p);
  }
};

struct Choice {
  TokenId id;
  double log_probability;  // under the model itself (temperature 1, all tokens), nats
};

// Draws from softmax(logits / temperature), cut to the top_k most probable tokens and then to the smallest set whose
// probability reaches top_p. The draw is number `index` of the stream. Equal logits are ordered by id.
Choice sample(const Real* logits, Index vocab, const SamplingOptions& options, const RandomStream& stream,
              std::uint64_t index);

}  // namespace heddle::decoding

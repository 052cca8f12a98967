// Choosing the next token.
#pragma once

#include <span>
#include <vector>

#include "libcore/base/random.hpp"
#include "libcore/base/visit.hpp"

namespace heddle::decoding {

struct SamplingOptions {
  double temperature = 1;
  Index top_k = 0;
  double top_p = 1;
  double min_p = 0;
  double repetition_penalty = 1;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("temperature",
                  "divides the logits; 0 takes the most probable token (greedy), as translations do by default")
                .range(0, 1000)
                .takes("X")
                .essential(),
            self.temperature);
    visitor(Field("top_k", "sample among the N most probable tokens")
                .range(1, 1000000000)
                .word(0, "all")
                .takes("N")
                .essential(),
            self.top_k);
    visitor(Field("top_p", "sample among the fewest tokens whose probabilities reach P (Holtzman et al. 2020)")
                .above(0, 1)
                .takes("P")
                .essential(),
            self.top_p);
    visitor(Field("min_p", "sample among tokens at least P times as probable as the most probable one")
                .range(0, 1)
                .takes("P"),
            self.min_p);
    visitor(Field("repetition_penalty",
                  "divides positive logits of tokens that the text has already, and "
                  "multiplies negative ones; 1 means none")
                .above(0, 1000)
                .takes("X")
                .essential(),
            self.repetition_penalty);
  }
};

// The logits of the next token of a text: one for each id of the model, of which only those below `allowed` may be
// sampled; the others pad the output layer.
struct NextLogits {
  const Real* values;
  Index vocab;
  Index allowed = vocab;
  std::span<const Real> constrained = {};  // logits of the allowed tokens, by constrained(); empty: all
};

struct Choice {
  TokenId id;
  double log_probability;  // under the model itself (temperature 1, all its tokens, no penalty), nats
};

// Draws from softmax(logits / temperature) of the allowed tokens, cut to the top_k most probable of them and, of these,
// to the smallest set whose probability reaches top_p and to those that reach min_p of the highest probability; all
// after the penalty for what `text` has. Constraints must leave a token. The draw is number `index` of the stream.
// Equal logits are ordered by id. Throws NumericError where any logit is not finite.
Choice sample(const NextLogits& logits, const SamplingOptions& options, std::span<const TokenId> text,
              const RandomStream& stream, std::uint64_t index);

}  // namespace heddle::decoding

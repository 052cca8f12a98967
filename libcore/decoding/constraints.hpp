// Tokens that must not come next, whatever their logits; used by every decoding method.
//
//   no_repeat_ngram_size = n   no n-gram that ends in a generated token occurs twice in the text, prompt included
//     Source: Paulus et al. 2018, "A deep reinforced model for abstractive summarization", section 2.5
//   min_tokens = m             the end token is not among the first m generated tokens
//
// The end token is no part of a text, so n-grams never forbid it. Where nothing is allowed any more, a text ends there,
// even before min_tokens: a constraint can make a text shorter, but never breaks another constraint.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "libcore/base/visit.hpp"

namespace heddle::decoding {

struct Constraints {
  Index no_repeat_ngram_size = 0;
  Index min_tokens = 0;

  bool any() const { return no_repeat_ngram_size > 0 || min_tokens > 0; }

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("no_repeat_ngram_size",
                  "do not generate any sequence of N tokens twice, prompt included (Paulus et al. 2018)")
                .range(1, 1000000)
                .word(0, "none")
                .takes("N"),
            self.no_repeat_ngram_size);
    visitor(
        Field("min_tokens", "minimum number of generated tokens; end-of-text and stop strings are ignored until then")
            .formerly("min_new_tokens")
            .range(0, 1000000000)
            .takes("N"),
        self.min_tokens);
  }
};

// A text so far, of which the last `added` tokens were generated.
struct TextSoFar {
  std::span<const TokenId> tokens;
  Index added = 0;
};

// The logits of the tokens below `allowed`, -infinity for those that must not follow the text. The tokens are those of
// the whole text, also where the model has forgotten its beginning.  Shapes: logits [allowed].  Cost: n times the
// length of the text.
std::vector<Real> constrained(const Real* logits, Index allowed, const TextSoFar& text, std::optional<TokenId> end,
                              const Constraints& constraints);

// Whether every logit is -infinity.
bool nothing_allowed(std::span<const Real> logits);

}  // namespace heddle::decoding

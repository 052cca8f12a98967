// The most probable continuations of texts, by beam search (SPEC 7.1, A10).
//
// score(y) = log p(y | prompt) / ((5 + |y|) / 6)^length_penalty + coverage_penalty sum_j log min(sum_i a_ij, 1),
//
// where |y| counts the token that ends a text too, and a_ij is the attention to token j of the source, special tokens
// included, while token i of y is predicted, its end included. Source: Wu et al. 2016, "Google's neural machine
// translation system", equation 14; the penalty enters when a text is found, not before.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "libcore/decoding/constraints.hpp"
#include "libcore/decoding/search.hpp"

namespace heddle::decoding {

struct BeamOptions {
  Index width = 4;
  double length_penalty = 0.6;  // 0 or more; more favours longer texts
  double coverage_penalty = 0;  // 0 or more; more favours texts that attend to all of the source
  Index max_tokens = 256;
  std::vector<Index> max_tokens_of{};  // limit for each prompt, at most max_tokens; empty: max_tokens for all
  Constraints constraints{};
  std::optional<TokenId> end{};  // ends a text; not among its tokens
  // Whether a text ends after these tokens; empty: never.
  std::function<bool(const std::vector<Choice>& tokens)> ends_with{};
  std::optional<Index> vocab_size{};  // only ids below it are generated, not rows that pad the output layer; else all
  DType cache = DType::real;          // dtype of keys and values: Real or bfloat16
};

struct FoundText {
  std::vector<Choice> tokens;
  double score;  // log-probability, including the end token
};

// The best texts that the search finds for each prompt, best first: `width` of them, or all there are, which is fewer
// where there are no more texts of max_tokens or the constraints allow no more.
//
// Each step keeps the `width` most probable unfinished texts. A text is found when its end is among the `width` most
// probable next steps, when it has max_tokens, or when the constraints allow no token after it. The search is over when
// `width` are found and no text that continues can become better than the worst of them: log p(text so far) / ((5 +
// max_tokens) / 6)^length_penalty bounds what it can score, since log p only falls, lengths are at most max_tokens, and
// the term of coverage is at most 0.
// So stopping changes nothing in what is found. With width 1 the search is greedy decoding: it is over with the first
// end, which the bound alone would not say, for with a penalty a longer text may score more than the one that greedy
// decoding finds. Among equals, texts of better ones, and lower tokens, come first.
//
// Probabilities are normalised over all ids of the model, including those that are never generated. The text and its
// bits do not depend on the other prompts, as far as RowKernels allow. Prompts count from first_prompt; sources and
// errors are those of run_searches(), NumericError where a logit is not finite, and UsageError for a coverage penalty
// with a model that does not attend to a source.  Cost: that of width sequences a
// prompt.
std::vector<std::vector<FoundText>> beam_search(const models::Generator& model,
                                                const std::vector<std::vector<TokenId>>& prompts, Index first_prompt,
                                                const BeamOptions& options,
                                                const std::vector<std::vector<TokenId>>& sources = {});

}  // namespace heddle::decoding

// The decoding loop: continues a batch of hypotheses by the search method of each text.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "libcore/decoding/sampling.hpp"
#include "libcore/models/roles.hpp"

namespace heddle::decoding {

// A model's prediction after a hypothesis.
struct Prediction {
  std::vector<Choice> candidates;             // from Search::candidates()
  std::span<const Real> source_weights = {};  // attention to the source's tokens, if SearchOptions requests it
};

// The search method of one text: sampling, beam search. Hypotheses are renumbered at every step; at first there is one,
// the prompt.
class Search {
 public:
  // The successor of a hypothesis of the last step.
  struct Step {
    Index hypothesis;
    TokenId token;
  };

  virtual ~Search() = default;
  // Tokens that may follow a hypothesis, by the logits after it. Called for many hypotheses at the same time.
  virtual std::vector<Choice> candidates(Index hypothesis, const Real* logits) const = 0;
  // The hypotheses that continue, by the predictions of all there are; none when the search is over.
  virtual std::vector<Step> advance(std::span<const Prediction> predictions) = 0;
};

struct SearchOptions {
  Index max_tokens;             // no search takes more steps
  DType cache = DType::real;    // dtype of keys and values: Real or bfloat16
  bool source_weights = false;  // only of models that attend to their source
};

// Runs one search for each prompt, all as one batch, until they are over. If the number of positions is limited, a
// hypothesis that fills them continues from its last half, and earlier tokens have no effect any more. The logits of a
// search do not depend on the other searches, to the bit as far as RowKernels allow. `sources` are the source texts of
// a sequence-to-sequence model, with the special tokens around them, one for each prompt; empty for other models.
// Throws DataError for an empty prompt and for prompts longer than the context, "prompt N: ", counting from `first`.
void run_searches(const models::Generator& model, const std::vector<std::vector<TokenId>>& prompts, Index first,
                  const std::vector<std::unique_ptr<Search>>& searches, const SearchOptions& options,
                  const std::vector<std::vector<TokenId>>& sources = {});

}  // namespace heddle::decoding

// Continues token sequences by sampling one token after the other.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "libcore/decoding/constraints.hpp"
#include "libcore/decoding/search.hpp"

namespace heddle::decoding {

struct GenerateOptions {
  SamplingOptions sampling{};
  Constraints constraints{};
  Index samples = 1;  // continuations of each prompt
  Index max_tokens = 256;
  std::vector<Index> max_tokens_of{};  // limit for each prompt, at most max_tokens; empty: max_tokens for all
  std::optional<TokenId> end{};        // stops a sequence; not delivered
  std::uint64_t seed = 0;
  std::optional<Index> vocab_size{};  // only ids below it are generated, not rows that pad the output layer; else all
  DType cache = DType::real;          // dtype of keys and values: Real or bfloat16
};

// Called with each new token of each sequence, in order within a sequence; false ends that sequence (after this token).
// The sequences of prompt p are numbered from p * samples.
using TokenSink = std::function<bool(Index sequence, const Choice& token)>;

// Continues all prompts as one batch until each has ended. What a sequence becomes depends on (seed, the number of its
// prompt, its number among the samples, the prompt) alone, not on its neighbours. Tokens are drawn among those that may
// come, by the vocabulary's size and by the constraints (where none may, the sequence ends); the log-probabilities that
// are reported are among all of the model's, as everywhere. Prompts count from first_prompt. Throws as run_searches().
void generate(const models::Generator& model, const std::vector<std::vector<TokenId>>& prompts, Index first_prompt,
              const GenerateOptions& options, const TokenSink& sink,
              const std::vector<std::vector<TokenId>>& sources = {});

}  // namespace heddle::decoding

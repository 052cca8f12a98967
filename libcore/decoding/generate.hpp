// Continuing token sequences.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "heddle/decoding/sampling.hpp"
#include "heddle/models/decoder.hpp"

namespace heddle::decoding {

struct GenerateOptions {
  SamplingOptions sampling;
  Index max_tokens = 256;
  std::optional<TokenId> end;  // stops a sequence; not delivered
  std::uint64_t seed = 0;
  Element cache = Element::real;  // what keys and values are stored as: Real or bfloat16
};

// Told of each new token of each sequence, in order within a sequence; false ends that sequence (after this token).
using TokenSink = std::function<bool(Index sequence, const Choice& token)>;

// Continues all prompts as one batch until each has ended. What a sequence becomes depends on (seed, its number, its
// prompt) alone, not on its neighbours. Numbers count from first_sequence.
// A sequence that fills the context goes on from its last half: the model forgets what came before.
// Throws DataError for an empty prompt and for prompts longer than the context.
void generate(const models::Decoder& model, const std::vector<std::vector<TokenId>>& prompts, Index first_sequence,
              const GenerateOptions& options, const TokenSink& sink);

}  // namespace heddle::decoding

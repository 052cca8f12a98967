// Hidden states as vectors of tokens, words and texts.
#pragma once

#include <span>
#include <vector>

#include "heddle/data/alignment.hpp"
#include "heddle/data/framing.hpp"
#include "heddle/models/roles.hpp"

namespace heddle::analysis {

// What a model reads to know the states of a text.
struct TextToEmbed {
  std::vector<TokenId> ids;
  data::TokenSpan text, around;         // where the text's own tokens are, and those of them that matter
  std::vector<data::TokenSpan> wanted;  // the means over these positions instead of every position's state
};

// Models that see both sides of a token read [CLS] text [SEP], others the text alone. `around` are the tokens of the
// text that matter: of a text longer than the context, what lies around them is kept, as much before as after where
// there is as much.
// Throws DataError for a text without a token, and where even the tokens that matter do not fit.
TextToEmbed text_to_embed(const models::ContextualVectors& model, const text::Tokenizer& tokenizer,
                          std::span<const TokenId> tokens, const data::TokenSpan& around);

struct EmbedOptions {
  // 0 is what enters the first block, i what leaves block i, the last one after the final norm; negative ones count
  // from the last, -1. Several stand for the mean of their states.
  std::vector<Index> layers{-1};
  Index batch_tokens = 4096;  // padded tokens in a batch, at most, where one text is not longer
};

// For each text, in order, its states [positions, width], or the means [wanted, width]. Texts of like length share a
// batch.
// Throws UsageError for a layer that the model does not have, and NumericError for states that are not finite.
std::vector<Tensor> embed(const models::ContextualVectors& model, std::span<const TextToEmbed> texts,
                          const EmbedOptions& options);

// The vector that stands for tokens without any context: the mean of their embeddings, [width].
// Throws DataError where there is no token.
Tensor embed_tokens(const models::ContextualVectors& model, std::span<const TokenId> tokens);

}  // namespace heddle::analysis

// Hidden states as vectors of tokens, words and texts.
#pragma once

#include <limits>
#include <set>
#include <span>
#include <vector>

#include "libcore/data/framing.hpp"
#include "libcore/data/token_alignment.hpp"
#include "libcore/decoding/length_batches.hpp"
#include "libcore/models/roles.hpp"

namespace heddle::analysis {

// Model input for computing the hidden states of a text.
struct TextToEmbed {
  std::vector<TokenId> ids;
  data::TokenSpan text, around;         // the text's own tokens, and those of them that must be kept
  std::vector<data::TokenSpan> wanted;  // the means over these positions instead of every position's state
};

// The text is read in the model's frame (models::reading_frame). A text longer than the context is
// truncated around the tokens of `around`, with as much kept before them as after them if possible.
// Throws DataError for a text without a token, and if the tokens of `around` alone do not fit.
TextToEmbed text_to_embed(const models::ContextualVectors& model, const text::Tokenizer& tokenizer,
                          std::span<const TokenId> tokens, const data::TokenSpan& around);

// A layer in lists of layers that stands for all that there are.
inline constexpr Index all_layers = std::numeric_limits<Index>::min();

// The layers of a list, from `first` to `last`, in ascending order and each once; negative numbers count from the last,
// -1. Throws UsageError for a layer that is not there, or none.
std::set<Index> chosen_layers(const std::vector<Index>& layers, Index first, Index last);

struct EmbedOptions {
  // 0 is the input of the first block, i the output of block i, the last one after the final norm; as chosen_layers()
  // takes them. Several layers are averaged.
  std::vector<Index> layers{-1};
  // The maximum of tokens in a batch, padding included, unless one text is longer.
  Index batch_tokens = decoding::usual_batch_tokens;
};

// For each text, in order, its states [positions, width], or the means [wanted, width]. Texts of similar length share a
// batch; ranks divide the batches (parallel::Divided).
// Throws UsageError for a layer that the model does not have, and NumericError for states that are not finite.
std::vector<Tensor> embed(const models::ContextualVectors& model, std::span<const TextToEmbed> texts,
                          const EmbedOptions& options);

// The vector of tokens without context: the mean of their embeddings, [width].
// Throws DataError where there is no token.
Tensor embed_tokens(const models::ContextualVectors& model, std::span<const TokenId> tokens);

}  // namespace heddle::analysis

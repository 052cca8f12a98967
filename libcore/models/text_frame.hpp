// Framing of a text of which a model computes vectors.
#pragma once

#include <optional>

#include "libcore/data/framing.hpp"
#include "libcore/models/roles.hpp"

namespace heddle::models {

// The special tokens around a text as training put them there: of models that read sources those of a source, of others
// that see both sides of a token [CLS] and [SEP] where the tokenizer has them, of those of them that predict next
// tokens, too, the token that ends texts on either side; none of models that read on and on. Throws UsageError as
// data::text_frame().
std::optional<data::TextFrame> reading_frame(const ContextualVectors& model, const text::Tokenizer& tokenizer);

}  // namespace heddle::models

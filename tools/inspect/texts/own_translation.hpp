// A model's own translation of a text, for verbs that are given none.
#pragma once

#include <string>
#include <vector>

#include "formats/heddle/load_model.hpp"
#include "tools/lines/translation_frames.hpp"

namespace heddle {

// The target's tokens after the prompt, by greedy decoding: as many as the context holds, without the token that ends
// them. `source`: with the special tokens around it. Throws NumericError, "PATH: …", for logits that are not finite.
std::vector<TokenId> own_translation(const models::Generator& model, const formats::LoadedModel& loaded,
                                     const std::string& path, const TranslationFrames& frames,
                                     const std::vector<TokenId>& source);

}  // namespace heddle

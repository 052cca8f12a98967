// The token ids around the texts that a sequence-to-sequence model reads and writes.
#pragma once

#include <vector>

#include "formats/heddle/load_model.hpp"
#include "libcore/data/framing.hpp"

namespace heddle {

struct TranslationFrames {
  // Throws UsageError for tokenizers without tokens that end texts.
  TranslationFrames(const models::SequenceToSequence& model, const formats::LoadedModel& loaded);

  data::TextFrame source, target;
  std::vector<TokenId> prompt;  // start of each target
};

}  // namespace heddle

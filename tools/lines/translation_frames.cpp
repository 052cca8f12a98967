#include "tools/lines/translation_frames.hpp"

namespace heddle {

TranslationFrames::TranslationFrames(const models::SequenceToSequence& model, const formats::LoadedModel& loaded)
    : source(data::text_frame(loaded.of_sources(), "translation")),
      target(data::text_frame(loaded.tokenizer, "translation")),
      prompt{model.start_token().value_or(target.end)} {
  if (target.begin) prompt.push_back(*target.begin);
}

}  // namespace heddle

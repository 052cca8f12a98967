#include "libcore/models/text_frame.hpp"

namespace heddle::models {

std::optional<data::TextFrame> reading_frame(const ContextualVectors& model, const text::Tokenizer& tokenizer) {
  const bool reads_sources = dynamic_cast<const SequenceToSequence*>(&model) != nullptr;
  if (reads_sources) return data::text_frame(tokenizer, "translation");
  if (dynamic_cast<const MixedPredictor*>(&model) != nullptr) {
    if (!tokenizer.end_of_text()) return std::nullopt;
    return data::TextFrame{tokenizer.end_of_text(), *tokenizer.end_of_text()};
  }
  if (!model.is_bidirectional() || !tokenizer.classification() || !tokenizer.separator()) return std::nullopt;
  return data::TextFrame{tokenizer.classification(), *tokenizer.separator()};
}

}  // namespace heddle::models

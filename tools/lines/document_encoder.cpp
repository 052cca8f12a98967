#include "tools/lines/document_encoder.hpp"

#include <optional>

namespace heddle {

DocumentEncoder::DocumentEncoder(DocumentReader& reader, const text::Tokenizer& tokenizer, TokenSink& sink,
                                 const text::StreamOptions& options)
    : reader_(reader),
      tokenizer_(tokenizer),
      sink_(sink),
      encoder_(
          tokenizer, [this](const auto& part) { store(part); }, options) {}

void DocumentEncoder::store(const text::StreamEncoder::Part& part) {
  sink_.append(part.ids, part.text_bytes - spelled_bytes(tokenizer_, part.ids));
  if (!part.ends_document) return;
  if (const std::optional<TokenId> end = tokenizer_.end_of_text()) sink_.append({&*end, 1}, 0);
  sink_.end_document();
  reader_.finish_document();
}

Index spelled_bytes(const text::Tokenizer& tokenizer, std::span<const TokenId> ids) {
  Index bytes = 0;
  for (const TokenId id : ids) {
    if (tokenizer.is_special(id) && id != tokenizer.unknown()) bytes += tokenizer.token_bytes(id);
  }
  return bytes;
}

}  // namespace heddle

// Text as documents of ids: what a token file holds, and what training on text itself reads.
#pragma once

#include <span>

#include "heddle/text/stream_encoder.hpp"
#include "tools/corpus/reader.hpp"

namespace heddle {

// Where the ids go.
class TokenSink {
 public:
  virtual ~TokenSink() = default;
  // Ids that were made from so many bytes of text, special tokens that it spells not counted.
  virtual void append(std::span<const TokenId> ids, Index text_bytes) = 0;
  virtual void end_document() = 0;
};

// Encodes what the reader reads; the end-of-text token, where the tokenizer has one, ends each document. The reader and
// the sink must stay.
class DocumentEncoder : public TextConsumer {
 public:
  DocumentEncoder(TextReader& reader, const text::Tokenizer& tokenizer, TokenSink& sink,
                  const text::StreamOptions& options = {});

  void add(std::string_view text) override { encoder_.add(text); }
  void end_document() override { encoder_.end_document(); }
  void pause() override { encoder_.flush(); }

 private:
  void store(const text::StreamEncoder::Part& part);
  Index spelled_bytes(std::span<const TokenId> ids) const;

  TextReader& reader_;
  text::Tokenizer tokenizer_;
  TokenSink& sink_;
  text::StreamEncoder encoder_;
};

}  // namespace heddle

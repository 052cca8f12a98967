// Encodes text as documents of ids, for token files and for training on text.
#pragma once

#include <span>

#include "libcore/text/stream_encoder.hpp"
#include "tools/lines/document_reader.hpp"

namespace heddle {

// Receives the ids.
class TokenSink {
 public:
  virtual ~TokenSink() = default;
  // Ids of the next `bytes` bytes of text; special tokens that the text spells out are not counted.
  virtual void append(std::span<const TokenId> ids, Index text_bytes) = 0;
  virtual void end_document() = 0;
};

// The bytes of special tokens among the ids. The unknown token is not counted: it stands for other text.
Index spelled_bytes(const text::Tokenizer& tokenizer, std::span<const TokenId> ids);

// Encodes the text of the reader and ends each document with the end-of-text token, if the tokenizer has one. The
// reader and the sink must outlive this object.
class DocumentEncoder : public TextConsumer {
 public:
  DocumentEncoder(DocumentReader& reader, const text::Tokenizer& tokenizer, TokenSink& sink,
                  const text::StreamOptions& options = {});

  void add(std::string_view text) override { encoder_.add(text); }
  void end_document() override { encoder_.end_document(); }
  void pause() override { encoder_.flush(); }

 private:
  void store(const text::StreamEncoder::Part& part);

  DocumentReader& reader_;
  text::Tokenizer tokenizer_;
  TokenSink& sink_;
  text::StreamEncoder encoder_;
};

}  // namespace heddle

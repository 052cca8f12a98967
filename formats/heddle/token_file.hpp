// Token files: a corpus as token ids, with the tokenizer that made them.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "formats/heddle/file.hpp"
#include "formats/heddle/token_columns.hpp"
#include "formats/heddle/tokenizer_file.hpp"
#include "libcore/data/token_source.hpp"

namespace heddle::formats {

// Writes a token file from front to end in constant memory. Without commit() no file appears.
class TokenFileWriter {
 public:
  TokenFileWriter(const std::string& path, const text::Tokenizer& tokenizer, TokenFileOptions options = {});

  // Ids that were made from so many bytes of text: none for those that end documents. Throws DataError for ids outside
  // the vocabulary, and when the disk is full.
  void append(std::span<const TokenId> ids, Index text_bytes = 0);
  // Ends a document: all that was appended since the last call; it may be empty.
  void end_document() { tokens_.end_document(); }
  void commit(const Provenance& provenance);

  Index size() const { return tokens_.size(); }  // tokens so far
  Index documents() const { return tokens_.documents(); }
  Index text_bytes() const { return tokens_.text_bytes(); }

 private:
  OutputFile file_;
  TokenColumnsWriter tokens_;
};

// Reads a token file; any thread may call any function.
class TokenFile : public data::TokenSource {
 public:
  // Throws DataError unless it is a token file.
  explicit TokenFile(const std::string& path);

  Index size() const override { return tokens_.size(); }
  Index vocab_size() const override { return tokens_.vocab_size(); }
  void read(Index offset, std::span<TokenId> out) const override { tokens_.read(offset, out); }
  std::string name() const override { return file_.path(); }

  const InputFile& file() const { return file_; }
  const TokenColumns& tokens() const { return tokens_; }
  Index text_bytes() const { return tokens_.text_bytes(); }
  Index documents() const { return tokens_.documents(); }
  // The document that the token at the offset is of.
  Index document_at(Index offset) const override;
  // The tokens [first, second) of a document.
  std::pair<Index, Index> document(Index number) const { return tokens_.document(number); }
  // All read at once.
  std::vector<Index> document_lengths() const override { return tokens_.document_lengths(); }
  text::TokenizerModel tokenizer_model() const { return read_tokenizer_model(file_); }
  text::Tokenizer tokenizer() const { return read_tokenizer(file_); }
  // Throws DataError unless the tokenizer made the tokens; `model` is the file that has it.
  void check_made_with(const text::Tokenizer& tokenizer, const std::string& model) const;

  // Reads everything and returns the problems, one line each; empty if there are none.
  std::vector<std::string> verify() const;

 private:
  InputFile file_;
  TokenColumns tokens_;
};

}  // namespace heddle::formats

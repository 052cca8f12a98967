// Token files: a corpus as token ids, with the tokenizer that made them.
#pragma once

#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "heddle/data/token_source.hpp"
#include "heddle/formats/hdf5/column.hpp"
#include "heddle/formats/heddle/file.hpp"
#include "heddle/formats/heddle/tokenizer_file.hpp"

namespace heddle::formats {

struct TokenFileOptions {
  bool compress = false;  // about half the size, and slower to read at random
};

// Writes a token file from front to end in constant memory. Without commit() no file appears.
class TokenFileWriter {
 public:
  TokenFileWriter(const std::string& path, const text::Tokenizer& tokenizer, TokenFileOptions options = {});

  // Ids that were made from so many bytes of text: none for those that end documents. Throws DataError for ids outside
  // the vocabulary, and when the disk is full.
  void append(std::span<const TokenId> ids, Index text_bytes = 0);
  // What was appended since the last call is a document; it may be empty.
  void end_document();
  void commit(const Provenance& provenance);

  Index size() const;  // tokens so far
  Index documents() const { return documents_.size() - 1; }
  Index text_bytes() const { return text_bytes_; }

 private:
  using Ids = std::variant<ColumnWriter<std::uint16_t>, ColumnWriter<std::uint32_t>>;
  static Ids make_ids(const OutputFile& file, Index vocab_size, const TokenFileOptions& options);

  OutputFile file_;
  std::string path_;
  Index vocab_size_;
  Ids ids_;
  ColumnWriter<std::uint64_t> documents_;
  Index document_begin_ = 0;
  Index text_bytes_ = 0;
};

// Reads a token file; any thread may call any function.
class TokenFile : public data::TokenSource {
 public:
  // Throws DataError unless it is a token file.
  explicit TokenFile(const std::string& path);

  Index size() const override { return ids_.size(); }
  Index vocab_size() const override { return vocab_size_; }
  void read(Index offset, std::span<TokenId> out) const override;
  std::string name() const override { return file_.path(); }

  const InputFile& file() const { return file_; }
  Index text_bytes() const { return text_bytes_; }
  Index documents() const { return documents_.size() - 1; }
  // The document that the token at the offset is of.
  Index document_at(Index offset) const override;
  // The tokens [first, second) of a document.
  std::pair<Index, Index> document(Index number) const;
  // All read at once.
  std::vector<Index> document_lengths() const override;
  text::TokenizerModel tokenizer_model() const { return read_tokenizer_model(file_); }
  text::Tokenizer tokenizer() const { return read_tokenizer(file_); }
  // Throws DataError unless the tokenizer made the tokens; `model` is the file that has it.
  void check_made_with(const text::Tokenizer& tokenizer, const std::string& model) const;

  // Reads everything and returns the problems, one line each; empty if there are none.
  std::vector<std::string> verify() const;

 private:
  template <class Id>
  void read_as(Index offset, std::span<TokenId> out, std::vector<Id>& buffer) const;
  template <class Id>
  void verify_ids() const;
  std::vector<std::uint64_t> document_bounds() const;

  InputFile file_;
  hdf5::Dataset ids_, documents_;
  Index vocab_size_, text_bytes_;
  mutable std::mutex mutex_;  // of the buffers
  mutable std::vector<std::uint16_t> narrow_;
  mutable std::vector<std::uint32_t> wide_;
};

}  // namespace heddle::formats

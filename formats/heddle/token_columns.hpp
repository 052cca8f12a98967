// Texts as token ids in a group of a file: the datasets `tokens` and `documents`, of token files and of both sides of
// pairs files.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "formats/hdf5/column.hpp"
#include "libcore/base/real.hpp"

namespace heddle::formats {

struct TokenFileOptions {
  bool compress = false;  // about half the size, and slower to read at random
};

// Writes the ids from front to end in constant memory.
class TokenColumnsWriter {
 public:
  // `where` begins the messages.
  TokenColumnsWriter(const hdf5::OutputGroup& group, std::string where, Index vocab_size, TokenFileOptions options);

  // Ids that were made from so many bytes of text. Throws DataError for ids outside the vocabulary.
  void append(std::span<const TokenId> ids, Index text_bytes);
  // Ends a document: all that was appended since the last call; it may be empty.
  void end_document();
  // Ends a document that has tokens, writes what is left, and closes the datasets.
  void finish();

  Index size() const { return size_; }  // tokens so far
  Index documents() const { return documents_; }
  Index text_bytes() const { return text_bytes_; }

 private:
  struct Columns {
    std::variant<ColumnWriter<std::uint16_t>, ColumnWriter<std::uint32_t>> ids;
    ColumnWriter<std::uint64_t> documents;
  };
  static Columns make_columns(const hdf5::OutputGroup& group, Index vocab_size, const ColumnOptions& options);

  std::string where_;
  Index vocab_size_;
  std::optional<Columns> columns_;  // until finish()
  Index size_ = 0, documents_ = 0, document_begin_ = 0, text_bytes_ = 0;
};

// Reads them; any thread may call any function.
class TokenColumns {
 public:
  // `where` begins the messages. Throws DataError unless the group has the datasets.
  TokenColumns(const hdf5::Group& group, std::string where, Index vocab_size);

  Index size() const { return ids_.size(); }  // tokens
  Index documents() const { return documents_.size() - 1; }
  Index vocab_size() const { return vocab_size_; }
  Index text_bytes() const { return text_bytes_; }
  // Reads out.size() tokens from the offset. Throws DataError outside the tokens and for ids outside the vocabulary.
  void read(Index offset, std::span<TokenId> out) const;
  // The tokens [first, second) of a document.
  std::pair<Index, Index> document(Index number) const;
  // Start of each document, then the number of tokens. Reads all of them. Throws DataError unless they rise from 0.
  std::vector<std::uint64_t> document_bounds() const;
  std::vector<Index> document_lengths() const;

  // Reads everything and returns the problems, one line each.
  std::vector<std::string> verify() const;

 private:
  template <class Id>
  void read_as(Index offset, std::span<TokenId> out, std::vector<Id>& buffer) const;
  template <class Id>
  void verify_ids() const;

  hdf5::Group group_;
  std::string where_;
  hdf5::Dataset ids_, documents_;
  Index vocab_size_, text_bytes_;
  mutable std::mutex mutex_;  // guards the buffers
  mutable std::vector<std::uint16_t> narrow_;
  mutable std::vector<std::uint32_t> wide_;
};

}  // namespace heddle::formats

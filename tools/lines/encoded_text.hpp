// A text file as tokens in memory, the same tokens as in the token file that tokenize makes of it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libcore/data/token_source.hpp"
#include "libcore/text/tokenizer.hpp"
#include "tools/cli/arguments.hpp"
#include "tools/lines/document_cutter.hpp"

namespace heddle {

// Takes 2 bytes per token (4 if the vocabulary has more than 65,536 pieces) and 8 per document, in blocks, so that
// growing copies no more than the first.
class EncodedText : public data::TokenSource {
 public:
  EncodedText(Index vocab_size, std::string name);

  void append(std::span<const TokenId> ids);
  void end_document() { ends_.push_back(size_); }

  Index size() const override { return size_; }
  Index vocab_size() const override { return vocab_size_; }
  void read(Index offset, std::span<TokenId> out) const override;
  std::string name() const override { return name_; }
  Index document_at(Index offset) const override;
  std::vector<Index> document_lengths() const override;

 private:
  static constexpr Index block_tokens = Index{1} << 20;
  template <class Id>
  void append_to(std::vector<std::vector<Id>>& blocks, std::span<const TokenId> ids);
  template <class Id>
  void read_from(const std::vector<std::vector<Id>>& blocks, Index offset, std::span<TokenId> out) const;

  Index vocab_size_;
  std::string name_;
  bool is_narrow_;
  std::vector<std::vector<std::uint16_t>> narrow_;  // blocks of block_tokens, the last perhaps shorter
  std::vector<std::vector<std::uint32_t>> wide_;
  std::vector<Index> ends_;  // ends of documents
  Index size_ = 0;
};

// Reads and encodes the file. Throws DataError if it cannot be read, has no text, or has text that the tokenizer cannot
// encode.
std::unique_ptr<EncodedText> encode_text(const std::string& path, const text::Tokenizer& tokenizer, Documents documents,
                                         const cli::Arguments& arguments);

}  // namespace heddle

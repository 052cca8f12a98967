// Pairs files: pairs of texts as token ids, with the tokenizers that made them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "formats/heddle/file.hpp"
#include "formats/heddle/token_columns.hpp"
#include "formats/heddle/tokenizer_file.hpp"
#include "libcore/data/pair_source.hpp"

namespace heddle::formats {

// Writes a pairs file from front to end in constant memory, either side in turn. Without commit() no file appears.
class PairsFileWriter {
 public:
  // The source's tokenizer is stored only where it is another one.
  PairsFileWriter(const std::string& path, const text::Tokenizer& source, const text::Tokenizer& target,
                  TokenFileOptions options = {});

  // Ids that were made from so many bytes of text. Throws DataError for ids outside the vocabulary, and when the disk
  // is full.
  void append(Side side, std::span<const TokenId> ids, Index text_bytes = 0);
  // Ends a text: all that was appended to the side since the last call; it may be empty.
  void end_text(Side side) { of(side).end_document(); }
  // Throws DataError where one side has more texts than the other.
  void commit(const Provenance& provenance);

  Index tokens(Side side) const { return of(side).size(); }
  Index texts(Side side) const { return of(side).documents(); }
  Index text_bytes(Side side) const { return of(side).text_bytes(); }

 private:
  TokenColumnsWriter& of(Side side) { return side == Side::source ? source_ : target_; }
  const TokenColumnsWriter& of(Side side) const { return side == Side::source ? source_ : target_; }

  OutputFile file_;
  std::string path_;
  TokenColumnsWriter source_, target_;
};

// Reads a pairs file; any thread may call any function. Keeps where the texts begin in memory, 16 bytes for each pair.
class PairsFile : public data::PairSource {
 public:
  // Throws DataError unless it is a pairs file with as many sources as targets.
  explicit PairsFile(const std::string& path);

  Index size() const override { return source_.tokens.documents(); }
  Index source_vocab_size() const override { return source_.tokens.vocab_size(); }
  Index target_vocab_size() const override { return target_.tokens.vocab_size(); }
  Index source_length(Index pair) const override { return length(source_, pair); }
  Index target_length(Index pair) const override { return length(target_, pair); }
  std::vector<TokenId> source(Index pair) const override { return read(source_, pair); }
  std::vector<TokenId> target(Index pair) const override { return read(target_, pair); }
  std::string name() const override { return file_.path(); }

  const InputFile& file() const { return file_; }
  const TokenColumns& tokens(Side side) const { return (side == Side::source ? source_ : target_).tokens; }
  bool has_source_tokenizer() const { return formats::has_source_tokenizer(file_); }
  text::TokenizerModel tokenizer_model(Side side) const { return read_tokenizer_model(file_, side); }
  text::Tokenizer tokenizer(Side side) const { return read_tokenizer(file_, side); }
  // Throws DataError unless these tokenizers made the pairs; `model` is the file that has them.
  void check_made_with(const text::Tokenizer& source, const text::Tokenizer& target, const std::string& model) const;

  // Reads everything and returns the problems, one line each; empty if there are none.
  std::vector<std::string> verify() const;

 private:
  struct Texts {
    TokenColumns tokens;
    std::vector<std::uint64_t> bounds;  // start of each text, then the number of tokens
  };
  void read_bounds(Texts& texts) const;
  void check_number(Index pair) const;
  Index length(const Texts& texts, Index pair) const;
  std::vector<TokenId> read(const Texts& texts, Index pair) const;

  InputFile file_;
  Texts source_, target_;
};

}  // namespace heddle::formats

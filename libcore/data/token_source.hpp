// Token streams: a token file, or memory.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libcore/base/error.hpp"
#include "libcore/base/real.hpp"

namespace heddle::data {

class TokenSource {
 public:
  virtual ~TokenSource() = default;
  virtual Index size() const = 0;        // tokens
  virtual Index vocab_size() const = 0;  // every id is below it
  // Reads out.size() tokens from the offset. Throws DataError outside the source and for ids outside the vocabulary.
  virtual void read(Index offset, std::span<TokenId> out) const = 0;
  // For messages: the file's name, and which of its documents, from 0, a token is of.
  virtual std::string name() const = 0;
  virtual std::string name_at(Index) const { return name(); }
  virtual Index document_at(Index) const { return 0; }
  // Tokens of each document.
  virtual std::vector<Index> document_lengths() const { return {size()}; }

  // Tokens [begin, end) that training reads `weight` times an epoch.
  struct Part {
    Index begin, end;
    double weight;
  };
  virtual std::vector<Part> parts() const { return {{0, size(), 1}}; }
};

class TokensInMemory : public TokenSource {
 public:
  TokensInMemory(std::vector<TokenId> tokens, Index vocab_size, std::string name = "tokens in memory")
      : tokens_(std::move(tokens)), vocab_size_(vocab_size), name_(std::move(name)) {}

  Index size() const override { return static_cast<Index>(tokens_.size()); }
  Index vocab_size() const override { return vocab_size_; }
  std::string name() const override { return name_; }
  void read(Index offset, std::span<TokenId> out) const override {
    const auto length = static_cast<Index>(out.size());
    check<DataError>(offset >= 0 && offset + length <= size(), name_, ": tokens ", offset, " to ", offset + length,
                     " of ", size());
    std::copy_n(tokens_.begin() + offset, length, out.begin());
  }

 private:
  std::vector<TokenId> tokens_;
  Index vocab_size_;
  std::string name_;
};

}  // namespace heddle::data

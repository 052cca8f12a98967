// Several token streams as one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "libcore/data/token_source.hpp"

namespace heddle::data {

class JoinedTokens : public TokenSource {
 public:
  struct Source {
    const TokenSource& tokens;
    double weight = 1;
  };
  // One after the other, in this order. The sources must stay. Precondition: at least one.
  explicit JoinedTokens(std::vector<Source> sources);

  Index size() const override { return ends_.back(); }
  Index vocab_size() const override;
  void read(Index offset, std::span<TokenId> out) const override;
  std::string name() const override;
  std::string name_at(Index offset) const override;
  Index document_at(Index offset) const override;
  std::vector<Index> document_lengths() const override;
  std::vector<Part> parts() const override;

 private:
  // The source that has the token, and the offset of its first one.
  std::pair<std::size_t, Index> find(Index offset) const;

  std::vector<Source> sources_;
  std::vector<Index> ends_;
};

}  // namespace heddle::data

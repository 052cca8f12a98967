#include "libcore/data/joined_tokens.hpp"

#include <algorithm>

namespace heddle::data {

JoinedTokens::JoinedTokens(std::vector<Source> sources) : sources_(std::move(sources)) {
  Index end = 0;
  for (const Source& source : sources_) ends_.push_back(end += source.tokens.size());
}

Index JoinedTokens::vocab_size() const {
  Index largest = 0;
  for (const Source& source : sources_) largest = std::max(largest, source.tokens.vocab_size());
  return largest;
}

std::pair<std::size_t, Index> JoinedTokens::find(Index offset) const {
  const auto found = std::upper_bound(ends_.begin(), ends_.end() - 1, offset);
  const auto i = static_cast<std::size_t>(found - ends_.begin());
  return {i, i == 0 ? 0 : ends_[i - 1]};
}

void JoinedTokens::read(Index offset, std::span<TokenId> out) const {
  const auto length = static_cast<Index>(out.size());
  check<DataError>(offset >= 0 && offset + length <= size(), name(), ": tokens ", offset, " to ", offset + length,
                   " of ", size());
  while (!out.empty()) {
    const auto [i, begin] = find(offset);
    const Index here = std::min(static_cast<Index>(out.size()), ends_[i] - offset);
    sources_[i].tokens.read(offset - begin, out.first(static_cast<std::size_t>(here)));
    out = out.subspan(static_cast<std::size_t>(here));
    offset += here;
  }
}

std::string JoinedTokens::name() const {
  const std::string first = sources_.front().tokens.name();
  return sources_.size() == 1 ? first : concatenate(first, " and ", sources_.size() - 1, " more");
}

std::string JoinedTokens::name_at(Index offset) const {
  return sources_[find(offset).first].tokens.name();
}

Index JoinedTokens::document_at(Index offset) const {
  const auto [i, begin] = find(offset);
  return sources_[i].tokens.document_at(offset - begin);
}

std::vector<Index> JoinedTokens::document_lengths() const {
  std::vector<Index> lengths;
  for (const Source& source : sources_) {
    const std::vector<Index> of_source = source.tokens.document_lengths();
    lengths.insert(lengths.end(), of_source.begin(), of_source.end());
  }
  return lengths;
}

std::vector<TokenSource::Part> JoinedTokens::parts() const {
  std::vector<Part> parts;
  Index begin = 0;
  for (std::size_t i = 0; i < sources_.size(); begin = ends_[i++])
    parts.push_back({begin, ends_[i], sources_[i].weight});
  return parts;
}

}  // namespace heddle::data

#include "tools/inspect/files/token_statistics.hpp"

#include <algorithm>
#include <numeric>

namespace heddle {

namespace {

std::vector<Index> count_tokens(const formats::TokenColumns& tokens) {
  constexpr Index block = 1 << 20;
  std::vector<Index> counts(static_cast<std::size_t>(tokens.vocab_size()));
  std::vector<TokenId> ids;
  for (Index begin = 0; begin < tokens.size(); begin += block) {
    ids.resize(static_cast<std::size_t>(std::min(block, tokens.size() - begin)));
    tokens.read(begin, ids);
    for (const TokenId id : ids) ++counts[static_cast<std::size_t>(id)];
  }
  return counts;
}

}  // namespace

TokenStatistics token_statistics(const formats::TokenColumns& tokens, const text::TokenizerModel& model,
                                 Index most_frequent) {
  const std::vector<Index> counts = count_tokens(tokens);
  const auto count_of = [&](Index id) { return id < 0 ? 0 : counts.at(static_cast<std::size_t>(id)); };
  TokenStatistics result{};
  result.used = std::ranges::count_if(counts, [](Index count) { return count > 0; });
  for (const Index id : model.special_tokens) result.special += count_of(id);
  result.unknown = count_of(model.unknown);

  std::vector<Index> lengths = tokens.document_lengths();
  std::ranges::sort(lengths);
  if (!lengths.empty()) {
    result.shortest = lengths.front();
    result.median = lengths[lengths.size() / 2];
    result.longest = lengths.back();
  }

  std::vector<Index> order(counts.size());
  std::iota(order.begin(), order.end(), Index{0});
  const Index shown = std::min(most_frequent, result.used);
  std::partial_sort(order.begin(), order.begin() + shown, order.end(),
                    [&](Index a, Index b) { return std::pair(-count_of(a), a) < std::pair(-count_of(b), b); });
  for (const Index id : std::span(order).first(static_cast<std::size_t>(shown))) {
    result.frequent.push_back({id, model.pieces.at(static_cast<std::size_t>(id)), count_of(id)});
  }
  return result;
}

}  // namespace heddle

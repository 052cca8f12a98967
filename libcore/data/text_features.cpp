#include "heddle/data/text_features.hpp"

#include <algorithm>
#include <cstdint>
#include <span>

#include "heddle/base/random.hpp"

namespace heddle::data {

namespace {

enum class Text : std::uint64_t { first, second };

// Tokens are not negative, so that 0 stands for no neighbour.
Index row_of(TokenId token, std::uint64_t neighbour, Text text, Index rows) {
  const std::uint64_t key = static_cast<std::uint64_t>(token) << 33 | neighbour << 1 | static_cast<std::uint64_t>(text);
  return static_cast<Index>(mixed(key) & static_cast<std::uint64_t>(rows - 1));
}

void add_features(std::span<const TokenId> tokens, Text text, Index rows, std::vector<Index>& features) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    features.push_back(row_of(tokens[i], 0, text, rows));
    if (i > 0) features.push_back(row_of(tokens[i - 1], static_cast<std::uint64_t>(tokens[i]) + 1, text, rows));
  }
}

}  // namespace

std::vector<Index> text_features(const FramedSequence& sequence, Index rows) {
  const auto tokens = [&](Index at, Index count) {
    return std::span(sequence.ids).subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(count));
  };
  std::vector<Index> features;
  add_features(tokens(sequence.first_at, sequence.first_count), Text::first, rows, features);
  add_features(tokens(sequence.second_at, sequence.second_count), Text::second, rows, features);
  std::sort(features.begin(), features.end());
  features.erase(std::unique(features.begin(), features.end()), features.end());
  return features;
}

}  // namespace heddle::data

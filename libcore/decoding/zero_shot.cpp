#include "libcore/decoding/zero_shot.hpp"

#include <algorithm>
#include <numeric>

namespace heddle::decoding {

Index prompt_room(const models::TokenLoss& model, std::span<const Tokens> labels) {
  std::size_t longest = 0;
  for (const Tokens& label : labels) {
    check<DataError>(!label.empty(), "a label without a token cannot be scored");
    longest = std::max(longest, label.size());
  }
  const Index room = score_limit(model) - static_cast<Index>(longest);
  check<DataError>(room > 0, "a label of ", longest, " tokens does not fit the context of ", model.position_limit());
  return room;
}

std::vector<std::vector<double>> label_log_likelihoods(const models::TokenLoss& model, std::span<const Tokens> prompts,
                                                       std::span<const Tokens> labels, Index batch_tokens) {
  const auto room = static_cast<std::size_t>(prompt_room(model, labels));
  std::vector<GivenTokens> texts;
  for (std::size_t p = 0; p < prompts.size(); ++p) {
    check<DataError>(!prompts[p].empty(), "prompt ", p + 1, " is empty");
    check<DataError>(prompts[p].size() <= room, "prompt ", p + 1, " has ", prompts[p].size(), " tokens, more than the ",
                     room, " that fit the context with the longest label");
    for (const Tokens& label : labels) {
      texts.push_back({prompts[p], static_cast<Index>(prompts[p].size())});
      texts.back().ids.insert(texts.back().ids.end(), label.begin(), label.end());
    }
  }
  const auto scores = token_log_probabilities(model, texts, batch_tokens);
  std::vector<std::vector<double>> sums(prompts.size());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    sums[i / labels.size()].push_back(std::accumulate(scores[i].begin(), scores[i].end(), 0.0));
  }
  return sums;
}

}  // namespace heddle::decoding

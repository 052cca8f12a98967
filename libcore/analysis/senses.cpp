#include "libcore/analysis/senses.hpp"

#include <algorithm>
#include <map>

namespace heddle::analysis {

namespace {

Tensor row_of(const Tensor& matrix, Index row) {
  return matrix.narrowed(0, row, 1);
}

std::vector<Real> mean_row(const Tensor& matrix) {
  const Index rows = matrix.shape()[0], width = matrix.shape()[1];
  std::vector<Real> mean;
  for (Index j = 0; j < width; ++j) {
    double sum = 0;
    for (Index i = 0; i < rows; ++i) sum += static_cast<double>(matrix[i * width + j]);
    mean.push_back(static_cast<Real>(sum / static_cast<double>(rows)));
  }
  return mean;
}

SenseGuess elected(const std::vector<Neighbour>& neighbours, const std::vector<Index>& ranks) {
  std::map<Index, double> votes;  // keyed by rank
  for (const auto& [row, similarity] : neighbours) votes[ranks[static_cast<std::size_t>(row)]] += similarity;
  const auto winner = std::ranges::max_element(votes, {}, [](const auto& vote) { return vote.second; });
  const auto nearest = std::ranges::find_if(
      neighbours, [&](const Neighbour& n) { return ranks[static_cast<std::size_t>(n.row)] == winner->first; });
  return {winner->first, nearest->similarity};
}

}  // namespace

std::vector<Index> SenseClassifier::by_frequency(std::span<const Index> senses) {
  std::map<Index, Index> counts;
  for (const Index sense : senses) ++counts[sense];
  std::vector<Index> ranking;
  for (const auto& [sense, count] : counts) ranking.push_back(sense);
  std::ranges::stable_sort(ranking, std::greater(), [&](Index sense) { return counts[sense]; });
  return ranking;
}

// The examples of each sense together, so that of equally near ones that of the more frequent sense comes first.
SenseClassifier::Ranked SenseClassifier::ranked(const Tensor& examples, std::span<const Index> senses) const {
  check<ShapeError>(examples.rank() == 2 && examples.shape()[0] == static_cast<Index>(senses.size()), senses.size(),
                    " senses for examples of shape ", examples.shape());
  Ranked result{Tensor(examples.shape()), {}};
  for (std::size_t rank = 0; rank < ranking_.size(); ++rank) {
    for (std::size_t i = 0; i < senses.size(); ++i) {
      if (senses[i] != ranking_[rank]) continue;
      row_of(result.vectors, static_cast<Index>(result.ranks.size())).assign(row_of(examples, static_cast<Index>(i)));
      result.ranks.push_back(static_cast<Index>(rank));
    }
  }
  return result;
}

SenseClassifier::Ranked SenseClassifier::centroids(const Tensor& examples, std::span<const Index> senses) const {
  const Ranked sorted = ranked(examples, senses);
  Ranked result{Tensor({static_cast<Index>(ranking_.size()), examples.shape()[1]}), {}};
  Index begin = 0;
  for (Index rank = 0; rank < static_cast<Index>(ranking_.size()); ++rank) {
    const Index count = std::ranges::count(sorted.ranks, rank);
    const std::vector<Real> mean = mean_row(sorted.vectors.narrowed(0, begin, count));
    std::ranges::copy(mean, row_of(result.vectors, rank).data());
    result.ranks.push_back(rank);
    begin += count;
  }
  return result;
}

Tensor SenseClassifier::centred(const Tensor& vectors) const {
  if (origin_.empty()) return vectors;
  const Tensor result = vectors.copy();
  const auto width = static_cast<Index>(origin_.size());
  for (Index i = 0; i < result.size(); ++i) result[i] -= origin_[static_cast<std::size_t>(i % width)];
  return result;
}

SenseClassifier::SenseClassifier(const Tensor& examples, std::span<const Index> senses, Index voters)
    : ranking_(by_frequency(senses)),
      voters_(std::max<Index>(voters, 1)),
      origin_(voters == 0 ? std::vector<Real>() : mean_row(examples)),
      known_(voters == 0 ? centroids(examples, senses) : ranked(centred(examples), senses)),
      nearest_(known_.vectors) {}

std::vector<SenseGuess> SenseClassifier::operator()(const Tensor& words) const {
  std::vector<SenseGuess> guesses;
  for (const std::vector<Neighbour>& neighbours : nearest_.find(centred(words), voters_)) {
    SenseGuess guess = elected(neighbours, known_.ranks);
    guess.sense = ranking_[static_cast<std::size_t>(guess.sense)];
    guesses.push_back(guess);
  }
  return guesses;
}

}  // namespace heddle::analysis

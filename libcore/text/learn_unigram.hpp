// Learns the pieces of a unigram model and their probabilities from counted words.
//
// A word's probability is the sum over all ways to write it as pieces of the product of their probabilities. The seed
// is all characters and the substrings of words that occur most, times their length. Expectation maximisation raises
// the words' likelihood; then the pieces whose removal lowers it least are removed, a quarter at a time, until the
// requested number is left. Characters are kept. The result depends on the words and their counts alone, not on the
// number of threads; ties go to the smaller bytes.
// Source: Kudo 2018, "Subword regularization: improving neural network translation models with multiple subword
// candidates", section 3.2. Cost of an iteration: linear in the bytes of the different words.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "libcore/base/real.hpp"
#include "libcore/text/string_table.hpp"

namespace heddle::text {

struct UnigramGoal {
  std::size_t pieces;       // characters included
  Index minimum_count = 1;  // occurrences of a character or substring
  // Called after each step of expectation maximisation with the number of pieces and the log-likelihood of the words
  // before the step.
  std::function<void(std::size_t pieces, double log_likelihood)> progress = {};
};

struct LearntUnigram {
  std::vector<std::string> pieces;  // the most probable first
  std::vector<double> scores;       // natural logarithms of probabilities
};

// Fewer pieces when there are no more. Characters may take half of them; the rarest are left out, and split words.
LearntUnigram learn_unigram(const StringTable& words, const std::vector<Index>& counts, const UnigramGoal& goal);

}  // namespace heddle::text

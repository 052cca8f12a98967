// Contributions of the tokens of a text to a number that a model computes from it: a logit, or a log-probability.
//
//   leave-out    F(x) - F(x with the vectors of the word replaced by the baseline b)
//   gradient     sum over the word's tokens of e_i . dF/de_i
//   integrated   sum over the word's tokens of (e_i - b) . integral over a of dF/de_i at b + a (e - b): integrated
//                gradients (Sundararajan et al. 2017), whose sum over all words is F(x) - F(b)
//
// for the vectors e of tokens, before positions. The baseline b is the vector of [MASK] where there is one, else the
// mean of the vocabulary's. Tokens in no word, such as [CLS], stay as they are. Integrals are sums over the points of
// Gauss and Legendre on parts of [0, 1], each of which is halved until its sum is the change of F over it.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "libcore/models/sequences.hpp"
#include "libcore/models/task_model.hpp"
#include "libcore/nn/embedding_gates.hpp"

namespace heddle::analysis {

enum class Explaining { leave_out, gradient, integrated };

// A number F that a model computes from a sequence.
struct TokenFunction {
  std::vector<TokenId> ids, segments;  // the sequence; segments may be empty
  // Copies of the sequence, side by side -> [copies, numbers]
  std::function<Variable(const models::Sequences& copies)> numbers;
  Index number;                 // index of F among them
  bool is_log_softmax = false;  // F is the logarithm of its softmax instead
  double unit = 1;              // unit of F: the gap of integrated gradients counts in units of F times this
};

using Places = std::vector<Index>;  // the positions of a word's tokens

struct Contributions {
  double value = 0;              // F(x)
  std::optional<double> base{};  // F without the words; of integrated gradients and exact contributions
  std::vector<double> words{};   // per word; their sum is value - base if there is a base
  Index steps = 0;               // integrated: at how many points derivatives were computed
  double gap = 0;                // integrated: value - base - the sum of the words
};

// The gap that integrated gradients leave is at most this times max(1 / unit, |F(x) - F(b)|), unless more than
// most_explained_steps points are needed.
inline constexpr double explained_gap = 1e-3;
inline constexpr Index most_explained_steps = 4096;

// Throws UsageError for a model that looks up no vectors of these tokens, NumericError for numbers that are not finite.
Contributions contributions(const TokenFunction& function, std::span<const Places> words, Explaining method,
                            const nn::GateBaseline& baseline);

// Exactly, of a model that sums vectors of tokens (models::SummedVectors): of output `number` of its head, for the
// whole sequence or, of tags, for one position. The base is the head's bias and what tokens in no word add. Throws
// UsageError for heads that mix layers.
Contributions summed_contributions(const models::TaskModel& model, std::span<const TokenId> ids,
                                   std::optional<Index> position, Index number, std::span<const Places> words);

}  // namespace heddle::analysis

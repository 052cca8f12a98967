// Probabilities from a model's logits. Weights from an untrusted file can make any of them NaN or infinite, and sorting
// NaN is undefined behaviour: all code that reads logits uses these functions, which check every logit.
//
// All throw NumericError where a logit is not finite.
#pragma once

#include <vector>

#include "libcore/tensor/tensor.hpp"

namespace heddle::decoding {

void check_finite(const Real* logits, Index count);

// log sum_i e^(logits_i); the first form is given the maximum of the logits.
double log_sum_exp(const Real* logits, Index vocab, Real maximum);
double log_sum_exp(const Real* logits, Index vocab);

// log softmax(logits)[target] of each row, nats.  Shapes: logits [rows, vocab], a target for each row -> [rows].
// Precondition: targets below vocab.
std::vector<double> log_probabilities(const Tensor& logits, const std::vector<TokenId>& targets);

}  // namespace heddle::decoding

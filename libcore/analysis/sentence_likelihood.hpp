// Log-likelihoods of whole sentences, in nats.
#pragma once

#include <string>
#include <vector>

#include "libcore/decoding/zero_shot.hpp"
#include "libcore/text/tokenizer.hpp"

namespace heddle::analysis {

using decoding::Tokens;

// log p(sentence) of each, given the token that begins texts. Throws DataError for a tokenizer without that token, and
// "WHERE: …" for a sentence that does not fit the context.
std::vector<double> sentence_log_likelihoods(const models::TokenLoss& model, const text::Tokenizer& tokenizer,
                                             const std::vector<std::string>& sentences, const std::string& where);

// Throws DataError for a tokenizer without [MASK] and the tokens that stand around a text of the model.
void check_masks(const models::MaskedPredictor& model, const text::Tokenizer& tokenizer);

// The tokens between [CLS] and [SEP], or what else training put there. Throws as check_masks, and "WHERE: …" where they
// do not fit the context.
Tokens framed_for(const models::MaskedPredictor& model, const text::Tokenizer& tokenizer, const Tokens& ids,
                  const std::string& where);

// sum over the given positions of log p(token | all other tokens), each masked individually: the pseudo-log-likelihood.
// Source: Salazar et al. 2020, "Masked language model scoring", equation 2.
double pseudo_log_likelihood(const models::MaskedPredictor& model, const Tokens& framed,
                             const std::vector<Index>& places, TokenId mask);

}  // namespace heddle::analysis

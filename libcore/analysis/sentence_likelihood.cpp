#include "libcore/analysis/sentence_likelihood.hpp"

#include <numeric>

#include "libcore/models/text_frame.hpp"

namespace heddle::analysis {

std::vector<double> sentence_log_likelihoods(const models::TokenLoss& model, const text::Tokenizer& tokenizer,
                                             const std::vector<std::string>& sentences, const std::string& where) {
  check<DataError>(tokenizer.end_of_text().has_value(),
                   "the model has no token that begins a text, so that no text's first token has a likelihood");
  std::vector<Tokens> ids;
  for (const std::string& sentence : sentences) {
    ids.push_back(tokenizer.encode(sentence));
    check<DataError>(static_cast<Index>(ids.back().size()) <= model.position_limit(), where, ": ", ids.back().size(),
                     " tokens do not fit the context of ", model.position_limit());
  }
  const Tokens begin{*tokenizer.end_of_text()};
  return decoding::label_log_likelihoods(model, {&begin, 1}, ids).front();
}

void check_masks(const models::MaskedPredictor& model, const text::Tokenizer& tokenizer) {
  check<DataError>(tokenizer.mask() && models::reading_frame(model, tokenizer),
                   "the model's tokenizer has no [MASK], or no [CLS] and [SEP]");
}

Tokens framed_for(const models::MaskedPredictor& model, const text::Tokenizer& tokenizer, const Tokens& ids,
                  const std::string& where) {
  check_masks(model, tokenizer);
  Tokens framed = models::reading_frame(model, tokenizer)->around(ids);
  check<DataError>(static_cast<Index>(framed.size()) <= model.position_limit(), where, ": ", framed.size(),
                   " tokens are more than the context of ", model.position_limit());
  return framed;
}

double pseudo_log_likelihood(const models::MaskedPredictor& model, const Tokens& framed,
                             const std::vector<Index>& places, TokenId mask) {
  const std::vector<double> scores = decoding::masked_log_probabilities(model, framed, places, mask);
  return std::accumulate(scores.begin(), scores.end(), 0.0);
}

}  // namespace heddle::analysis

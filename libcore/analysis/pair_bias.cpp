#include "libcore/analysis/pair_bias.hpp"

#include <algorithm>

#include "libcore/analysis/sentence_likelihood.hpp"

namespace heddle::analysis {

namespace {

PairLikelihoods of_masked(const models::MaskedPredictor& model, const text::Tokenizer& tokenizer,
                          const data::PlacedText& first, const data::PlacedText& second, std::string_view file) {
  const Tokens one = tokenizer.encode(first.text), other = tokenizer.encode(second.text);
  SharedPlaces shared = shared_places(one, other);
  check<DataError>(!shared.first.empty(), file, ":", second.line, ": has no token in common with line ", first.line);
  const auto likelihood = [&](const Tokens& ids, std::vector<Index>& places, const data::PlacedText& text) {
    for (Index& place : places) ++place;  // after [CLS]
    const Tokens framed = framed_for(model, tokenizer, ids, concatenate(file, ":", text.line));
    return pseudo_log_likelihood(model, framed, places, *tokenizer.mask());
  };
  return {likelihood(one, shared.first, first), likelihood(other, shared.second, second)};
}

PairLikelihoods of_next(const models::TokenLoss& model, const text::Tokenizer& tokenizer, const data::PlacedText& first,
                        const data::PlacedText& second, std::string_view file) {
  const auto likelihood = [&](const data::PlacedText& text) {
    return sentence_log_likelihoods(model, tokenizer, {text.text}, concatenate(file, ":", text.line)).front();
  };
  return {likelihood(first), likelihood(second)};
}

}  // namespace

SharedPlaces shared_places(const std::vector<TokenId>& first, const std::vector<TokenId>& second) {
  // longest[i][j]: how many tokens the ends of the lists from i and from j on have in common
  std::vector<std::vector<Index>> longest(first.size() + 1, std::vector<Index>(second.size() + 1, 0));
  for (std::size_t i = first.size(); i-- > 0;) {
    for (std::size_t j = second.size(); j-- > 0;) {
      longest[i][j] =
          first[i] == second[j] ? longest[i + 1][j + 1] + 1 : std::max(longest[i + 1][j], longest[i][j + 1]);
    }
  }
  SharedPlaces places;
  for (std::size_t i = 0, j = 0; i < first.size() && j < second.size();) {
    if (first[i] == second[j]) {
      places.first.push_back(static_cast<Index>(i++));
      places.second.push_back(static_cast<Index>(j++));
    } else if (longest[i + 1][j] >= longest[i][j + 1]) {
      ++i;
    } else {
      ++j;
    }
  }
  return places;
}

std::vector<PairLikelihoods> pair_bias(const models::Model& model, const text::Tokenizer& tokenizer,
                                       const data::PairTest& test, std::string_view file) {
  std::vector<PairLikelihoods> results;
  for (std::size_t i = 0; i < test.first.size(); ++i) {
    const data::PlacedText &first = test.first[i], &second = test.second[i];
    const auto* masked = model.as<models::MaskedPredictor>();
    results.push_back(masked != nullptr ? of_masked(*masked, tokenizer, first, second, file)
                                        : of_next(models::require<models::TokenLoss>(model, "a test of pairs", file),
                                                  tokenizer, first, second, file));
  }
  return results;
}

}  // namespace heddle::analysis

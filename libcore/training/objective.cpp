#include "libcore/training/objective.hpp"

#include <cmath>
#include <map>
#include <set>

#include "libcore/base/strings.hpp"

namespace heddle::training {

namespace {

constexpr std::size_t most_named = 64;  // so that a message stays one that can be read
constexpr Index most_counted = 1'000'000;

}  // namespace

TokenFrequencies token_frequencies(const data::TokenSource& tokens) {
  std::vector<double> counts(static_cast<std::size_t>(tokens.vocab_size()), 0);
  double sum = 0;
  for (const data::TokenSource::Part& part : tokens.parts()) {
    std::vector<TokenId> ids(static_cast<std::size_t>(std::min(most_counted, part.end - part.begin)));
    tokens.read(part.begin, ids);
    // A part of the text that was cut stands for the whole.
    const double weight =
        ids.empty() ? 0 : part.weight * static_cast<double>(part.end - part.begin) / static_cast<double>(ids.size());
    for (const TokenId id : ids) counts[static_cast<std::size_t>(id)] += weight;
    sum += weight * static_cast<double>(ids.size());
  }
  TokenFrequencies result;
  for (const double count : counts) {
    if (count == 0) continue;
    const double p = count / sum;
    result.entropy -= p * std::log(p);
    result.agreement += p * p;
  }
  return result;
}

Origin origin_of(const data::TokenSource& tokens, Index offset) {
  return {"documents of " + tokens.name_at(offset), tokens.document_at(offset)};
}

std::string to_text(const std::vector<Origin>& origins) {
  std::map<std::string, std::set<Index>> numbers;
  for (const Origin& origin : origins) numbers[origin.of].insert(origin.number);
  std::string text;
  for (const auto& [of, all] : numbers) {
    std::vector<std::string> shown;
    for (const Index number : all) shown.push_back(concatenate(number));
    text += (text.empty() ? "" : "; ") + of + ": " + join_first(std::move(shown), most_named);
  }
  return text;
}

void check_vocabulary(const models::TokenModel& model, const data::TokenSource& tokens) {
  const Index vocab = model.vocab_size();
  check<DataError>(tokens.vocab_size() <= vocab, tokens.name(), ": vocabulary of ", tokens.vocab_size(),
                   " does not match the model's ", vocab, "; encode it with the model's tokenizer");
}

}  // namespace heddle::training

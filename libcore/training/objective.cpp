#include "heddle/training/objective.hpp"

#include <map>
#include <set>

namespace heddle::training {

namespace {
constexpr std::size_t most_named = 64;  // so that a message stays one that can be read
}

Origin origin_of(const data::TokenSource& tokens, Index offset) {
  return {"documents of " + tokens.name_at(offset), tokens.document_at(offset)};
}

std::string to_text(const std::vector<Origin>& origins) {
  std::map<std::string, std::set<Index>> numbers;
  for (const Origin& origin : origins) numbers[origin.of].insert(origin.number);
  std::string text;
  for (const auto& [of, all] : numbers) {
    text += (text.empty() ? "" : "; ") + of + ":";
    std::size_t named = 0;
    for (const Index number : all) {
      if (++named > most_named) break;
      text += concatenate(named > 1 ? ", " : " ", number);
    }
    if (all.size() > most_named) text += concatenate(" and ", all.size() - most_named, " more");
  }
  return text;
}

void check_vocabulary(const models::TokenModel& model, const data::TokenSource& tokens) {
  const Index vocab = model.vocab_size();
  check<DataError>(tokens.vocab_size() <= vocab, tokens.name(), ": vocabulary of ", tokens.vocab_size(),
                   " does not match the model's ", vocab, "; encode it with the model's tokenizer");
}

}  // namespace heddle::training

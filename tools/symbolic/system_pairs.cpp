#include "tools/symbolic/system_pairs.hpp"

#include "libcore/symbolic/operators.hpp"
#include "libcore/text/spelling.hpp"

namespace heddle {

namespace {

std::function<data::TokenPair(std::uint64_t)> drawing(const text::Tokenizer& tokenizer,
                                                      const symbolic::GeneratorSettings& settings, std::uint64_t seed) {
  return [tokenizer, generator = symbolic::BackwardGenerator(settings, seed)](std::uint64_t number) {
    const symbolic::LyapunovPair pair = generator.pair(number);
    return data::TokenPair{tokenizer.encode(prefix(pair.system)), tokenizer.encode(prefix(pair.function))};
  };
}

}  // namespace

text::Tokenizer system_tokenizer() {
  constexpr text::TokenizerKind kind = text::TokenizerKind::word;
  text::TokenizerModel model;
  model.kind = kind;
  model.cuts = {"split\t ?[^ ]+\tisolated"};
  model.pieces.push_back("<|endoftext|>");
  model.special_tokens.push_back(0);
  model.end_of_text = 0;
  // A word that begins a text, and the same word inside it.
  const auto add = [&model](const std::string& word) {
    model.pieces.push_back(text::spell(kind, word));
    model.pieces.push_back(text::spell(kind, " " + word));
  };
  for (const char* const word : {"INT+", "INT-", "<SPECIAL_3>"}) add(word);
  for (const symbolic::OperatorName& name : symbolic::operator_names) add(std::string(name.token));
  for (const std::string& name : symbolic::numbered_names(symbolic::most_variables)) add(name);
  for (int digit = 0; digit < 1000; ++digit) model.pieces.push_back(text::spell(kind, " " + std::to_string(digit)));
  return text::Tokenizer(std::move(model));
}

data::GeneratedPairs pairs_to_train(const std::string& name, const symbolic::GeneratorSettings& settings,
                                    Index per_epoch, std::uint64_t seed) {
  const text::Tokenizer tokenizer = system_tokenizer();
  return {name,
          {.pairs = per_epoch, .longest = settings.most_tokens, .vocab_size = tokenizer.vocab_size()},
          drawing(tokenizer, settings, seed)};
}

data::PairsInMemory pairs_to_evaluate(const std::string& name, const symbolic::GeneratorSettings& settings, Index count,
                                      std::uint64_t seed) {
  const text::Tokenizer tokenizer = system_tokenizer();
  const auto draw = drawing(tokenizer, settings, seed);
  std::vector<data::TokenPair> pairs;
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(count); ++i)
    pairs.push_back(draw((std::uint64_t{1} << 63) + i));
  return {std::move(pairs), tokenizer.vocab_size(), tokenizer.vocab_size(), name};
}

}  // namespace heddle

#include "tools/symbolic/system_pairs.hpp"

#include "formats/symbolic/csdp.hpp"
#include "libcore/base/random.hpp"
#include "libcore/symbolic/operators.hpp"
#include "libcore/text/spelling.hpp"

namespace heddle {

namespace {

data::TokenPair tokens_of(const text::Tokenizer& tokenizer, const symbolic::LyapunovPair& pair) {
  return {tokenizer.encode(prefix(pair.system)), tokenizer.encode(prefix(pair.function))};
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

data::GeneratedPairs pairs_to_train(const std::string& name, const data::SystemDraws& draws, std::uint64_t seed) {
  const text::Tokenizer tokenizer = system_tokenizer();
  std::shared_ptr<const symbolic::ForwardGenerator> forward;
  if (draws.forward > 0) {
    constexpr double patience = 600;  // seconds: no pair depends on how fast the machine is
    const std::string csdp = formats::find_csdp();
    forward = std::make_shared<const symbolic::ForwardGenerator>(
        draws.size, seed, csdp.empty() ? symbolic::SemidefiniteSolver() : formats::csdp_solver(csdp, patience));
  }
  const auto draw = [tokenizer, backward = symbolic::BackwardGenerator(draws.size, seed), forward,
                     fraction = draws.forward,
                     chance = RandomStream(seed, random_site("systems/forward"))](std::uint64_t number) {
    if (chance.uniform(number) < fraction)
      if (const auto pair = forward->pair(number)) return tokens_of(tokenizer, *pair);
    return tokens_of(tokenizer, backward.pair(number));
  };
  return {
      name, {.pairs = draws.per_epoch, .longest = draws.size.most_tokens, .vocab_size = tokenizer.vocab_size()}, draw};
}

data::PairsInMemory pairs_to_evaluate(const std::string& name, const symbolic::GeneratorSettings& settings, Index count,
                                      std::uint64_t seed) {
  const text::Tokenizer tokenizer = system_tokenizer();
  const symbolic::BackwardGenerator backward(settings, seed);
  std::vector<data::TokenPair> pairs;
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(count); ++i)
    pairs.push_back(tokens_of(tokenizer, backward.pair((std::uint64_t{1} << 63) + i)));
  return {std::move(pairs), tokenizer.vocab_size(), tokenizer.vocab_size(), name};
}

}  // namespace heddle

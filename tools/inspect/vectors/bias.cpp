// inspect bias: measures associations of a model.
#include <fmt/format.h>

#include <iostream>

#include "formats/heddle/load_model.hpp"
#include "formats/labelled/bias_tests.hpp"
#include "libcore/analysis/embed.hpp"
#include "libcore/analysis/pair_bias.hpp"
#include "libcore/analysis/template_bias.hpp"
#include "libcore/base/values.hpp"
#include "libcore/metrics/weat.hpp"
#include "tools/cli/streams.hpp"
#include "tools/inspect/json_answer.hpp"
#include "tools/inspect/vectors/vector_model.hpp"
#include "tools/inspect/verbs.hpp"

namespace heddle {

namespace {

using data::PlacedText;
using formats::Json;
using metrics::Vector;

struct BiasOptions {
  std::vector<Index> layer{-1};
  Index permutations = 100000;
  std::string base;
  bool json = false;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(hidden_layer_field().essential(), self.layer);
    visitor(Field("permutations", "maximum number of permutations of two sets of words to compute a p-value from")
                .range(1, 1000000000)
                .formerly("partitions")
                .takes("N")
                .essential(),
            self.permutations);
    visitor(base_field(), self.base);
    visitor(Field("json", "print one JSON object").essential(), self.json);
  }
};

struct Loaded {
  VectorModel whole;
  std::string file;  // file of the tests
  std::vector<Index> layers;
};

// The tokens of a word in a text, by its bytes in the text.
analysis::TextToEmbed word_in(const Loaded& loaded, const std::string& context, const std::string& word) {
  const std::size_t begin = context.find(data::word_slot);
  std::string text = context;
  text.replace(begin, std::string_view(data::word_slot).size(), word);
  const auto located = loaded.whole.tokenizer.encode_with_offsets(text);
  std::vector<TokenId> ids;
  for (const text::LocatedToken& token : located) ids.push_back(token.id);
  const auto place = data::tokens_of(located, {begin, begin + word.size()});
  check<DataError>(place.has_value(), "has no token");
  auto result = analysis::text_to_embed(loaded.whole.vectors, loaded.whole.tokenizer, ids, *place);
  result.wanted = {result.around};
  return result;
}

// The mean of a word's hidden states over the contexts; without contexts, the mean of its pieces' embeddings.
Tensor vector_of(const Loaded& loaded, const std::string& word, const std::vector<PlacedText>& contexts) {
  if (contexts.empty()) return analysis::embed_tokens(loaded.whole.vectors, loaded.whole.tokenizer.encode(word));
  std::vector<analysis::TextToEmbed> texts;
  for (const PlacedText& context : contexts) texts.push_back(word_in(loaded, context.text, word));
  const std::vector<Tensor> states = analysis::embed(loaded.whole.vectors, texts, {.layers = loaded.layers});
  for (std::size_t i = 1; i < states.size(); ++i) states[0].add(states[i]);
  states[0].scale(Real(1) / static_cast<Real>(states.size()));
  return states[0];
}

std::vector<Vector> vectors_of(const Loaded& loaded, const std::vector<PlacedText>& words,
                               const std::vector<PlacedText>& contexts) {
  std::vector<Vector> vectors;
  for (const PlacedText& word : words) {
    try {
      const Tensor vector = vector_of(loaded, word.text, contexts);
      vectors.emplace_back(vector.data(), vector.data() + vector.size());
    } catch (const DataError& error) {
      throw DataError(concatenate(loaded.file, ":", word.line, ": '", word.text, "': ", error.what()));
    }
  }
  return vectors;
}

metrics::Association answer(const Loaded& loaded, const data::WordTest& test,
                            const metrics::Permutations& permutations) {
  const auto a = vectors_of(loaded, test.a, test.contexts), b = vectors_of(loaded, test.b, test.contexts);
  const auto associations = [&](const std::vector<PlacedText>& words) {
    std::vector<double> values;
    for (const Vector& word : vectors_of(loaded, words, test.contexts)) {
      values.push_back(metrics::association(word, a, b));
    }
    return values;
  };
  return metrics::weat(associations(test.x), associations(test.y), permutations);
}

std::string four_decimals(double value) {
  return format_fixed(value, 4);
}

void print(const data::TemplateTest& test, const std::vector<analysis::AttributeBias>& biases) {
  std::cout << "templates " << test.name << ": log p(" << test.targets[0].text << ") / p(" << test.targets[1].text
            << ")\n    ratio    prior     bias  attribute\n";
  for (const analysis::AttributeBias& one : biases) {
    std::cout << fmt::format("{:>9}{:>9}{:>9}  {}\n", four_decimals(one.ratio), four_decimals(one.prior),
                             four_decimals(one.bias()), one.attribute);
  }
  std::cout << '\n';
}

// Summary of a list of pairs.
struct PairSummary {
  std::size_t first_likelier = 0;
  double mean = 0;  // mean of the differences
};

PairSummary summarise(const std::vector<analysis::PairLikelihoods>& pairs) {
  PairSummary summary;
  for (const analysis::PairLikelihoods& pair : pairs) {
    summary.first_likelier += pair.difference() > 0 ? 1 : 0;
    summary.mean += pair.difference() / static_cast<double>(pairs.size());
  }
  return summary;
}

void print(const data::PairTest& test, const std::vector<analysis::PairLikelihoods>& pairs) {
  std::cout << "pairs " << test.name << ": log-likelihoods\n    first   second  difference\n";
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    std::cout << fmt::format("{:>9}{:>9}{:>12}  {}\n", four_decimals(pairs[i].first), four_decimals(pairs[i].second),
                             four_decimals(pairs[i].difference()), test.first[i].text);
  }
  const PairSummary summary = summarise(pairs);
  std::cout << fmt::format("the first is more likely in {} of {}, mean difference {}\n\n", summary.first_likelier,
                           pairs.size(), four_decimals(summary.mean));
}

void print(const data::WordTest& test, const metrics::Association& result) {
  std::cout << "weat " << test.name << ":";
  std::cout << fmt::format(" effect size {}, p {:.4g}", four_decimals(result.effect_size), result.p);
  std::cout << " (" << (result.exact ? "all " : "") << grouped(result.permutations) << " permutations"
            << (result.exact ? "" : ", drawn at random") << ")\n";
}

Json template_bias_json(const data::TemplateTest& test, const std::vector<analysis::AttributeBias>& biases) {
  Json list = Json::array();
  for (const analysis::AttributeBias& one : biases) {
    list.push_back({{"attribute", one.attribute}, {"ratio", one.ratio}, {"prior", one.prior}, {"bias", one.bias()}});
  }
  return {{"name", test.name}, {"targets", {test.targets[0].text, test.targets[1].text}}, {"attributes", list}};
}

Json pair_bias_json(const data::PairTest& test, const std::vector<analysis::PairLikelihoods>& pairs) {
  Json list = Json::array();
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    list.push_back({{"sentences", {test.first[i].text, test.second[i].text}},
                    {"log_likelihoods", {pairs[i].first, pairs[i].second}},
                    {"difference", pairs[i].difference()}});
  }
  const PairSummary summary = summarise(pairs);
  return {{"name", test.name},
          {"first_likelier", static_cast<double>(summary.first_likelier) / static_cast<double>(pairs.size())},
          {"mean_difference", summary.mean},
          {"pairs", list}};
}

void bias(const cli::Arguments& arguments, const BiasOptions& options) {
  cli::Input input(arguments.operand("TESTS"));
  const std::string content = cli::read_all(input);
  const data::BiasTests tests = formats::read_bias_tests(content, input.name());
  const Loaded loaded{VectorModel(arguments.operand("MODEL"), options.base, "inspect bias"), input.name(),
                      options.layer};
  const models::Model& model = *loaded.whole.loaded.model;
  check<DataError>((tests.templates.empty() && tests.pairs.empty()) || model.as<models::MaskedPredictor>() != nullptr ||
                       model.as<models::TokenLoss>() != nullptr,
                   arguments.operand("MODEL"),
                   ": predicts neither masked nor next tokens, which tests of templates and ",
                   "of pairs need; leave those out");
  Json answers{{"templates", Json::array()}, {"pairs", Json::array()}, {"weat", Json::array()}};
  for (const data::TemplateTest& test : tests.templates) {
    const auto biases = analysis::template_bias(*loaded.whole.loaded.model, loaded.whole.tokenizer, test, loaded.file);
    answers["templates"].push_back(template_bias_json(test, biases));
    if (!options.json) print(test, biases);
  }
  for (const data::PairTest& test : tests.pairs) {
    const auto pairs = analysis::pair_bias(*loaded.whole.loaded.model, loaded.whole.tokenizer, test, loaded.file);
    answers["pairs"].push_back(pair_bias_json(test, pairs));
    if (!options.json) print(test, pairs);
  }
  for (const data::WordTest& test : tests.words) {
    const auto result =
        answer(loaded, test, {options.permutations, static_cast<std::uint64_t>(arguments.common().seed)});
    Json one = formats::to_json(result);
    one["name"] = test.name;
    answers["weat"].push_back(std::move(one));
    if (!options.json) print(test, result);
  }
  if (options.json) std::cout << dump(answers);
}

}  // namespace

cli::Verb verbs::bias() {
  return cli::make_verb<BiasOptions>(
      {.summary = "Measures what a model associates: templates, sentence pairs, word sets (WEAT).",
       .synopsis = {"MODEL TESTS [--permutations N] [--layer N,...] [--json]"},
       .operands = {{"MODEL", "a model file, or an adapter", 1, 1},
                    {"TESTS", "tests of bias, as the man page describes", 1, 1}}},
      heddle::bias);
}

}  // namespace heddle

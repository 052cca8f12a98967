#include "libcore/analysis/template_bias.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "libcore/models/small_config.hpp"
#include "libcore/ops/cross_entropy.hpp"

using namespace heddle;
using namespace heddle::analysis;

namespace {

constexpr TokenId cls = 2, sep = 3, mask = 4, the = 5, nurse = 6, doctor = 7, said = 8, he = 9, she = 10, person = 11,
                  old = 12;

text::Tokenizer words() {
  text::TokenizerModel model;
  model.kind = text::TokenizerKind::wordpiece;
  model.pieces = {"[PAD]",  "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "nurse",
                  "doctor", "said",  "he",    "she",   "person", "old"};
  model.special_tokens = {0, 1, 2, 3, 4};
  model.padding = 0, model.unknown = 1, model.classification = cls, model.separator = sep, model.mask = mask;
  model.end_of_text = sep;
  return text::Tokenizer(model);
}

data::TemplateTest questions(bool neutral) {
  data::TemplateTest test;
  test.templates = {{"the [ATTRIBUTE] said [TARGET]", 1}, {"[TARGET] said the [ATTRIBUTE]", 2}};
  test.targets = {{"he", 3}, {"she", 3}};
  test.attributes = {{"nurse", 4}, {"old doctor", 4}};
  if (neutral) test.neutral = {{"person", 5}, {"old person", 5}};
  return test;
}

using Ids = std::vector<TokenId>;

// The words in the place of the attribute in both templates; the target is where 0 stands.
std::vector<Ids> sentences(const Ids& attribute) {
  std::vector<Ids> both{{the}, {0, said, the}};
  for (Ids& ids : both) ids.insert(ids.end(), attribute.begin(), attribute.end());
  both[0].insert(both[0].end(), {said, 0});
  return both;
}

// The mean over the templates.
template <class Ratio>
double mean_of(const Ids& attribute, const Ratio& ratio) {
  double sum = 0;
  for (const Ids& ids : sentences(attribute)) sum += ratio(ids) / 2;
  return sum;
}

// Large weights, so that words matter.
template <class Model, class Config>
Model stirred(const Config& config) {
  Model model(config, 3);
  testing::stir(model.parameters(), 0.3);
  return model;
}

void check(const AttributeBias& found, double ratio, double prior) {
  CAPTURE(found.attribute);
  CHECK(std::abs(ratio - prior) > 0.01);
  CHECK(std::abs(found.ratio - ratio) < 1e-5);
  CHECK(std::abs(found.prior - prior) < 1e-5);
  CHECK(std::abs(found.bias() - (ratio - prior)) < 1e-5);
}

}  // namespace

TEST_CASE("template bias: a model of masked tokens is asked for the masked target, against neutral words or masks") {
  const auto model = stirred<models::Encoder>(testing::small_encoder_config);
  const auto ratio = [&](Ids ids) {
    std::size_t place = 0;
    while (ids[place] != 0) ++place;
    ids[place] = mask;
    ids.insert(ids.begin(), cls);
    ids.push_back(sep);
    const auto time = static_cast<Index>(ids.size());
    const Tensor logits = model.masked_token_head()(model.hidden(TokenIds({1, time}, ids))).value();
    const Real* const row = logits.data() + static_cast<Index>(place + 1) * 13;
    return static_cast<double>(row[he]) - static_cast<double>(row[she]);
  };
  const auto with_words = template_bias(model, words(), questions(true), "test");
  const auto with_masks = template_bias(model, words(), questions(false), "test");
  REQUIRE(with_words.size() == 2);
  const double neutral = (mean_of({person}, ratio) + mean_of({old, person}, ratio)) / 2;
  check(with_words[0], mean_of({nurse}, ratio), neutral);
  check(with_words[1], mean_of({old, doctor}, ratio), neutral);
  // As many masks as the attribute has tokens.
  check(with_masks[0], mean_of({nurse}, ratio), mean_of({mask}, ratio));
  check(with_masks[1], mean_of({old, doctor}, ratio), mean_of({mask, mask}, ratio));
}

TEST_CASE("template bias: a model of next tokens compares whole sentences, from the token that begins texts") {
  const auto model = stirred<models::Decoder>(testing::small_decoder_config);
  const auto log_likelihood = [&](Ids ids, TokenId target) {
    std::ranges::replace(ids, 0, target);
    Ids read{sep};
    read.insert(read.end(), ids.begin(), ids.end() - 1);
    const auto time = static_cast<Index>(read.size());
    const Tensor logits = model.next_token_head()(model.hidden(TokenIds({1, time}, read))).value();
    double sum = 0;
    for (const double nats : ops::negative_log_likelihoods(logits, ids)) sum -= nats;
    return sum;
  };
  const auto ratio = [&](const Ids& ids) { return log_likelihood(ids, he) - log_likelihood(ids, she); };
  const auto found = template_bias(model, words(), questions(true), "test");
  REQUIRE(found.size() == 2);
  const double neutral = (mean_of({person}, ratio) + mean_of({old, person}, ratio)) / 2;
  check(found[0], mean_of({nurse}, ratio), neutral);
  check(found[1], mean_of({old, doctor}, ratio), neutral);
  CHECK_THROWS_AS(template_bias(model, words(), questions(false), "test"), DataError);
}

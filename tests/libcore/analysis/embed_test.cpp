#include "libcore/analysis/embed.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "libcore/models/encoder_decoder.hpp"
#include "support/models.hpp"

using namespace heddle;
using namespace heddle::analysis;

namespace {

constexpr Index embed_width = 12;

models::ModelConfig config_of(const std::string& arch, Index layers = 2) {
  const testing::ModelShape shape{
      .layers = layers, .width = embed_width, .heads = 3, .context = 8, .vocab_size = 13, .block = "post"};
  if (arch == "encoder") return testing::encoder(shape);
  return testing::decoder(shape);
}

const models::ContextualVectors& vectors_of(const std::unique_ptr<models::Model>& model) {
  return *model->as<models::ContextualVectors>();
}

// Words w0 to w9, and what encoders need.
text::Tokenizer tokenizer() {
  text::TokenizerModel model;
  model.kind = text::TokenizerKind::word;
  model.pieces = {"[UNK]", "[CLS]", "[SEP]"};
  for (int i = 0; i < 10; ++i) model.pieces.push_back("w" + std::to_string(i));
  model.special_tokens = {0, 1, 2};
  model.unknown = 0;
  model.classification = 1;
  model.separator = 2;
  return text::Tokenizer(model);
}

bool equal(const Tensor& a, const Tensor& b, double tolerance = 1e-5) {
  if (!(a.shape() == b.shape())) return false;
  for (Index i = 0; i < a.size(); ++i) {
    if (!(std::abs(static_cast<double>(a[i] - b[i])) <= tolerance)) return false;
  }
  return true;
}

TextToEmbed text_of(const std::vector<TokenId>& ids) {
  return {ids, {0, static_cast<Index>(ids.size()) - 1}, {0, 0}, {}};
}

}  // namespace

TEST_CASE("embed: the layers of a model are its embeddings, what its blocks give, and its hidden states") {
  for (const std::string arch : {"encoder", "decoder"}) {
    const auto model = models::make_model(config_of(arch), 3), shorter = models::make_model(config_of(arch, 1), 4);
    for (const Parameter& parameter : shorter->parameters().all()) {
      parameter.value().assign(model->parameters().find(parameter.name)->value());
    }
    const std::vector<TextToEmbed> texts{text_of({3, 4, 5, 6, 7}), text_of({9}), text_of({6, 5})};
    const auto layer = [&](std::vector<Index> layers) { return embed(vectors_of(model), texts, {layers, 6}); };
    const auto last = layer({-1}), middle = layer({1}), first = layer({0}), mean = layer({0, -1});
    const Tensor table = vectors_of(model).token_embeddings();
    const Tensor positions = model->parameters().find(arch + "/embedding/position/weight")->value();
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const auto time = static_cast<Index>(texts[i].ids.size());
      const TokenIds ids({1, time}, texts[i].ids);
      CHECK(equal(last[i], vectors_of(model).hidden(ids).value().reshaped({time, embed_width})));
      CHECK(equal(layer({2})[i], last[i], 0));
      CHECK(equal(middle[i], vectors_of(shorter).hidden(ids).value().reshaped({time, embed_width})));
      CHECK_FALSE(equal(middle[i], last[i]));
      for (Index t = 0; t < time; ++t) {
        for (Index j = 0; j < embed_width; ++j) {
          const Index at = t * embed_width + j;
          CHECK(first[i][at] ==
                doctest::Approx(table[texts[i].ids[static_cast<std::size_t>(t)] * embed_width + j] + positions[at]));
          CHECK(mean[i][at] == doctest::Approx((first[i][at] + last[i][at]) / 2));
        }
      }
    }
    CHECK(equal(layer({all_layers})[0], layer({0, 1, 2})[0], 0));
    CHECK(chosen_layers({all_layers}, 1, 3) == std::set<Index>{1, 2, 3});
    CHECK(chosen_layers({-1, 1, -3}, 1, 3) == std::set<Index>{1, 3});
    CHECK_THROWS_AS(chosen_layers({-4}, 1, 3), UsageError);
    CHECK_THROWS_WITH_AS(layer({3}), "`layer` = 3: the model has layers 0 to 2, or from the last one -1 to -3",
                         UsageError);
    CHECK_THROWS_AS(layer({-4}), UsageError);
  }
}

TEST_CASE("embed: what is wanted of a text is the mean of its states there") {
  const auto model = models::make_model(config_of("encoder"), 3);
  TextToEmbed text = text_of({3, 4, 5, 6});
  const Tensor all = embed(vectors_of(model), {&text, 1}, {}).front();
  text.wanted = {{1, 2}, {3, 3}};
  const Tensor parts = embed(vectors_of(model), {&text, 1}, {}).front();
  REQUIRE(parts.shape() == Shape{2, embed_width});
  for (Index j = 0; j < embed_width; ++j) {
    CHECK(parts[j] == doctest::Approx((all[embed_width + j] + all[2 * embed_width + j]) / 2));
    CHECK(parts[embed_width + j] == doctest::Approx(all[3 * embed_width + j]));
  }
}

TEST_CASE(
    "embed: encoders read [CLS] and [SEP] beside a text, and of long ones what is around the place that matters") {
  const text::Tokenizer words = tokenizer();
  const auto one = models::make_model(config_of("encoder"), 3);
  const auto other = models::make_model(config_of("decoder"), 3);
  const models::ContextualVectors &encoder = vectors_of(one), &decoder = vectors_of(other);
  const std::vector<TokenId> few = words.encode("w3 w4"), many = words.encode("w0 w1 w2 w3 w4 w5 w6 w7 w8 w9");
  std::vector<TokenId> framed{1, 2};
  framed.insert(framed.begin() + 1, few.begin(), few.end());
  CHECK(text_to_embed(encoder, words, few, {1, 1}).ids == framed);
  CHECK(text_to_embed(decoder, words, few, {1, 1}).ids == few);
  models::EncoderDecoderConfig reads_sources;
  reads_sources.layers = 1;
  reads_sources.width = embed_width;
  reads_sources.heads = 3;
  reads_sources.vocab_size = 13;
  const auto translator = models::make_model(reads_sources, 3);
  CHECK(text_to_embed(vectors_of(translator), words, few, {1, 1}).ids == framed);
  text::TokenizerModel ends = words.model();
  ends.classification = ends.separator = -1;
  ends.end_of_text = 2;
  const std::vector<TokenId> ended(framed.begin() + 1, framed.end());
  CHECK(text_to_embed(vectors_of(translator), text::Tokenizer(ends), few, {1, 1}).ids == ended);
  CHECK(text_to_embed(encoder, text::Tokenizer(ends), few, {1, 1}).ids == few);
  for (const auto* model : {&encoder, &decoder}) {
    const Index room = model == &encoder ? 6 : 8;
    for (Index first = 0; first < static_cast<Index>(many.size()); ++first) {
      CAPTURE(first);
      const Index end = std::min<Index>(first + 2, static_cast<Index>(many.size()));
      const TextToEmbed text = text_to_embed(*model, words, many, {first, end - 1});
      CHECK(static_cast<Index>(text.ids.size()) == 8);
      CHECK(text.text.last - text.text.first + 1 == room);
      for (Index i = first; i < end; ++i) {
        const auto at = static_cast<std::size_t>(text.around.first + i - first);
        CHECK(text.ids[at] == many[static_cast<std::size_t>(i)]);
      }
      const Index before = text.around.first - text.text.first, behind = text.text.last - text.around.last;
      const bool at_an_end = first < room / 2 || static_cast<Index>(many.size()) - end < room / 2;
      CHECK((at_an_end || std::abs(before - behind) <= 1));
    }
  }
  CHECK_THROWS_WITH_AS(text_to_embed(encoder, words, {}, {0, 0}), "has no token", DataError);
  CHECK_THROWS_AS(text_to_embed(encoder, words, many, {0, 7}), DataError);
}

TEST_CASE("embed: a word without context is the mean of its pieces' embeddings") {
  const auto model = models::make_model(config_of("decoder"), 3);
  const Tensor table = vectors_of(model).token_embeddings();
  const Tensor mean = embed_tokens(vectors_of(model), std::vector<TokenId>{4, 9});
  for (Index j = 0; j < embed_width; ++j)
    CHECK(mean[j] == doctest::Approx((table[4 * embed_width + j] + table[9 * embed_width + j]) / 2));
}

TEST_CASE("embed: states that are not finite are an error, those of padding nobody's concern") {
  const auto model = models::make_model(config_of("decoder"), 3);
  model->parameters().find("decoder/embedding/token/weight")->value()[7 * embed_width] =
      std::numeric_limits<Real>::quiet_NaN();
  const std::vector<TextToEmbed> good{text_of({1, 2, 3}), text_of({4})};
  CHECK(embed(vectors_of(model), good, {}).size() == 2);
  const std::vector<TextToEmbed> bad{text_of({1, 2}), text_of({3, 7})};
  CHECK_THROWS_AS(embed(vectors_of(model), bad, {}), NumericError);
}

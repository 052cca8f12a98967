#include "libcore/models/roles.hpp"

#include <doctest/doctest.h>

#include "support/models.hpp"

using namespace heddle;

namespace roles_tests {

namespace {

const testing::ModelShape shape{.layers = 1, .width = 4, .heads = 2, .context = 6, .vocab_size = 9};

std::unique_ptr<models::Model> small_decoder() {
  return models::make_model(testing::decoder(shape), 1);
}
std::unique_ptr<models::Model> small_encoder() {
  return models::make_model(testing::encoder(shape), 1);
}

}  // namespace

TEST_CASE("roles: a model plays those that its architecture has, and says how many positions it holds") {
  const auto decoder = small_decoder(), encoder = small_encoder();
  CHECK(decoder->as<models::Generator>() != nullptr);
  CHECK(decoder->as<models::TokenLoss>() != nullptr);
  CHECK(decoder->as<models::MaskedPredictor>() == nullptr);
  CHECK(encoder->as<models::Generator>() == nullptr);
  CHECK(encoder->as<models::TokenLoss>() == nullptr);
  CHECK(encoder->as<models::MaskedPredictor>() != nullptr);
  CHECK(decoder->tokens().position_limit() == 6);
  CHECK(&models::require<models::Generator>(*decoder, "generate", "d.h5") == decoder->as<models::Generator>());
}

TEST_CASE("roles: who needs one that a model does not play is told what the model does, and what to use instead") {
  const auto decoder = small_decoder(), encoder = small_encoder();
  CHECK_THROWS_WITH_AS(models::require<models::TokenLoss>(*encoder, "--score", "e.h5"),
                       "e.h5: is of the architecture encoder, which predicts masked tokens; --score needs a model that "
                       "predicts next tokens, of the architecture decoder or lstm",
                       DataError);
  CHECK_THROWS_WITH_AS(models::require<models::MaskedPredictor>(*decoder, "filling in masks", "d.h5"),
                       "d.h5: is of the architecture decoder, which predicts next tokens; filling in masks needs a "
                       "model that predicts masked tokens, of the architecture encoder",
                       DataError);
}

TEST_CASE("sequences: lists are padded to the longest one, and to as many positions as are asked for") {
  const std::vector<TokenId> one{4, 5, 6}, other{7};
  const std::vector<models::TokenList> lists{one, other};
  const models::Sequences padded = models::padded(lists), wider = models::padded(lists, 4);
  CHECK(padded.ids.shape == Shape{2, 3});
  CHECK(padded.lengths == std::vector<Index>{3, 1});
  CHECK(padded.segments.empty());
  CHECK(std::vector<TokenId>(padded.ids.ids.begin(), padded.ids.ids.begin() + 4) == std::vector<TokenId>{4, 5, 6, 7});
  CHECK(wider.ids.shape == Shape{2, 4});
  CHECK(wider.ids.ids[4] == 7);
}

}  // namespace roles_tests

// Asking a language model (SPEC 7.4). Built in double.
#include "libcore/decoding/zero_shot.hpp"

#include <doctest/doctest.h>

#include "libcore/models/decoder.hpp"
#include "libcore/models/small_config.hpp"
#include "libcore/ops/cross_entropy.hpp"

using namespace heddle;

namespace zero_shot_tests {

TEST_CASE("zero-shot: labels of several tokens, in batches, score as step by step") {
  const models::Decoder decoder(testing::small_decoder_config, 3);
  const std::vector<decoding::Tokens> prompts{{1, 2, 3}, {4}, {5, 6, 7, 8, 9}, {1}}, labels{{10}, {11, 12}, {2, 3, 4}};
  const auto scores = decoding::label_log_likelihoods(decoder, prompts, labels);
  for (std::size_t p = 0; p < prompts.size(); ++p) {
    for (std::size_t l = 0; l < labels.size(); ++l) {
      const auto state = decoder.start({1, 8});
      const auto length = static_cast<Index>(prompts[p].size());
      Tensor logits = decoder.step({Shape{1, length}, prompts[p]}, {length}, *state);
      double sum = 0;
      for (const TokenId token : labels[l]) {
        sum -= ops::negative_log_likelihoods(logits, {token})[0];
        if (&token != &labels[l].back()) logits = decoder.step({Shape{1, 1}, {token}}, {1}, *state);
      }
      CHECK(scores[p][l] == doctest::Approx(sum).epsilon(1e-10));
    }
  }
  CHECK(decoding::label_log_likelihoods(decoder, prompts, labels, 1)[2][2] ==
        doctest::Approx(scores[2][2]).epsilon(1e-10));
}

TEST_CASE("zero-shot: what does not fit, and what is empty, is refused") {
  const models::Decoder decoder(testing::small_decoder_config, 3);
  const std::vector<decoding::Tokens> labels{{1}, {2, 3}}, longer{{1, 2, 3, 4, 5, 6, 7, 8}},
      longest{{1, 2, 3, 4, 5, 6, 7}};
  // 8 positions: 7 tokens of a prompt and the first of two of a label are read.
  CHECK(decoding::prompt_room(decoder, labels) == 7);
  CHECK_NOTHROW(decoding::label_log_likelihoods(decoder, longest, labels));
  CHECK_THROWS_AS(decoding::label_log_likelihoods(decoder, longer, labels), DataError);
  CHECK_THROWS_AS(decoding::prompt_room(decoder, std::vector<decoding::Tokens>{{1}, {1, 2, 3, 4, 5, 6, 7, 8, 9}}),
                  DataError);
  const std::vector<decoding::Tokens> empty{{}, {1}};
  CHECK_THROWS_AS(decoding::label_log_likelihoods(decoder, longest, empty), DataError);
  CHECK_THROWS_AS(decoding::label_log_likelihoods(decoder, empty, labels), DataError);
}

}  // namespace zero_shot_tests

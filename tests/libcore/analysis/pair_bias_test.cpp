#include "libcore/analysis/pair_bias.hpp"

#include <doctest/doctest.h>

#include "libcore/analysis/sentence_likelihood.hpp"
#include "libcore/models/encoder.hpp"
#include "libcore/models/small_config.hpp"
#include "libcore/ops/cross_entropy.hpp"

using namespace heddle;
using namespace heddle::analysis;

namespace {

using Places = std::vector<Index>;

void check_shared(const Tokens& first, const Tokens& second, const Places& in_first, const Places& in_second) {
  const SharedPlaces shared = shared_places(first, second);
  CHECK(shared.first == in_first);
  CHECK(shared.second == in_second);
}

}  // namespace

TEST_CASE("pair bias: the tokens that two sentences share, in order") {
  check_shared({1, 2, 3}, {1, 2, 3}, {0, 1, 2}, {0, 1, 2});
  check_shared({1, 2, 3, 4}, {1, 9, 3, 4}, {0, 2, 3}, {0, 2, 3});
  check_shared({1, 2, 3}, {1, 7, 8, 9, 3}, {0, 2}, {0, 4});
  check_shared({5, 1, 2}, {1, 2, 5}, {1, 2}, {0, 1});
  check_shared({1, 2}, {3, 4}, {}, {});
  check_shared({}, {3}, {}, {});
}

TEST_CASE("pair bias: a pseudo-log-likelihood is the sum over the tokens, each masked alone") {
  const models::Encoder model(testing::small_encoder_config, 3);
  const Tokens framed{1, 5, 6, 7, 8, 6, 2};
  constexpr TokenId mask = 4;
  double sum = 0;
  for (const Index place : {1, 3, 5}) {
    Tokens masked = framed;
    masked[static_cast<std::size_t>(place)] = mask;
    const Tensor logits = model.masked_token_head()(model.hidden(TokenIds({1, 7}, masked))).value();
    Tokens targets(framed.size(), -1);
    targets[static_cast<std::size_t>(place)] = framed[static_cast<std::size_t>(place)];
    for (const double nats : ops::negative_log_likelihoods(logits, targets)) sum -= nats;
  }
  CHECK(pseudo_log_likelihood(model, framed, {1, 3, 5}, mask) == doctest::Approx(sum).epsilon(1e-5));
  CHECK(pseudo_log_likelihood(model, framed, {}, mask) == 0);
}

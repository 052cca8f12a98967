#include "libcore/nn/parts.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

using namespace heddle;
using namespace heddle::nn;

TEST_CASE("parts: parameters belong to parts by their names") {
  const std::pair<const char*, const char*> expected[]{
      {"embedding/token/weight", parts::token_embeddings},
      {"decoder/embedding/token/weight", parts::token_embeddings},
      {"two-stream/embedding/query/weight", parts::token_embeddings},
      {"decoder/embedding/position/weight", parts::positions},
      {"decoder/11/attention/positions/content_bias", parts::positions},
      {"encoder/embedding/segment/weight", parts::segments},
      {"two-stream/3/attention/segments/bias", parts::segments},
      {"encoder/embedding/norm/gain", parts::norms},
      {"decoder/0/cross_attention_norm/bias", parts::norms},
      {"head/norm/gain", parts::norms},
      {"decoder/0/attention/query/weight", parts::projections},
      {"decoder/0/cross_attention/output/bias", parts::projections},
      {"decoder/0/attention/query/lora/a", parts::adapters},
      {"decoder/0/attention/log_bandwidth", parts::mixing},
      {"decoder/attention/score/weight", parts::mixing},
      {"decoder/0/feed_forward/gate/weight", parts::feed_forward},
      {"encoder/pooler/weight", parts::pooler},
      {"head/weight", parts::output},
      {"head/next_sentence/bias", parts::output},
      {"encoder/kernel/2/weight", parts::convolutions},
      {"encoder/0/forward/recurrent/weight", parts::recurrent},
      {"lstm/1/input/bias", parts::recurrent},
      {"decoder/start/0/weight", parts::context},
      {"decoder/readout/embedding/weight", parts::readout},
      {"nobody/knows/this", parts::other}};
  const std::vector<std::string_view> all = parts::all();
  for (const auto& [name, part] : expected) {
    CAPTURE(name);
    CHECK(parts::of_parameter(name) == part);
    CHECK(std::ranges::count(all, part) == 1);
  }
}

// When the gradients of a model's parameters are complete during backward. Built in double.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "libcore/models/decoder.hpp"
#include "libcore/models/encoder.hpp"
#include "libcore/models/small_config.hpp"
#include "libcore/nn/low_rank.hpp"
#include "libcore/ops/arithmetic.hpp"
#include "support/tensors.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace gradient_hook_tests {

namespace {

struct Completion {
  std::vector<std::string> order;
  std::map<std::string, std::vector<Real>> gradients;  // as they were then
};

// One backward pass of the loss of some tokens.
Completion backward(const models::Model& model, const heads::TokenHead& head) {
  const TokenIds ids(Shape{2, 5}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  const std::vector<TokenId> targets{2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  Completion completion;
  for (const Parameter& parameter : model.parameters().all()) {
    if (parameter.is_trained()) parameter.variable.gradient()->clear();
  }
  Recording recording;
  model.parameters().watch_gradients(recording, [&](const Parameter& parameter) {
    completion.order.push_back(parameter.name);
    completion.gradients[parameter.name] = parameter.gradient().elements();
  });
  const Pass pass{.dropout = 0.1, .seed = 4, .step = 5, .training = true};
  recording.backward(head.loss(model.as<models::ContextualVectors>()->hidden(ids, pass), targets, {}));
  return completion;
}

void check_complete(const models::Model& model, const heads::TokenHead& head) {
  const Completion completion = backward(model, head);
  std::vector<std::string> expected, called = completion.order;
  for (const Parameter& parameter : model.parameters().all()) {
    if (!parameter.is_trained()) continue;
    CAPTURE(parameter.name);
    expected.push_back(parameter.name);
    CHECK(completion.gradients.at(parameter.name) == parameter.gradient().elements());
  }
  std::ranges::sort(expected);
  std::ranges::sort(called);
  CHECK(called == expected);
  CHECK(backward(model, head).order == completion.order);
}

Index place(const std::vector<std::string>& order, const std::string& name) {
  return std::ranges::find(order, name) - order.begin();
}

}  // namespace

TEST_CASE("hook: every trained parameter once, when its gradient is final; tied embeddings, stacked parts, adapters") {
  for (const bool tied : {true, false}) {
    CAPTURE(tied);
    models::DecoderConfig decoder_config = small_decoder_config;
    models::EncoderConfig encoder_config = small_encoder_config;
    decoder_config.tie_embeddings = encoder_config.tie_embeddings = tied;
    encoder_config.pooler = true;  // this loss does not use it
    const models::Decoder decoder(decoder_config, 3);
    check_complete(decoder, decoder.next_token_head());
    const models::Encoder encoder(encoder_config, 3);
    check_complete(encoder, encoder.masked_token_head());
  }
  const auto rate = [](std::string_view name) { return name.find("/lora/") == name.npos ? 0.0 : 1.0; };
  const LowRankOptions adapters{2, 8, "query,value,up", 0.1};
  const models::Decoder adapted(small_decoder_config, with_adapters(ParameterSource(3).trained_at(rate), adapters));
  check_complete(adapted, adapted.next_token_head());
}

TEST_CASE("hook: the order is that of the backward pass, from the head to the embeddings") {
  models::DecoderConfig config = small_decoder_config;
  config.tie_embeddings = false;
  const models::Decoder model(config, 3);
  const std::vector<std::string> order = backward(model, model.next_token_head()).order;
  CHECK(order.front() == "head/weight");
  CHECK(order.back() == "decoder/embedding/token/weight");
  CHECK(place(order, "decoder/1/feed_forward/down/weight") < place(order, "decoder/1/attention/query/weight"));
  CHECK(place(order, "decoder/1/attention/value/weight") < place(order, "decoder/0/feed_forward/down/weight"));
  config.tie_embeddings = true;
  const models::Decoder tied(config, 3);
  CHECK(backward(tied, tied.next_token_head()).order.back() == "decoder/embedding/token/weight");
}

}  // namespace gradient_hook_tests

// A decoder and a batch that the float and the double libraries build alike, to compare gradients between them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "libcore/training/causal.hpp"
#include "support/models.hpp"
#include "support/tensors.hpp"

namespace heddle::testing {

// The gradients of every parameter, computed at the precision in force. Weights are rounded to bfloat16 first, so that
// both libraries start from the same numbers.
inline std::map<std::string, std::vector<double>> small_decoder_gradients() {
  const models::DecoderConfig config =
      decoder({.layers = 3, .width = 64, .heads = 4, .context = 32, .vocab_size = 100});
  models::Decoder model(config, 5);
  for (const Parameter& parameter : model.parameters().all()) {
    parameter.value().assign(parameter.value().as(DType::bfloat16).as(DType::real));
  }
  data::TokenBatch batch;
  batch.batch = 4;
  batch.time = config.context;
  for (Index i = 0; i < batch.batch * batch.time; ++i) {
    batch.ids.push_back(static_cast<TokenId>((i * 37 + i / 5) % 100));
    batch.targets.push_back(static_cast<TokenId>((i * 53 + i / 3) % 100));
  }
  {
    Recording recording;
    recording.backward(training::causal_loss(model, batch, {}, {}));
  }
  std::map<std::string, std::vector<double>> gradients;
  for (const Parameter& parameter : model.parameters().all()) gradients[parameter.name] = doubles(parameter.gradient());
  return gradients;
}

}  // namespace heddle::testing

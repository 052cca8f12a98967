// finetune --layer-decay from outside: the learning rate of every parameter.
#include <algorithm>
#include <cmath>

#include "tools/labelled_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace layer_rates_tests {

namespace {

constexpr Index layers = 3;

// Blocks above a parameter, which each halve its rate here.
Index blocks_above(const std::string& name) {
  if (name.starts_with("decoder/embedding/")) return layers;
  for (Index block = 0; block < layers; ++block) {
    if (name.starts_with("decoder/" + std::to_string(block) + "/")) return layers - 1 - block;
  }
  return 0;  // the last norm and the head
}

}  // namespace

TEST_CASE("finetune: rates shrink by the factor from each block to the one below it, down to the embeddings") {
  const Labelled corpus;
  corpus.must("pretrain -q --train train.h5 -o deep.h5 --layers 3 --width 32 --heads 2 --context 16 --steps 2");
  // One step of plain gradient descent, so that weights move by the rate times their gradient.
  const std::string command =
      "finetune -q --from deep.h5 --task classify --train texts.tsv --steps 1 --dropout 0 --optimizer sgd --momentum 0 "
      "--weight-decay 0 --clip-norm none --schedule constant --warmup 0 --learning-rate 4 -o ";
  corpus.must(command + "whole.h5");
  corpus.must(command + "halved.h5 --layer-decay 0.5");
  const auto base = corpus.weights("deep.h5"), whole = corpus.weights("whole.h5"), halved = corpus.weights("halved.h5");
  int compared = 0;
  for (const auto& [name, weights] : base) {
    CAPTURE(name);
    double moved = 0, error = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const double step = static_cast<double>(whole.at(name)[i]) - weights[i];
      const double expected = step * std::pow(0.5, static_cast<double>(blocks_above(name)));
      moved = std::max(moved, std::abs(step));
      error = std::max(error, std::abs(static_cast<double>(halved.at(name)[i]) - weights[i] - expected));
    }
    CHECK(error < 2.5e-7);  // rounding of numbers up to 1
    compared += moved > 1e-4 ? 1 : 0;
  }
  CHECK(compared > 30);
  CHECK(halved.at("task/weight") == whole.at("task/weight"));
}

TEST_CASE("finetune --reset-layers draws the last layers anew and keeps the others") {
  const Labelled corpus;
  corpus.must("pretrain -q --train train.h5 -o deep.h5 --layers 3 --width 32 --heads 2 --context 16 --steps 2");
  const std::string command =
      "finetune -q --from deep.h5 --task classify --train texts.tsv --steps 1 --learning-rate 1e-12 --reset-layers 2 ";
  corpus.must(command + "-o one.h5 --seed 1");
  corpus.must(command + "-o two.h5 --seed 2");
  const auto base = corpus.weights("deep.h5"), one = corpus.weights("one.h5"), two = corpus.weights("two.h5");
  int drawn = 0;
  for (const auto& [name, weights] : base) {
    CAPTURE(name);
    const bool reset = name.starts_with("decoder/1/") || name.starts_with("decoder/2/");
    const bool is_matrix = weights.size() > 128;  // biases begin with 0 and norms with 1, whatever the seed
    double moved = 0, spread = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      moved = std::max(moved, std::abs(static_cast<double>(one.at(name)[i]) - weights[i]));
      spread = std::max(spread, std::abs(static_cast<double>(one.at(name)[i]) - two.at(name)[i]));
    }
    CHECK((moved > 1e-6) == reset);
    CHECK((spread > 1e-6) == (reset && is_matrix));
    if (reset && !is_matrix) {
      const float first = name.ends_with("/gain") ? 1.0F : 0.0F;
      CHECK(std::ranges::all_of(one.at(name), [&](float x) { return std::abs(x - first) < 1e-9; }));
    }
    drawn += reset && is_matrix ? 1 : 0;
  }
  CHECK(drawn >= 8);

  corpus.refused("finetune --from deep.h5 --train texts.tsv -o x.h5 --reset-layers 4", 2,
                 "--reset-layers 4: the model has 3 layers");
  corpus.refused("finetune --from deep.h5 --train texts.tsv -o x.h5 --reset-layers 1 --lora-rank 2", 2,
                 "--reset-layers: an adapter has no weights of layers; leave out --lora-rank");
  corpus.refused("finetune --arch bag --train texts.tsv -o x.h5 --reset-layers 1", 2, "--reset-layers needs --from");
}

}  // namespace layer_rates_tests

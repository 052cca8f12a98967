// Adapters from outside: finetune --lora-rank, classify and convert --merge (SPEC 6.2).
#include <cmath>

#include "formats/files/checksum.hpp"
#include "libcore/nn/low_rank_options.hpp"
#include "tools/labelled_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace adapters_tests {

namespace {

using Weights = std::map<std::string, std::vector<float>>;

const std::string adapt =
    "finetune --from model.h5 --task classify --train texts.tsv -o adapter.h5 --lora-rank 4 --lora-alpha 10 "
    "--lora-targets query,value,up,down";
constexpr double scale = 10.0 / 4;

// alpha / rank B A of the matrix, in double; nothing where it has no adapter.
std::vector<double> correction(const Weights& adapter, const std::string& weight) {
  const std::string stem = weight.substr(0, weight.rfind('/')) + "/lora/";
  if (!weight.ends_with("/weight") || !adapter.contains(stem + "a")) return {};
  constexpr std::size_t rank = 4;
  const std::vector<float>&a = adapter.at(stem + "a"), &b = adapter.at(stem + "b");
  const std::size_t in = a.size() / rank, out = b.size() / rank;
  std::vector<double> product(out * in, 0.0);
  for (std::size_t o = 0; o < out; ++o) {
    for (std::size_t i = 0; i < in; ++i) {
      for (std::size_t r = 0; r < rank; ++r) product[o * in + i] += scale * b[o * rank + r] * a[r * in + i];
    }
  }
  return product;
}

}  // namespace

TEST_CASE("adapters: the merged weights are W + alpha / rank B A, from which W comes back, and all others unchanged") {
  const Labelled corpus;
  corpus.must(adapt + quick + "&& convert -q adapter.h5 --merge -o merged.h5");
  const Weights base = corpus.weights("model.h5"), adapter = corpus.weights("adapter.h5", formats::FileKind::adapter);
  Weights expected = base;
  for (const auto& [name, values] : adapter) {
    if (!name.ends_with("/lora/a") && !name.ends_with("/lora/b")) expected[name] = values;  // the head
  }
  int changed = 0;
  for (const auto& [name, values] : corpus.weights("merged.h5")) {
    CAPTURE(name);
    REQUIRE(expected.contains(name));
    const std::vector<double> product = correction(adapter, name);
    if (product.empty()) {
      CHECK(values == expected.at(name));
    } else {
      ++changed;
      double largest = 0, apart = 0;
      for (std::size_t i = 0; i < values.size(); ++i) {
        largest = std::max(largest, std::abs(product[i]));
        apart = std::max(apart, std::abs(values[i] - product[i] - base.at(name)[i]));
      }
      CHECK(largest > 1e-3);
      CHECK(apart < 1e-6 * largest + 1e-7);
    }
    expected.erase(name);
  }
  CHECK(expected.empty());
  CHECK(changed == 2 * 4);
}

TEST_CASE("adapters: the merged model says of every text what base and adapter say, and where it comes from") {
  const Labelled corpus;
  corpus.must(adapt + quick + "&& convert -q adapter.h5 --merge -o merged.h5");
  const std::vector<json> answers = corpus.answers("adapter.h5");
  check_alike(answers, corpus.answers("merged.h5"), 1e-5);
  CHECK(std::ranges::count_if(answers, [](const json& one) { return one["probability"] < 0.999; }) > 10);
  CHECK(corpus.evaluated("classify merged.h5 texts.tsv")["accuracy"] == 1.0);
  CHECK(contains(corpus.must("inspect verify merged.h5").out, "no problem"));
  const json adapter = parse_json(corpus.must("inspect adapter.h5 --json").out);
  json merged = parse_json(corpus.must("inspect merged.h5 --json").out);
  CHECK(merged["history"]["loss"].size() > 1);
  CHECK(merged["history"] == adapter["history"]);
  json& steps = merged["provenance"];
  const json own = steps.back();
  steps.erase(steps.size() - 1);
  CHECK(steps == adapter["provenance"]);
  CHECK(own["command_line"] == "convert -q adapter.h5 --merge -o merged.h5");
  REQUIRE(own["inputs"].size() == 1);
  CHECK(own["inputs"][0]["role"] == "adapter");
  CHECK(own["inputs"][0]["name"] == "adapter.h5");
  CHECK(own["inputs"][0]["xxh128"] == formats::checksum_file(corpus.path("adapter.h5")).xxh128);
  CHECK(own["inputs"][0]["made_by"] == steps.size() - 1);
}

TEST_CASE("adapters: before the first step the model is its base, bit for bit") {
  const Labelled corpus;
  // Steps of 1e-30 vanish in W + B A.
  corpus.must(adapt + " -q --epochs 1 --learning-rate 1e-30 && convert -q adapter.h5 --merge -o merged.h5");
  const Weights base = corpus.weights("model.h5"), merged = corpus.weights("merged.h5");
  for (const auto& [name, values] : base) {
    CAPTURE(name);
    CHECK(merged.at(name) == values);
  }
  check_alike(corpus.answers("adapter.h5"), corpus.answers("merged.h5"), 0);
}

TEST_CASE("adapters: are small and need their base") {
  const Labelled corpus;
  corpus.must(adapt + quick);
  CHECK(std::filesystem::file_size(corpus.path("adapter.h5")) <
        std::filesystem::file_size(corpus.path("model.h5")) / 2);
  const std::string ask = "cut -f2 texts.tsv | classify adapter.h5";
  const std::string answers = corpus.must(ask).out;
  CHECK(corpus.evaluated("classify adapter.h5 texts.tsv")["accuracy"] == 1.0);
  corpus.must("convert -q adapter.h5 --merge -o merged.h5");
  corpus.must("mkdir elsewhere && mv model.h5 elsewhere/base.h5");
  CHECK(contains(corpus.run(ask).err, "--base"));
  CHECK(corpus.must(ask + " --base elsewhere/base.h5").out == answers);
  corpus.refused("convert adapter.h5 --merge -o x.h5", 1, "--base");
  corpus.must("convert -q adapter.h5 --merge --base elsewhere/base.h5 -o again.h5");
  CHECK(corpus.weights("again.h5") == corpus.weights("merged.h5"));
  corpus.must("pretrain -q --train train.h5 -o other.h5 --steps 2" + tiny_model);
  corpus.refused(ask + " --base other.h5", 1, "another model");
}

}  // namespace adapters_tests

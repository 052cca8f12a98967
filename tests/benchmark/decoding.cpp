// The speed with which a model in a file continues text: prints JSON.
#include <iostream>

#include "formats/archives/json_archive.hpp"
#include "formats/heddle/load_model.hpp"
#include "libcore/base/random.hpp"
#include "libcore/decoding/sampling.hpp"
#include "libcore/tensor/threads.hpp"
#include "measure.hpp"
#include "tools/cli/run.hpp"

using namespace heddle;
using namespace heddle::benchmark;

namespace {

struct Options {
  Index tokens = 64, prompt = 256, lines = 16, turns = 3;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("tokens", "tokens to add to each line").range(1, 100000).takes("N"), self.tokens);
    visitor(Field("prompt", "tokens of the prompt that is timed").range(1, 100000).takes("N"), self.prompt);
    visitor(Field("lines", "lines at the same time, besides one").range(1, 10000).takes("N"), self.lines);
    visitor(Field("turns", "how often memory and decoding take turns").range(1, 1000).takes("N"), self.turns);
  }
};

// The bytes that a token needs whatever it is: all weights but the table of positions, which gives one row.
double bytes_per_token(const models::Model& model) {
  double bytes = 0;
  for (const Parameter& parameter : model.parameters().all()) {
    if (parameter.name.find("/position/") != std::string::npos) continue;
    const Tensor& value = parameter.value();
    bytes += static_cast<double>(value.bytes());
    if (value.scales() != nullptr) bytes += static_cast<double>(value.shape()[0]) * sizeof(Real);
  }
  return bytes;
}

class Reader {
 public:
  explicit Reader(const models::Generator& model) : model_(model), vocab_(model.vocab_size()) {}

  // Tokens per second in reading a prompt.
  double prompt_rate(Index length) const {
    const TokenIds prompt = random_ids(1, length);
    const double seconds = median_seconds(3, [&] {
      const auto state = model_.start({1, length});
      model_.step(prompt, {length}, *state);
    });
    return static_cast<double>(length) / seconds;
  }

  // Tokens per second over all lines, each the most probable one after those before it.
  double decoding_rate(Index lines, Index tokens) const {
    const auto state = model_.start({lines, tokens + 1});
    const std::vector<Index> one_each(static_cast<std::size_t>(lines), 1);
    TokenIds next = random_ids(lines, 1);
    const auto step = [&] { choose(model_.step(next, one_each, *state), next); };
    step();
    const double seconds = seconds_of([&] {
      for (Index i = 0; i < tokens; ++i) step();
    });
    return static_cast<double>(lines * tokens) / seconds;
  }

 private:
  TokenIds random_ids(Index lines, Index length) const {
    const RandomStream stream(1, 2);
    TokenIds ids(Shape{lines, length});
    for (std::size_t i = 0; i < ids.ids.size(); ++i) {
      ids.ids[i] = static_cast<TokenId>(stream.below(i, static_cast<std::uint64_t>(vocab_)));
    }
    return ids;
  }

  void choose(const Tensor& logits, TokenIds& next) const {
    const decoding::SamplingOptions greedy{.temperature = 0};
    parallel_for(static_cast<Index>(next.ids.size()), [&](Index line) {
      const Real* row = logits.data() + line * vocab_;
      next.ids[static_cast<std::size_t>(line)] = decoding::sample({row, vocab_}, greedy, {}, RandomStream(1, 2), 0).id;
    });
  }

  const models::Generator& model_;
  Index vocab_;
};

const cli::About about{.name = "benchmark_decoding",
                       .summary = "Measures how fast a model reads a prompt and adds tokens; prints JSON.",
                       .synopsis = {"MODEL [options]"},
                       .operands = {{"MODEL", "model file", 1, 1}}};

}  // namespace

int main(int argc, char** argv) {
  return cli::run(argc, argv, about, [](cli::Arguments& arguments) {
    const auto options = arguments.read<Options>();
    const std::string path = arguments.operand("MODEL");
    const formats::LoadedModel loaded = formats::load_model(formats::ModelFile(path));
    const Reader reader(models::require<models::Generator>(*loaded.model, "the benchmark", path));
    const MemoryReader memory;
    std::vector<double> bandwidth, bandwidth_of_4, rates, lines_rates;
    for (Index turn = 0; turn < options.turns; ++turn) {
      bandwidth.push_back(memory.rate());
      bandwidth_of_4.push_back(memory.rate(4));
      rates.push_back(reader.decoding_rate(1, options.tokens));
      lines_rates.push_back(reader.decoding_rate(options.lines, options.tokens));
    }
    const double bytes = bytes_per_token(*loaded.model);
    formats::Json json;
    json["tokens_per_second"] = median(rates);
    json["tokens_per_second_limit"] = median(bandwidth) / bytes;
    json["tokens_per_second_4_streams"] = median(bandwidth_of_4) / bytes;
    json["weight_mb"] = bytes * 1e-6;
    json["prompt_tokens_per_second"] = reader.prompt_rate(options.prompt);
    json["lines_tokens_per_second"] = median(lines_rates);
    std::cout << json.dump() << std::endl;
  });
}

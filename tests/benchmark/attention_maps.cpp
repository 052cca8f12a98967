// The time of all attention weights of a model, as inspect attention computes them, over that of a forward pass of the
// same text. Prints tab-separated lines: preset, positions, seconds of a pass, seconds of the weights, ratio.
#include <cstdio>
#include <vector>

#include "libcore/models/model.hpp"
#include "libcore/models/presets.hpp"
#include "measure.hpp"
#include "tools/cli/run.hpp"

using namespace heddle;

namespace {

struct Options {
  std::vector<std::string> presets{"gpt2", "bert-base"};
  std::vector<Index> times{128, 512};

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("presets", "decoders and encoders").takes("NAME,..."), self.presets);
    visitor(Field("times", "numbers of positions").takes("N,..."), self.times);
  }
};

void compare(const std::string& preset, Index time) {
  const auto model = models::make_model(models::preset(preset), 1);
  const models::Sequences sequences(TokenIds(Shape{1, time}, std::vector<TokenId>(static_cast<std::size_t>(time), 7)));
  const auto& vectors = models::require<models::ContextualVectors>(*model, "this benchmark", preset);
  const auto& maps = models::require<models::AttentionMaps>(*model, "this benchmark", preset);
  const double forward = benchmark::median_seconds(7, [&] { (void)vectors.hidden(sequences); });
  const double weights = benchmark::median_seconds(7, [&] { (void)maps.all_attention_maps(sequences); });
  std::printf("%s\t%lld\t%.4f\t%.4f\t%.2f\n", preset.c_str(), static_cast<long long>(time), forward, weights,
              weights / forward);
}

}  // namespace

int main(int argc, char** argv) {
  return cli::run(argc, argv,
                  {.name = "benchmark_attention_maps",
                   .summary = "Times attention weights against a forward pass.",
                   .synopsis = {"[--presets NAME,...] [--times N,...]"},
                   .operands = {}},
                  [](cli::Arguments& arguments) {
                    const auto options = arguments.read<Options>();
                    for (const std::string& preset : options.presets) {
                      for (const Index time : options.times) compare(preset, time);
                    }
                  });
}

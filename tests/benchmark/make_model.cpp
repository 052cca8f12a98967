// Writes a model file with random weights, as pretrain would before its first step, to measure with.
#include "formats/heddle/load_model.hpp"
#include "libcore/models/presets.hpp"
#include "libcore/text/vocabulary_training.hpp"
#include "tools/cli/run.hpp"

using namespace heddle;

namespace {

struct Options {
  std::string preset = "gpt2";

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("preset", "shape of a known model (" + join(models::preset_names()) + ")").takes("NAME"),
            self.preset);
  }
};

const cli::About about{.name = "benchmark_make_model",
                       .summary = "Writes a model file with random weights.",
                       .synopsis = {"MODEL [options]"},
                       .operands = {{"MODEL", "the file to write", 1, 1}}};

}  // namespace

int main(int argc, char** argv) {
  return cli::run(argc, argv, about, [](cli::Arguments& arguments) {
    const auto options = arguments.read<Options>();
    const text::TokenizerModel bytes = text::Trainer({.kind = text::TokenizerKind::byte}).finish();
    models::ModelConfig config = models::preset(options.preset);
    if (config.tokens().vocab_size == 0) config.tokens().vocab_size = static_cast<Index>(bytes.pieces.size());
    const auto model = models::make_model(config, 1);
    formats::ModelWriter file(arguments.operand("MODEL"));
    file.config(config);
    file.tokenizer(bytes);
    file.weights(formats::named_tensors(model->parameters()));
    file.commit(formats::start_provenance(arguments.command_line()));
  });
}

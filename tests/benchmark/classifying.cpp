// Speed at which a model with a task's head answers texts: prints JSON.
#include <iostream>

#include "formats/archives/json_archive.hpp"
#include "formats/heddle/task_file.hpp"
#include "libcore/decoding/length_batches.hpp"
#include "libcore/decoding/predict.hpp"
#include "measure.hpp"
#include "tests/support/labelled.hpp"
#include "tools/cli/run.hpp"
#include "tools/cli/streams.hpp"

using namespace heddle;
using namespace heddle::benchmark;

namespace {

struct Options {
  Index turns = 3, batch_tokens = decoding::usual_batch_tokens;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("turns", "passes over the texts, after one that does not count").range(1, 1000).takes("N"),
            self.turns);
    visitor(Field("batch_tokens", "maximum number of tokens in a batch").range(1, 100000000).takes("N"),
            self.batch_tokens);
  }
};

bool embeds_segments(const models::Model& model) {
  const auto* const embeddings = model.config().as<models::EmbeddingConfig>();
  return embeddings != nullptr && embeddings->segments > 0;
}

std::vector<data::TaskExample> examples_of(const formats::LoadedTask& loaded, const std::string& file) {
  cli::Input input(file);
  const auto texts = formats::read_tsv(cli::read_all(input), file, formats::Texts::one, formats::Gold::absent);
  const models::Model& model = loaded.model->body();
  data::OverlongTexts overlong{data::Overlong::truncate};
  return data::text_examples(texts, file, *loaded.tokenizer,
                             data::Framing(*loaded.tokenizer, model.tokens().position_limit(), embeds_segments(model)),
                             overlong);
}

const cli::About about{
    .name = "benchmark_classifying",
    .summary = "Measures how fast a model classifies texts that are tokens already; prints JSON.",
    .synopsis = {"MODEL FILE [options]"},
    .operands = {{"MODEL", "model file made by finetune", 1, 1}, {"FILE", "one text per line", 1, 1}}};

}  // namespace

int main(int argc, char** argv) {
  return cli::run(argc, argv, about, [](cli::Arguments& arguments) {
    const auto options = arguments.read<Options>();
    const formats::LoadedTask loaded = formats::load_task(arguments.operand("MODEL"), "");
    const std::vector<data::TaskExample> examples = examples_of(loaded, arguments.operand("FILE"));
    std::size_t tokens = 0;
    for (const data::TaskExample& example : examples) tokens += example.sequence.ids.size();
    const double seconds = median_seconds(static_cast<int>(options.turns), [&] {
      decoding::predict(*loaded.model, examples, {.batch_tokens = options.batch_tokens, .keeps_panels = true});
    });
    formats::Json json;
    json["texts_per_second"] = static_cast<double>(examples.size()) / seconds;
    json["tokens_per_second"] = static_cast<double>(tokens) / seconds;
    json["peak_memory_mb"] = peak_memory() * 1e-6;
    std::cout << json.dump() << std::endl;
  });
}

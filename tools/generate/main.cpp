// generate: continues texts, scores them, or fills in their blanks, depending on the model.
#include "heddle/cli/outputs.hpp"
#include "heddle/cli/run.hpp"
#include "heddle/formats/heddle/task_file.hpp"
#include "tools/generate/continue_texts.hpp"
#include "tools/generate/fill_texts.hpp"
#include "tools/generate/score_texts.hpp"
#include "tools/lines/answer_texts.hpp"

using namespace heddle;

namespace {

const cli::About about{
    .name = "generate",
    .summary =
        "Continues texts with a decoder or prints their log-likelihoods; fills in masked tokens with an encoder.",
    .synopsis = {"MODEL -p TEXT [options]", "MODEL [options] [FILE]", "MODEL --beam N [--n-best N] [options] [FILE]",
                 "MODEL --score [--jsonl] [FILE]", "ENCODER [--top K] [--jsonl] [FILE]"},
    .operands = {{"MODEL", "model file made by pretrain, finetune --task lm or convert; or an adapter file", 1, 1},
                 {"FILE", "one text per line; none or - is standard input", 0, 1}}};

// Processes --prompt or the lines of the file with a mode: TextContinuer, TextFiller or TextScorer.
template <class Mode, class Role>
void run(const Role& role, const formats::LoadedModel& loaded, const GenerateOptions& options, const std::string& file,
         const cli::Arguments& arguments) {
  cli::Output output(options.output);
  Mode mode(role, loaded.tokenizer, options, arguments, output.stream());
  if (arguments.given("prompt")) {
    mode.answer_one(mode.make({options.prompt, "--prompt", 0}));
  } else {
    answer_texts(
        arguments.open_text(file), {.texts = mode.batch_size()}, [&](const InputText& text) { return mode.make(text); },
        [&](const auto& batch) { mode.answer(batch); });
  }
  output.close();
  mode.report();
}

}  // namespace

int main(int argc, char** argv) {
  return cli::run(argc, argv, about, [](cli::Arguments& arguments) {
    const auto options = arguments.read<GenerateOptions>();
    check_usage(options, arguments);
    const std::string file = arguments.given("prompt") ? "" : arguments.input_or_usage("FILE").front();
    cli::keep_inputs({arguments.operand("MODEL"), options.base, file}, {options.output}, arguments);
    const formats::LoadedModel loaded = formats::load_language_model(arguments.operand("MODEL"), options.base);
    const models::Model& model = *loaded.model;
    const std::string path = arguments.operand("MODEL");
    if (options.score) {
      run<TextScorer>(models::require<models::TokenLoss>(model, "--score", path), loaded, options, file, arguments);
    } else if (model.as<models::MaskedPredictor>() != nullptr && model.as<models::Generator>() == nullptr) {
      run<TextFiller>(model, loaded, options, file, arguments);
    } else {
      run<TextContinuer>(models::require<models::Generator>(model, "generate", path), loaded, options, file, arguments);
    }
  });
}

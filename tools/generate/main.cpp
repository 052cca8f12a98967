// generate: continues texts, scores them, or fills in their blanks, depending on the model.
#include <optional>
#include <ostream>

#include "heddle/cli/outputs.hpp"
#include "heddle/cli/run.hpp"
#include "heddle/formats/heddle/task_file.hpp"
#include "tools/generate/continue_texts.hpp"
#include "tools/generate/fill_texts.hpp"
#include "tools/generate/score_pairs.hpp"
#include "tools/generate/score_texts.hpp"
#include "tools/generate/translate_texts.hpp"
#include "tools/generate/translation_report.hpp"
#include "tools/lines/answer_texts.hpp"

using namespace heddle;

namespace {

const cli::About about{
    .name = "generate",
    .summary =
        "Continues texts with a decoder, translates them with a sequence-to-sequence model, or fills in masked tokens "
        "with an encoder; or prints their log-likelihoods.",
    .synopsis = {"MODEL -p TEXT [options]", "MODEL [options] [FILE]", "MODEL --beam N [--n-best N] [options] [FILE]",
                 "MODEL --score [--jsonl] [FILE]", "MODEL --evaluate REFERENCES [--json] [options] [FILE]",
                 "ENCODER [--top K] [--jsonl] [FILE]"},
    .operands = {{"MODEL", "model file made by pretrain, finetune --task lm or convert; or an adapter file", 1, 1},
                 {"FILE", "one text per line; none or - is standard input", 0, 1}}};

// Processes --prompt or the lines of the file with a mode: TextContinuer, TextTranslator, TextFiller or TextScorer.
// `texts`: what the mode reads and writes texts with: the tokenizer, or the loaded model with all its tokenizers.
template <class Mode, class Role, class Texts>
void run(const Role& role, const Texts& texts, const GenerateOptions& options, const std::string& file,
         const cli::Arguments& arguments) {
  cli::Output output(options.output);
  Mode mode(role, texts, options, arguments, output.stream());
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

// Translates the lines of the file and compares them with the references.
void evaluate(const models::SequenceToSequence& model, const formats::LoadedModel& loaded,
              const GenerateOptions& options, const std::string& file, const cli::Arguments& arguments) {
  TranslationEvaluation evaluation(options.evaluate);
  const bool keeps = options.output != "-";
  std::optional<cli::Output> output;
  if (keeps) output.emplace(options.output);
  std::ostream nowhere(nullptr);
  TextTranslator translator(model, loaded, options, arguments, keeps ? output->stream() : nowhere);
  answer_texts(
      arguments.open_text(file), {.texts = translator.batch_size()},
      [&](const InputText& text) { return translator.make(text); },
      [&](const auto& batch) {
        for (const std::string& text : translator.answer(batch)) evaluation.add(text);
      });
  if (keeps) output->close();
  translator.report();
  cli::Output report("-");
  evaluation.write(report.stream(), options.json, static_cast<std::uint64_t>(arguments.common().seed));
  report.close();
}

}  // namespace

int main(int argc, char** argv) {
  return cli::run(argc, argv, about, [](cli::Arguments& arguments) {
    const auto options = arguments.read<GenerateOptions>();
    check_usage(options, arguments);
    const std::string file = arguments.given("prompt") ? "" : arguments.input_or_usage("FILE").front();
    cli::keep_inputs({arguments.operand("MODEL"), options.base, file, options.evaluate}, {options.output}, arguments);
    const formats::LoadedModel loaded = formats::load_language_model(arguments.operand("MODEL"), options.base);
    const models::Model& model = *loaded.model;
    const std::string path = arguments.operand("MODEL");
    const auto* const translator = model.as<models::SequenceToSequence>();
    check<UsageError>(translator != nullptr || options.evaluate.empty(), "--evaluate: needs a model that ",
                      models::SequenceToSequence::what, "; inspect evaluate measures other models");
    if (translator != nullptr && !options.evaluate.empty()) {
      evaluate(*translator, loaded, options, file, arguments);
    } else if (translator != nullptr) {
      options.score ? run<PairScorer>(*translator, loaded, options, file, arguments)
                    : run<TextTranslator>(*translator, loaded, options, file, arguments);
    } else if (options.score) {
      run<TextScorer>(models::require<models::TokenLoss>(model, "--score", path), loaded.tokenizer, options, file,
                      arguments);
    } else if (model.as<models::MaskedPredictor>() != nullptr && model.as<models::Generator>() == nullptr) {
      run<TextFiller>(model, loaded.tokenizer, options, file, arguments);
    } else {
      run<TextContinuer>(models::require<models::Generator>(model, "generate", path), loaded.tokenizer, options, file,
                         arguments);
    }
  });
}

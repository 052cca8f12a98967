// generate: continues texts, scores them, or fills in their blanks, depending on the model.
#include <optional>
#include <ostream>

#include "formats/heddle/task_file.hpp"
#include "tools/cli/model_files.hpp"
#include "tools/cli/protect_inputs.hpp"
#include "tools/cli/refuse_options.hpp"
#include "tools/cli/run.hpp"
#include "tools/generate/continue_texts.hpp"
#include "tools/generate/fill_or_continue.hpp"
#include "tools/generate/fill_texts.hpp"
#include "tools/generate/propose_functions.hpp"
#include "tools/generate/score_pairs.hpp"
#include "tools/generate/score_texts.hpp"
#include "tools/generate/scoring_models.hpp"
#include "tools/generate/translate_texts.hpp"
#include "tools/generate/worked_answers.hpp"
#include "tools/lines/answer_texts.hpp"
#include "tools/lines/escaped.hpp"
#include "tools/lines/translation_scores.hpp"

using namespace heddle;

namespace {

const cli::About about{
    .name = "generate",
    .summary =
        "Continues texts with a decoder, translates them, or fills in masked tokens with an encoder; or prints their "
        "log-likelihoods.",
    .synopsis = {"MODEL -p TEXT [options]", "MODEL [options] [FILE]",
                 "MODEL --answer-after TEXT [--num-samples N] [FILE]",
                 "MODEL --verify CLAIM [--beam N] [-p SYSTEM|FILE]", "MODEL[,MODEL...] --score [--jsonl] [FILE]",
                 "MODEL --evaluate REFERENCES [--json] [options] [FILE]", "ENCODER [--top K] [--jsonl] [FILE]"},
    .operands = {{"MODEL",
                  "model file made by pretrain, finetune --task lm or convert; or an adapter file; with --score also "
                  "several, a.h5,b.h5",
                  1, 1},
                 {"FILE", "one text per line; none or - is standard input", 0, 1}},
    .has_ranks = true};

// As many texts for each rank; a text that is written while it grows is the only one.
Index ranks_at_once(Index texts, const GenerateOptions& options) {
  return options.stream ? texts : texts * parallel::dividing().size();
}

// Processes --prompt or the lines of the file with a mode: TextContinuer, TextTranslator, TextFiller, TextScorer or
// PairScorer. `models`: the model or models, and what the mode reads and writes texts with: the tokenizer, or the
// loaded model with all its tokenizers.
template <class Mode, class... Models>
void run(const GenerateOptions& options, const std::string& file, const cli::Arguments& arguments,
         const Models&... models) {
  cli::Output output(options.output);
  Mode mode(models..., options, arguments, output.stream());
  if (arguments.given("prompt")) {
    mode.answer_one(mode.make({options.prompt, "--prompt", 0}));
  } else {
    answer_texts(
        arguments.open_text(file), {.texts = ranks_at_once(mode.batch_size(), options)},
        [&](const InputText& text) { return mode.make(text); }, [&](const auto& batch) { mode.answer(batch); });
  }
  output.close();
  mode.report();
}

// Scores the lines of the file, or pairs of texts, with one model or several.
void score(const std::vector<std::string>& files, const GenerateOptions& options, const std::string& file,
           const cli::Arguments& arguments) {
  const std::vector<formats::LoadedModel> loaded = load_scoring_models(files, options.base);
  if (loaded.front().model->as<models::SequenceToSequence>() != nullptr) {
    run<PairScorer>(options, file, arguments, ScoringModels<models::SequenceToSequence>(loaded, files));
  } else {
    run<TextScorer>(options, file, arguments, ScoringModels<models::TokenLoss>(loaded, files));
  }
}

// Translates the lines of the file and compares them with the references.
void evaluate(const models::SequenceToSequence& model, const formats::LoadedModel& loaded,
              const GenerateOptions& options, const std::string& file, const cli::Arguments& arguments) {
  References references(options.evaluate);
  TranslationScores scores;
  Index translated = 0;
  const bool keeps = options.output != "-";
  std::optional<cli::Output> output;
  if (keeps) output.emplace(options.output);
  std::ostream nowhere(nullptr);
  TextTranslator translator(model, loaded, options, arguments, keeps ? output->stream() : nowhere);
  answer_texts(
      arguments.open_text(file), {.texts = ranks_at_once(translator.batch_size(), options)},
      [&](const InputText& text) { return translator.make(text); },
      [&](const auto& batch) {
        for (const std::string& text : translator.answer(batch)) {
          ++translated;
          if (const auto reference = references.next()) scores.add(text, std::vector{*reference});
        }
      });
  if (keeps) output->close();
  translator.report();
  references.check_end(translated, "source text", "source texts");
  cli::Output report("-");
  scores.write(report.stream(), options.json, arguments);
  report.close();
}

// Answers the prompts of the file, and compares the answers with those of another one.
void evaluate_answers(TextContinuer& continuer, const GenerateOptions& options, const std::string& file,
                      const cli::Arguments& arguments, cli::Output& kept) {
  AnswerEvaluation evaluation(options.evaluate, options.answer_after);
  answer_texts(
      arguments.open_text(file), {.texts = ranks_at_once(continuer.batch_size(), options)},
      [&](const InputText& text) { return continuer.make(text); },
      [&](const auto& batch) {
        for (const Vote& vote : continuer.votes(batch)) {
          if (options.output != "-") kept.stream() << escaped(vote.answer) << "\n";
          evaluation.add(vote);
        }
      });
  kept.close();
  continuer.report();
  cli::Output report("-");
  evaluation.write(report.stream(), options.json);
  report.close();
}

}  // namespace

int main(int argc, char** argv) {
  return cli::run(argc, argv, about, [](cli::Arguments& arguments) -> int {
    const cli::Ranks ranks(arguments, cli::RanksShare::answers);
    auto options = arguments.read<GenerateOptions>();
    check_usage(options, arguments);
    if (!options.evaluate.empty() || !options.answer_after.empty()) options = greedy_unless_sampled(options, arguments);
    const cli::AnswerPrecision precision(options.precision, arguments);
    const std::string file = arguments.given("prompt") ? "" : arguments.input_or_usage("FILE").front();
    const std::string path = arguments.operand("MODEL");
    const std::vector<std::string> files = cli::model_files(path);
    cli::protect_inputs({options.base, options.evaluate}, {options.output}, arguments);
    if (options.score) {
      score(files, options, file, arguments);
      return 0;
    }
    check<UsageError>(files.size() == 1, path,
                      ": several models score texts together (--score); text is written by one");
    const formats::LoadedModel loaded = formats::load_language_model(path, options.base);
    const models::Model& model = *loaded.model;
    const auto* const translator = model.as<models::SequenceToSequence>();
    const bool fills = model.as<models::MaskedPredictor>() != nullptr && model.as<models::Generator>() == nullptr;
    check<UsageError>(!fills || options.evaluate.empty(),
                      "--evaluate: needs a model that writes texts; inspect evaluate measures other models");
    if (!options.verify.empty()) {
      check<UsageError>(translator != nullptr,
                        "--verify: needs a model that was trained on systems and functions of them (pretrain --tasks "
                        "lyapunov --arch encoder-decoder)");
      return propose_functions(*translator, loaded, options, file, arguments);
    }
    if (translator != nullptr && !options.evaluate.empty()) {
      evaluate(*translator, loaded, options, file, arguments);
    } else if (translator != nullptr) {
      run<TextTranslator>(options, file, arguments, *translator, loaded);
    } else if (!options.evaluate.empty()) {
      TextContinuer::refuse_others(arguments);
      refuse({"n_best"}, arguments, ": --evaluate compares one answer; leave one of them out");
      cli::Output kept(options.output);
      TextContinuer continuer(models::require<models::Generator>(model, "generate", path), loaded.tokenizer, options,
                              arguments, kept.stream());
      evaluate_answers(continuer, options, file, arguments, kept);
    } else if (model.as<models::MixedPredictor>() != nullptr && loaded.tokenizer.mask()) {
      run<FillerOrContinuer>(options, file, arguments, model, loaded.tokenizer);
    } else if (fills) {
      TextFiller::refuse_others(arguments);
      run<TextFiller>(options, file, arguments, model, loaded.tokenizer);
    } else {
      TextContinuer::refuse_others(arguments);
      run<TextContinuer>(options, file, arguments, models::require<models::Generator>(model, "generate", path),
                         loaded.tokenizer);
    }
    return 0;
  });
}

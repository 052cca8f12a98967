// classify: labels texts with a fine-tuned model, or zero-shot with a language model.
#include "tools/classify/answerer.hpp"
#include "tools/cli/run.hpp"

using namespace heddle;

namespace {

const cli::About about{
    .name = "classify",
    .summary =
        "Labels texts, tags words or answers questions with a fine-tuned model, or labels texts with a language model.",
    .synopsis = {"MODEL [FILE] [--top K] [--jsonl]", "TAGGER [FILE] --raw [--jsonl]",
                 "MODEL FILE --evaluate [-o PREDICTIONS]", "DECODER --labels LIST --template TEXT [FILE]"},
    .operands = {{"MODEL",
                  "model, adapter or ensemble file made by finetune, or several, a.h5,b.h5, which predict together; a "
                  "decoder with --labels",
                  1, 1},
                 {"FILE", "texts or words, one per line, or questions; none or - is standard input", 0, 1}},
    .has_ranks = true};

}  // namespace

int main(int argc, char** argv) {
  return cli::run(argc, argv, about, [](cli::Arguments& arguments) {
    const cli::Ranks ranks(arguments, cli::RanksShare::answers);
    auto options = arguments.read<ClassifyOptions>();
    check_usage(options, arguments);
    if (!options.evaluate && options.output.ends_with(".jsonl")) options.jsonl = true;
    const cli::AnswerPrecision precision(options.precision, arguments);
    const std::string path = arguments.input_or_usage("FILE").front();
    cli::Output output(options.output);
    const bool is_zero_shot = !options.zero_shot.labels.empty();
    const auto answerer =
        is_zero_shot ? zero_shot_answerer(options, arguments) : fine_tuned_answerer(options, arguments);
    const auto run = options.evaluate ? evaluate_answers : answer_input;
    run(*answerer, path, options, arguments, output);
    answerer->report();
    output.close();
    return 0;
  });
}

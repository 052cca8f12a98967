// generate: continues texts, scores them or fills in their blanks, as far as the model can.
#include "heddle/cli/outputs.hpp"
#include "heddle/cli/run.hpp"
#include "heddle/formats/heddle/task_file.hpp"
#include "tools/generate/continue_texts.hpp"
#include "tools/generate/fill_texts.hpp"
#include "tools/generate/score_texts.hpp"

using namespace heddle;

namespace {

const cli::About about{
    .name = "generate",
    .summary = "Continues texts with a decoder, or tells how likely they are; fills in their blanks with an encoder.",
    .synopsis = {"MODEL -p TEXT [options]", "MODEL [options] [FILE]", "MODEL --beam N [--n-best N] [options] [FILE]",
                 "MODEL --score [--jsonl] [FILE]", "ENCODER [--top K] [--jsonl] [FILE]"},
    .operands = {{"MODEL", "model file made by pretrain, finetune --task lm or convert; or an adapter file", 1, 1},
                 {"FILE", "a text a line; none or - is standard input", 0, 1}}};

}  // namespace

int main(int argc, char** argv) {
  return cli::run(argc, argv, about, [](cli::Arguments& arguments) {
    const auto options = arguments.read<GenerateOptions>();
    check_usage(options, arguments);
    const bool one = arguments.given("prompt");
    const std::string file = one ? "" : arguments.input_or_usage("FILE").front();
    cli::keep_inputs({arguments.operand("MODEL"), options.base, file}, {options.output}, arguments);
    const formats::LoadedModel loaded = formats::load_language_model(arguments.operand("MODEL"), options.base);
    const auto work = [&](auto&& worker) { one ? worker.one() : worker.lines(file); };
    const models::Model& model = *loaded.model;
    const text::Tokenizer& tokenizer = loaded.tokenizer;
    const std::string path = arguments.operand("MODEL");
    if (options.score) {
      work(TextScorer(models::require<models::TokenLoss>(model, "--score", path), tokenizer, options, arguments));
    } else if (model.as<models::MaskedPredictor>() != nullptr && model.as<models::Generator>() == nullptr) {
      work(TextFiller(model, tokenizer, options, arguments));
    } else {
      work(TextContinuer(models::require<models::Generator>(model, "generate", path), tokenizer, options, arguments));
    }
  });
}

// generate: continues texts with a decoder, and fills in their blanks with an encoder.
#include "continue_texts.hpp"
#include "fill_texts.hpp"
#include "heddle/cli/outputs.hpp"
#include "heddle/cli/run.hpp"
#include "heddle/formats/task_file.hpp"

using namespace heddle;

namespace {

const cli::About about{
    .name = "generate",
    .summary = "Continues texts with a decoder, or fills in their blanks with an encoder.",
    .synopsis = {"MODEL -p TEXT [options]", "MODEL [options] [FILE]", "ENCODER [--top K] [--jsonl] [FILE]"},
    .operands = {{"MODEL", "model file made by pretrain, finetune --task lm or convert; or an adapter file", 1, 1},
                 {"FILE", "a text a line; none or - is standard input", 0, 1}}};

}  // namespace

int main(int argc, char** argv) {
  return cli::run(argc, argv, about, [](cli::Arguments& arguments) {
    const auto options = arguments.read<GenerateOptions>();
    const bool one = arguments.given("prompt");
    check<UsageError>(!one || arguments.operand("FILE").empty(), "--prompt and a file of prompts exclude each other");
    const std::string file = one ? "" : arguments.input_or_usage("FILE").front();
    cli::keep_inputs({arguments.operand("MODEL"), options.base, file}, {options.output});
    const formats::LoadedModel loaded = formats::load_language_model(arguments.operand("MODEL"), options.base);
    const auto work = [&](auto&& worker) { one ? worker.one() : worker.lines(file); };
    if (const auto* const decoder = dynamic_cast<const models::Decoder*>(loaded.model.get())) {
      work(TextContinuer(*decoder, loaded.tokenizer, options, arguments));
    } else {
      work(TextFiller(dynamic_cast<const models::Encoder&>(*loaded.model), loaded.tokenizer, options, arguments));
    }
  });
}

// tokenize: trains tokenizers; converts text to token ids and back.
#include "tools/cli/protect_inputs.hpp"
#include "tools/cli/refuse_options.hpp"
#include "tools/cli/run.hpp"
#include "tools/tokenize/modes.hpp"

namespace {

using namespace heddle;

cli::About about() {
  return {.name = "tokenize",
          .summary = "Trains tokenizers; converts text to token ids and back.",
          .synopsis = {"--train [--model NAME] [--vocab-size N] -o tokenizer.h5 [FILE...]",
                       "-t TOKENIZER [--pieces] [--offsets] [--jsonl] [FILE...]", "-t TOKENIZER -o tokens.h5 [FILE...]",
                       "-t TOKENIZER --pairs -o pairs.h5 SOURCE TARGET", "-t TOKENIZER --decode [FILE...]",
                       "-t TOKENIZER --check [FILE...]"},
          .operands = {{"FILE", "text, or with --decode ids, token files or pairs files; none or - is standard input",
                        0, cli::any_number}}};
}

bool writes_file(const TokenizeOptions& options) {
  return !options.output.empty() && options.output != "-";
}

bool makes_token_file(const TokenizeOptions& options) {
  return writes_file(options) && !options.train && !options.pieces && !options.offsets && !options.jsonl &&
         !options.decode && !options.check && !options.pairs;
}

void check_usage(const cli::Arguments& arguments, const TokenizeOptions& options) {
  const bool prints = options.pieces || options.offsets || options.jsonl;
  check<UsageError>(
      options.train + prints + options.decode + options.check + options.pairs <= 1,
      "--train, --decode, --check, --pairs and what prints tokens (--pieces, --offsets, --jsonl) do not go together");
  if (options.train) {
    check<UsageError>(options.tokenizer.empty(), "--train makes a tokenizer and -t uses one; give one of the two");
    check<UsageError>(writes_file(options), "--train needs -o FILE, the tokenizer file to write");
  } else {
    check<UsageError>(options.decode || !options.tokenizer.empty(),
                      "-t TOKENIZER is missing; make one with --train -o tokenizer.h5");
  }
  using text::TokenizerKind;
  const TokenizerKind kind = options.training.kind;
  if (options.train && (kind == TokenizerKind::byte || kind == TokenizerKind::wordpiece)) {
    refuse({"documents"}, arguments, concatenate(": no piece of --model ", to_text(kind), " has a line end"));
  }
  check<UsageError>(!options.pairs || writes_file(options), "--pairs needs -o FILE, the pairs file to write");
  if (!makes_token_file(options)) {
    if (!options.pairs) refuse({"compress"}, arguments, " is for token and pairs files (-o tokens.h5) only");
    if (!options.train && !options.check) {
      refuse({"documents"}, arguments, " is for --train, --check and token files (-o tokens.h5) only");
    }
  }
  if (options.decode) refuse({"invalid"}, arguments, " is only for encoding text");
  if (options.train || options.decode) refuse({"special"}, arguments, " is for text that becomes ids only");
  cli::protect_inputs({options.tokenizer, options.source_tokenizer}, {options.output}, arguments);
}

void tokenize(cli::Arguments& arguments) {
  const auto options = arguments.read<TokenizeOptions>();
  check_usage(arguments, options);
  if (options.train) return train_tokenizer(arguments, options);
  if (options.decode) return decode(arguments, options);
  if (options.pairs) return write_pairs_file(arguments, options);
  if (makes_token_file(options)) return write_token_file(arguments, options);
  if (options.check) return check_round_trip(arguments, options);
  if (options.offsets || options.jsonl) return print_located(arguments, options);
  print_tokens(arguments, options);
}

}  // namespace

int main(int argc, char** argv) {
  return heddle::cli::run(argc, argv, about(), tokenize);
}

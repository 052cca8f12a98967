#include "tools/generate/options.hpp"

#include "heddle/cli/refuse.hpp"

namespace heddle {

namespace {

void check_score(const cli::Arguments& arguments) {
  refuse({"max_tokens", "stop", "num_samples", "stream", "kv_cache", "temperature", "top_k", "top_p", "min_p",
          "repetition_penalty", "beam"},
         arguments, " has no effect with --score, which makes no text; leave one of them out");
}

void check_beam(const GenerateOptions& options, const cli::Arguments& arguments) {
  refuse({"repetition_penalty"}, arguments,
         ": a beam search ranks texts by the model's own probabilities; leave out this or --beam");
  refuse({"temperature", "top_k", "top_p", "min_p", "num_samples"}, arguments,
         " has no effect with --beam, which draws nothing; leave one of them out (--n-best gives several texts)");
  refuse({"stream"}, arguments, ": a beam search knows its texts at the end only; leave out --stream or --beam");
  check<UsageError>(options.search.n_best <= options.search.beam, "--n-best ", options.search.n_best,
                    " is more than --beam ", options.search.beam, "; raise --beam or lower --n-best");
}

void check_stream(const GenerateOptions& options, const cli::Arguments& arguments) {
  refuse({"jsonl"}, arguments, ": an object is known at the end of its text only; leave out --stream or --jsonl");
  refuse({"batch_size"}, arguments, " has no effect with --stream, which takes line after line; leave one of them out");
  check<UsageError>(options.num_samples == 1,
                    "--num-samples: several texts cannot appear at the same time; leave out "
                    "--stream or --num-samples");
}

}  // namespace

void check_usage(const GenerateOptions& options, const cli::Arguments& arguments) {
  check<UsageError>(!arguments.given("prompt") || arguments.operand("FILE").empty(),
                    "--prompt and a file of prompts exclude each other");
  if (options.score) check_score(arguments);
  if (options.search.beam > 0) check_beam(options, arguments);
  if (options.stream) check_stream(options, arguments);
  check<UsageError>(options.score || options.overlong != data::Overlong::split,
                    "--overlong split: is for --score; a text that goes on or has blanks can only be cut");
  if (options.sampling.temperature == 0) {
    refuse({"top_k", "top_p", "min_p"}, arguments,
           " has no effect with --temperature 0, which takes the most probable token");
    check<UsageError>(options.num_samples == 1,
                      "--num-samples: with --temperature 0 all would be the same; raise the "
                      "temperature, or take --beam and --n-best");
  }
}

}  // namespace heddle

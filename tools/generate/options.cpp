#include "tools/generate/options.hpp"

#include <algorithm>

#include "tools/cli/refuse_options.hpp"

namespace heddle {

namespace {

void check_score(const cli::Arguments& arguments) {
  refuse({"max_tokens", "stop", "num_samples", "stream", "kv_cache", "temperature", "top_k", "top_p", "min_p",
          "repetition_penalty", "no_repeat_ngram_size", "min_tokens", "beam", "answer_after"},
         arguments, " has no effect with --score, which generates no text; leave one of them out");
}

void check_beam(const GenerateOptions& options, const cli::Arguments& arguments) {
  refuse({"repetition_penalty"}, arguments,
         ": a beam search ranks texts by the model's unchanged probabilities; leave out this option or --beam");
  refuse({"temperature", "top_k", "top_p", "min_p", "num_samples"}, arguments,
         " has no effect with --beam, which samples nothing; leave one of them out (--n-best prints several texts)");
  refuse({"stream"}, arguments, ": a beam search has no text before its end; leave out --stream or --beam");
  check<UsageError>(options.search.n_best <= options.search.beam, "--n-best ", options.search.n_best,
                    " is more than --beam ", options.search.beam, "; raise --beam or lower --n-best");
}

void check_stream(const GenerateOptions& options, const cli::Arguments& arguments) {
  refuse({"jsonl"}, arguments, ": an object is complete only at the end of its text; leave out --stream or --jsonl");
  refuse({"batch_size"}, arguments,
         " has no effect with --stream, which computes one line at a time; leave one of them out");
  check<UsageError>(options.num_samples == 1,
                    "--num-samples: several texts cannot be streamed at once; leave out --stream or --num-samples");
}

}  // namespace

GenerateOptions greedy_unless_sampled(GenerateOptions options, const cli::Arguments& arguments) {
  const auto samples = {"temperature", "top_k", "top_p", "min_p", "num_samples"};
  if (std::ranges::none_of(samples, [&](const char* name) { return arguments.given(name); })) {
    options.sampling.temperature = 0;
  }
  return options;
}

void check_usage(const GenerateOptions& options, const cli::Arguments& arguments) {
  check<UsageError>(!arguments.given("prompt") || arguments.operand("FILE").empty(),
                    "--prompt and a file of prompts cannot be combined; leave one of them out");
  if (options.score) check_score(arguments);
  if (!options.evaluate.empty()) {
    refuse({"prompt", "score", "jsonl", "stream"}, arguments, " has no effect with --evaluate; leave one of them out");
  }
  check<UsageError>(options.max_tokens == 0 || options.constraints.min_tokens <= options.max_tokens, "--min-tokens ",
                    options.constraints.min_tokens, " is more than --max-tokens ", options.max_tokens,
                    "; lower it or raise --max-tokens");
  if (options.search.beam > 0) check_beam(options, arguments);
  if (options.stream) check_stream(options, arguments);
  if (!options.verify.empty()) {
    refuse({"score", "evaluate", "answer_after", "stream"}, arguments,
           ": --verify prints functions that are proved; leave one of them out");
  }
  if (!options.answer_after.empty()) {
    refuse({"stream", "n_best"}, arguments,
           ": --answer-after prints the one answer that most texts give; leave one of them out");
  }
  check<UsageError>(options.score || options.overlong != data::Overlong::split,
                    "--overlong split: is for --score; a prompt or a text with masks can only be truncated");
  if (options.sampling.temperature == 0) {
    refuse({"top_k", "top_p", "min_p"}, arguments,
           " has no effect with --temperature 0, which takes the most probable token");
    check<UsageError>(
        options.num_samples == 1,
        "--num-samples: with --temperature 0 all samples are equal; raise the temperature, or use --beam and --n-best");
  }
}

}  // namespace heddle

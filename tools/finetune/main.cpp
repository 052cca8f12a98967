// finetune: trains a pre-trained model for a task.
#include <algorithm>

#include "tools/cli/ranks.hpp"
#include "tools/cli/refuse_options.hpp"
#include "tools/cli/run.hpp"
#include "tools/cli/signals.hpp"
#include "tools/finetune/cross_validation.hpp"
#include "tools/finetune/make_ensemble.hpp"
#include "tools/finetune/model_choice.hpp"
#include "tools/finetune/tuning.hpp"
#include "tools/training/resolve_options.hpp"
#include "tools/training/training_files.hpp"

using namespace heddle;

namespace {

const cli::About about{.name = "finetune",
                       .summary = "Trains a model for a task on labelled examples, or on more text.",
                       .synopsis = {"--from MODEL --task NAME --train FILE -o TUNED [options]",
                                    "--from MODEL --task lm --train TOKENS|TEXT -o TUNED [options]",
                                    "--arch bag --task NAME --train FILE -o MODEL [options]",
                                    "--ensemble auto --train FILE [--from MODEL] -o CHOSEN",
                                    "--ensemble MODEL,MODEL... --valid FILE -o ENSEMBLE"},
                       .operands = {},
                       .has_ranks = true};

// A model to start from, or the architecture of a new one.
void check_start(const FinetuneOptions& options, const cli::Arguments& arguments) {
  check<UsageError>(!options.begins_new() || arguments.given("arch"),
                    "--from MODEL is missing: the model to start from, made by pretrain; or --arch NAME, for a new "
                    "one that learns from the examples alone, such as bag");
  if (!options.tokenizer.empty()) refuse({"marks"}, arguments, ": is for words of the examples; -t names a tokenizer");
  if (options.begins_new()) return;
  refuse({"arch", "tokenizer", "marks"}, arguments,
         ": is for new models; --from names one, which has its own shape and tokenizer");
}

void check_usage(const FinetuneOptions& options, const cli::Arguments& arguments) {
  check_start(options, arguments);
  check<UsageError>(!options.train.empty(), "--train FILE is missing: the files to train on");
  check<UsageError>(std::ranges::count(options.train, "-") == 0 && options.valid != "-",
                    "--train and --valid must be files, since they are read twice; standard input cannot be");
  check_control(options.control);
  const bool evaluates = !options.valid.empty() || (options.tuning.folds > 0 && !options.cross_validates());
  if (!evaluates && options.control.resume.empty()) refuse_evaluation(arguments, "--valid or --folds");
}

// For --print-config: the kinds with all their settings.
void show(FinetuneOptions& options, const cli::Arguments& arguments) {
  const RunSpec spec = resolved(options.learning, defaults_of(options, arguments), arguments);
  if (options.begins_new()) options.arch.show(options.arch.resolved(spec.model, "arch"));
  if (spec.objective) options.learning.objective.show(*spec.objective);
  options.learning.training = spec.training;
  options.learning.optimizer.show(spec.optimizer);
  options.learning.schedule.show(spec.schedule);
}

}  // namespace

int main(int argc, char** argv) {
  cli::catch_save_signal();
  return cli::run(argc, argv, about, [](cli::Arguments& arguments) {
    const cli::Ranks ranks(arguments);
    const auto options = arguments.read<FinetuneOptions>([&](FinetuneOptions& read) { show(read, arguments); });
    if (const auto choice = automatic_choice(options.ensemble)) {
      check<UsageError>(ranks.group().is_alone(), "--ensemble auto: trains in one process; start one");
      return choose_model(options, *choice, ranks.group(), arguments);
    }
    if (!options.ensemble.empty()) {
      check<UsageError>(ranks.group().is_alone(), "--ensemble computes nothing; start one process");
      make_ensemble(options, arguments);
      return 0;
    }
    check_usage(options, arguments);
    if (options.cross_validates()) {
      check<UsageError>(ranks.group().is_alone(), "--fold all: trains in one process; start one");
      return cross_validate(options, defaults_of(options, arguments), arguments);
    }
    take_seed(options.control, options.output, arguments);
    return train(options, defaults_of(options, arguments), {options.train, {options.from, options.tokenizer}},
                 ranks.group(), arguments, [&] { return std::make_unique<Finetuning>(options, arguments); });
  });
}

// finetune: trains a pre-trained model for a task.
#include <algorithm>

#include "heddle/cli/refuse.hpp"
#include "heddle/cli/run.hpp"
#include "heddle/cli/signals.hpp"
#include "tools/finetune/dry_run.hpp"
#include "tools/finetune/run.hpp"
#include "tools/training/files.hpp"
#include "tools/training/outputs.hpp"

using namespace heddle;

namespace {

const cli::About about{.name = "finetune",
                       .summary = "Trains a pre-trained model for a task on labelled examples, or on more text.",
                       .synopsis = {"--from MODEL --task NAME --train FILE [--valid FILE] -o TUNED [options]",
                                    "--from MODEL --task lm --train TOKENS|TEXT [--valid FILE] -o TUNED [options]",
                                    "--from MODEL --lora-rank R --task NAME --train FILE -o ADAPTER [options]",
                                    "--dry-run --from MODEL --train FILE [options]"},
                       .operands = {}};

TrainingOutputs outputs_of(const FinetuneOptions& options) {
  return {options.output, options.log, options.control.keep};
}

void check_usage(const FinetuneOptions& options, const cli::Arguments& arguments) {
  check<UsageError>(!options.from.empty(), "--from MODEL is missing: the model to start from, made by pretrain");
  check<UsageError>(!options.train.empty(), "--train FILE is missing: the files to train on");
  check<UsageError>(std::ranges::count(options.train, "-") == 0 && options.valid != "-",
                    "--train and --valid must be files, since they are read twice; standard input cannot be");
  check<UsageError>(options.dry_run || !options.output.empty(), "-o FILE is missing: the file to write");
  check_control(options.control);
  if (!evaluates(options) && options.control.resume.empty()) refuse_evaluation(arguments, "--valid or --folds");
  std::vector<std::string> inputs{options.from, validation(options.valid).file};
  for (const TrainingFile& file : training_files(options.train)) inputs.push_back(file.path);
  check_outputs(outputs_of(options), inputs, arguments);
}

}  // namespace

int main(int argc, char** argv) {
  cli::catch_save_signal();
  return cli::run(argc, argv, about, [](cli::Arguments& arguments) {
    const auto options = arguments.read<FinetuneOptions>();
    check_usage(options, arguments);
    take_seed<FinetuneRecord>(options.control, options.output, arguments);
    if (options.dry_run) {
      finetune_dry_run(options, arguments);
      return 0;
    }
    const ClaimedOutputs claimed(outputs_of(options));
    catch_usr1(options.control);
    return FinetuneRun(options, arguments).run();
  });
}

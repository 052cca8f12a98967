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

const cli::About about{
    .name = "finetune",
    .summary = "Trains a pre-trained model for a task on labelled examples, or further on other text.",
    .synopsis = {"--from MODEL --task NAME --train FILE [--valid FILE] -o TUNED [options]",
                 "--from MODEL --task lm --train TOKENS|TEXT [--valid FILE] -o TUNED [options]",
                 "--from MODEL --lora-rank R --task NAME --train FILE -o ADAPTER [options]",
                 "--dry-run --from MODEL --train FILE [options]"},
    .operands = {}};

bool chooses_best(const FinetuneOptions& options) {
  return !options.valid.empty() || options.settings.folds > 0;
}

TrainingOutputs outputs_of(const FinetuneOptions& options) {
  return {options.output, options.log, chooses_best(options), options.control.keep};
}

void check_usage(const FinetuneOptions& options, const cli::Arguments& arguments) {
  check<UsageError>(!options.from.empty(), "--from names the model to start from; make one with pretrain");
  check<UsageError>(!options.train.empty(), "--train names the files to train on");
  check<UsageError>(std::ranges::count(options.train, "-") == 0 && options.valid != "-",
                    "--train and --valid need files, which are read twice; standard input cannot be");
  check<UsageError>(options.dry_run || !options.output.empty(), "-o names the file to write");
  if (!chooses_best(options) && !resumes(options.control, options.output)) {
    refuse_evaluation(arguments, "--valid or --folds");
  }
  std::vector<std::string> inputs{options.from, options.valid};
  for (const TrainingFile& file : training_files(options.train)) inputs.push_back(file.path);
  check_outputs(outputs_of(options), inputs, arguments);
}

}  // namespace

int main(int argc, char** argv) {
  cli::catch_save_signal();
  return cli::run(argc, argv, about, [](cli::Arguments& arguments) {
    const auto options = arguments.read<FinetuneOptions>();
    check_usage(options, arguments);
    if (options.dry_run) {
      finetune_dry_run(options, arguments);
      return 0;
    }
    const ClaimedOutputs claimed(outputs_of(options), resumes(options.control, options.output));
    catch_usr1(options.control);
    return FinetuneRun(options, arguments).run();
  });
}

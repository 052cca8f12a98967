// finetune: trains a pre-trained model for a task.
#include <algorithm>

#include "heddle/cli/outputs.hpp"
#include "heddle/cli/run.hpp"
#include "finetune_dry_run.hpp"
#include "finetune_run.hpp"
#include "refuse.hpp"
#include "training_files.hpp"

using namespace heddle;

namespace {

const cli::About about{.name = "finetune",
                       .summary = "Trains a pre-trained model for a task on labelled examples, or further on other text.",
                       .synopsis = {"--from MODEL --task NAME --train FILE [--valid FILE] -o TUNED [options]",
                                    "--from MODEL --task lm --train TOKENS|TEXT [--valid FILE] -o TUNED [options]",
                                    "--from MODEL --lora-rank R --task NAME --train FILE -o ADAPTER [options]",
                                    "--dry-run --from MODEL --train FILE [options]"},
                       .operands = {}};

void check_usage(const FinetuneOptions& options, const cli::Arguments& arguments) {
  check<UsageError>(!options.from.empty(), "--from names the model to start from; make one with pretrain");
  check<UsageError>(!options.train.empty(), "--train names the files to train on");
  check<UsageError>(std::ranges::count(options.train, "-") == 0 && options.valid != "-",
                    "--train and --valid need files, which are read twice; standard input cannot be");
  check<UsageError>(options.dry_run || !options.output.empty(), "-o names the file to write");
  const bool chooses_best = !options.valid.empty() || options.settings.folds > 0;
  if (!chooses_best && !resumes(options.control, options.output)) refuse_evaluation(arguments, "--valid or --folds");
  std::vector<std::string> inputs{options.from, options.valid};
  for (const TrainingFile& file : training_files(options.train)) inputs.push_back(file.path);
  cli::keep_inputs(inputs,
                   {options.output, chooses_best ? best_path(options.output) : "", options.log});
  if (options.control.keep > 0 && !options.dry_run) {
    check_kept_names(options.output, inputs, resumes(options.control, options.output));
  }
}

}  // namespace

int main(int argc, char** argv) {
  return cli::run(argc, argv, about, [](cli::Arguments& arguments) {
    const auto options = arguments.read<FinetuneOptions>();
    check_usage(options, arguments);
    if (options.dry_run) {
      finetune_dry_run(options, arguments);
      return 0;
    }
    catch_usr1(options.control);
    return FinetuneRun(options, arguments).run();
  });
}

// pretrain: trains a transformer from scratch.
#include "tools/cli/refuse.hpp"
#include "tools/cli/run.hpp"
#include "tools/cli/signals.hpp"
#include "tools/pretrain/dry_run.hpp"
#include "tools/pretrain/run.hpp"
#include "tools/pretrain/variants.hpp"
#include "tools/training/files.hpp"
#include "tools/training/outputs.hpp"

using namespace heddle;

namespace {

const cli::About about{.name = "pretrain",
                       .summary = "Trains a model on token files, text or pairs of texts, from scratch.",
                       .synopsis = {"--train TOKENS [--valid TOKENS|N%] -o MODEL [options]",
                                    "--train TEXT -t TOKENIZER [--valid TEXT|N%] -o MODEL [options]",
                                    "--train PAIRS --arch NAME [--valid PAIRS|N%] -o MODEL [options]",
                                    "--dry-run [--preset NAME] [options]"},
                       .operands = {},
                       .topics = {{"variants", variants_help}}};

// Model options that the command line leaves out come from the preset, or with --resume from the file.
void complete(PretrainOptions& options, const cli::Arguments& arguments) {
  options.model.show(chosen_model(options, arguments));
  settle_length(options.setup.training, arguments);
  double& rate = options.setup.schedule.learning_rate;
  if (rate == training::automatic_rate) rate = training::ScheduleOptions().learning_rate;
}

}  // namespace

int main(int argc, char** argv) {
  cli::catch_save_signal();
  return cli::run(argc, argv, about, [](cli::Arguments& arguments) {
    const auto options = arguments.read<PretrainOptions>([&](PretrainOptions& read) { complete(read, arguments); });
    check_control(options.control);
    const training::TrainingOptions& length = options.setup.training;
    check<UsageError>(length.steps > 0 || length.epochs > 0 || !options.control.resume.empty(),
                      "--steps auto needs --epochs");
    if (options.control.resume.empty()) chosen_model(options, arguments).check();
    check_file_output(options.output);
    take_seed<PretrainRecord>(options.control, options.output, arguments);
    if (options.dry_run) {
      pretrain_dry_run(options, arguments);
      return 0;
    }
    check<UsageError>(
        !options.train.empty(),
        "--train names the token file to train on, made with tokenize -t tokenizer.h5 -o tokens.h5 text.txt; "
        "or, with -t tokenizer.h5, the text itself");
    check<UsageError>(!options.output.empty(), "-o FILE is missing: the model file to write");
    if (options.valid.empty()) refuse_evaluation(arguments, "--valid");
    std::vector<std::string> inputs{validation(options.valid).file, options.tokenizer};
    for (const TrainingFile& file : training_files(options.train)) inputs.push_back(file.path);
    const TrainingOutputs outputs{options.output, options.log, options.control.keep};
    check_outputs(outputs, inputs, arguments);
    const ClaimedOutputs claimed(outputs);
    catch_usr1(options.control);
    return PretrainRun(options, arguments).run();
  });
}

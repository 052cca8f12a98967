// finetune: trains a pre-trained model for a task.
#include <algorithm>

#include "tools/cli/refuse.hpp"
#include "tools/cli/run.hpp"
#include "tools/cli/signals.hpp"
#include "tools/finetune/dry_run.hpp"
#include "tools/finetune/ensemble.hpp"
#include "tools/finetune/run.hpp"
#include "tools/training/files.hpp"
#include "tools/training/outputs.hpp"

using namespace heddle;

namespace {

const cli::About about{
    .name = "finetune",
    .summary = "Trains a model for a task on labelled examples, or on more text.",
    .synopsis = {"--from MODEL --task NAME --train FILE [--valid FILE] -o TUNED [options]",
                 "--from MODEL --task lm --train TOKENS|TEXT [--valid FILE] -o TUNED [options]",
                 "--arch bag --task NAME --train FILE [--valid FILE] -o MODEL [options]",
                 "--from MODEL --lora-rank R --task NAME --train FILE -o ADAPTER [options]",
                 "--ensemble MODEL,MODEL... --valid FILE -o ENSEMBLE", "--dry-run --from MODEL --train FILE [options]"},
    .operands = {}};

TrainingOutputs outputs_of(const FinetuneOptions& options) {
  return {options.output, options.log, options.control.keep};
}

// A model to start from, or the architecture of a new one.
void check_start(const FinetuneOptions& options, const cli::Arguments& arguments) {
  check<UsageError>(!options.begins_new() || arguments.given("arch"),
                    "--from MODEL is missing: the model to start from, made by pretrain; or --arch NAME, for a new "
                    "one that learns from the examples alone, such as bag");
  if (options.begins_new()) return;
  std::vector<std::string> fields{"tokenizer"};
  auto add = [&](const Field& field, const auto&) { fields.push_back(field.name); };
  visit_fields(options.model, add);
  refuse(fields, arguments, ": is for new models; --from names one, which has its own shape and tokenizer");
}

// Settings of a new model that the command line leaves out are those that suit its architecture; texts without labels
// are read four times.
void complete(FinetuneOptions& options, const cli::Arguments& arguments) {
  const bool has_length = arguments.given("epochs") || arguments.given("steps");
  if (models::has_own_head(options.settings.task) && !has_length) options.setup.training.epochs = 4;
  if (!options.begins_new() || !arguments.given("arch")) return;
  const TrainingSetup asked = options.setup;
  const models::FromScratch& suited = models::architecture(options.model.shape.arch()).from_scratch;
  options.suit(suited);
  TrainingSetup& setup = options.setup;
  if (asked.schedule.learning_rate != training::automatic_rate) {
    setup.schedule.learning_rate = asked.schedule.learning_rate;
  }
  if (arguments.given("batch_size")) setup.training.batch_size = asked.training.batch_size;
  if (has_length) setup.training.epochs = asked.training.epochs;
  if (arguments.given("weight_decay")) setup.optimizer.weight_decay = asked.optimizer.weight_decay;
  if (!arguments.given("optimizer") || asked.optimizer.optimizer == suited.optimizer) return;
  check<UsageError>(asked.schedule.learning_rate != training::automatic_rate, "--optimizer ", asked.optimizer.optimizer,
                    ": --learning-rate X is missing; ", suited.learning_rate, ", the default of --arch ",
                    options.model.shape.arch(), ", is for ", suited.optimizer);
  setup.optimizer = asked.optimizer;
}

void check_usage(const FinetuneOptions& options, const cli::Arguments& arguments) {
  check_start(options, arguments);
  check<UsageError>(!options.train.empty(), "--train FILE is missing: the files to train on");
  check<UsageError>(std::ranges::count(options.train, "-") == 0 && options.valid != "-",
                    "--train and --valid must be files, since they are read twice; standard input cannot be");
  check<UsageError>(options.dry_run || !options.output.empty(), "-o FILE is missing: the file to write");
  check_control(options.control);
  if (!evaluates(options) && options.control.resume.empty()) refuse_evaluation(arguments, "--valid or --folds");
  std::vector<std::string> inputs{options.from, options.tokenizer, validation(options.valid).file};
  for (const TrainingFile& file : training_files(options.train)) inputs.push_back(file.path);
  check_outputs(outputs_of(options), inputs, arguments);
}

}  // namespace

int main(int argc, char** argv) {
  cli::catch_save_signal();
  return cli::run(argc, argv, about, [](cli::Arguments& arguments) {
    const auto options = arguments.read<FinetuneOptions>([&](FinetuneOptions& read) { complete(read, arguments); });
    if (!options.ensemble.empty()) {
      make_ensemble(options, arguments);
      return 0;
    }
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

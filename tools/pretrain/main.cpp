// pretrain: trains a transformer from scratch.
#include "libcore/base/values.hpp"
#include "libcore/models/architecture.hpp"
#include "tools/cli/ranks.hpp"
#include "tools/cli/refuse_options.hpp"
#include "tools/cli/run.hpp"
#include "tools/cli/signals.hpp"
#include "tools/pretrain/pretraining.hpp"
#include "tools/pretrain/variants.hpp"
#include "tools/training/resolve_options.hpp"
#include "tools/training/training_files.hpp"

using namespace heddle;

namespace {

const cli::About about{
    .name = "pretrain",
    .summary = "Trains a model on token files, text, pairs, graphs or problems, from scratch.",
    .synopsis = {"--train TOKENS [--valid TOKENS|N%] -o MODEL [options]",
                 "--train TEXT -t TOKENIZER [--valid TEXT|N%] -o MODEL [options]",
                 "--train PAIRS|GRAPHS --arch NAME -o MODEL [options]", "--tasks FAMILY --arch RULE -o MODEL [options]",
                 "--dry-run [--preset NAME] [options]"},
    .operands = {},
    .topics = {{"variants", variants_help}},
    .has_ranks = true};

// For --print-config: the kinds with all their settings.
void show(PretrainOptions& options, const cli::Arguments& arguments) {
  const RunSpec spec = resolved(options.learning, pretraining_defaults(options, arguments), arguments);
  options.model.arch.show(described_model(options.model, spec.model));
  if (spec.objective) options.learning.objective.show(*spec.objective);
  options.learning.training = spec.training;
  options.learning.optimizer.show(spec.optimizer);
  options.learning.schedule.show(spec.schedule);
}

// Rates of different rules differ by far, and who gives one alone may mean another rule.
void note_rate(const PretrainOptions& options, const cli::Arguments& arguments) {
  constexpr double low = 0.2;
  if (!arguments.given("learning_rate") || !options.learning.optimizer.name.empty()) return;
  if (!options.control.resume.empty()) return;
  const models::ModelConfig model = described_model(options.model, {});
  const models::Architecture& architecture = models::architecture(model.arch());
  const double usual =
      training::OptimizerChoice::from(architecture.recipe.optimizer)->usual_rate(architecture.learning_rate(model));
  const double given = options.learning.training.learning_rate;
  if (given <= 0 || given > low * usual) return;
  arguments.say(concatenate("--learning-rate ", format(given), " is low for ", architecture.recipe.optimizer,
                            ", the optimizer of ", architecture.name, " models, which learns fast near ", format(usual),
                            "; --optimizer names another one"));
}

}  // namespace

int main(int argc, char** argv) {
  cli::catch_save_signal();
  return cli::run(argc, argv, about, [](cli::Arguments& arguments) {
    const cli::Ranks ranks(arguments);
    const auto options = arguments.read<PretrainOptions>([&](PretrainOptions& read) { show(read, arguments); });
    check_control(options.control);
    if (options.control.resume.empty()) described_model(options.model, {}).check();
    check<UsageError>(
        options.dry_run || !options.train.empty() || options.tasks.is_given(),
        "--train names the token file to train on, made with tokenize -t tokenizer.h5 -o tokens.h5 text.txt; "
        "or, with -t tokenizer.h5, the text itself; update rules need --tasks");
    if (options.valid.empty() && !options.tasks.is_given()) refuse_evaluation(arguments, "--valid");
    take_seed(options.control, options.output, arguments);
    note_rate(options, arguments);
    const std::string table =
        options.tasks.is_given() ? options.tasks.resolved(data::ProblemChoice(), "tasks")->table_file() : "";
    return train(options, pretraining_defaults(options, arguments), {options.train, {options.tokenizer, table}},
                 ranks.group(), arguments, [&] { return std::make_unique<Pretraining>(options, arguments); });
  });
}

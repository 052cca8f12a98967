#include "tools/finetune/dry_run.hpp"

#include <memory>

#include "formats/heddle/load_model.hpp"
#include "tools/finetune/run.hpp"
#include "tools/training/choose_precision.hpp"
#include "tools/training/dry_run.hpp"
#include "tools/training/resume.hpp"

namespace heddle {

namespace {

class FinetuneTrial : public Trial {
 public:
  FinetuneTrial(const FinetuneOptions& options, FinetuningTask& task, models::ModelConfig config,
                const training::TrainingConfig& training) {
    const FinetuneSettings& settings = options.settings;
    if (settings.dropout >= 0 || !options.begins_new()) config->dropout = dropout_of(settings, config);
    const ParameterSource source =
        with_adapters(ParameterSource(0).trained_at(learning_rates(settings, config)), settings.adapters);
    model_ = std::make_unique<models::TaskModel>(models::make_model(config, source), task.config());
    check_trained(settings, model_->parameters());
    objective_ = task.objective(*model_, training);
  }
  training::Objective& objective() const override { return *objective_; }

 private:
  std::unique_ptr<models::TaskModel> model_;
  std::unique_ptr<training::Objective> objective_;
};

// Progress of the run that the command continues and whose settings it takes over.
Index steps_done_of(FinetuneOptions& options, const cli::Arguments& arguments) {
  const RunStart start = find_start(options.output, options.control, [&](const formats::ModelFile& file) {
    check_same_options(options, file, arguments);
  });
  if (start.beginning == Beginning::anew || start.beginning == Beginning::finished) return 0;
  if (!options.control.resume.empty()) {
    const Changes changes = start.beginning == Beginning::resumed ? Changes::some : Changes::none;
    (void)take_over(options, *start.file, arguments, changes);
  }
  return progress_of(*start.file).step;
}

struct Begun {
  std::unique_ptr<FinetuningTask> task;
  models::ModelConfig config;
};
Begun begin(const FinetuneOptions& options, const cli::Arguments& arguments) {
  if (options.begins_new()) {
    NewModelTask made = make_new_model_task(options, arguments);
    return {std::move(made.task), made.config};
  }
  const formats::ModelFile base(options.from);
  return {make_finetuning_task(options, base, arguments), formats::checked_config(base)};
}

}  // namespace

void finetune_dry_run(FinetuneOptions options, const cli::Arguments& arguments) {
  if (!options.begins_new()) {
    settle_rate(options.setup.schedule, formats::checked_config(formats::ModelFile(options.from)));
  }
  settle_length(options.setup.training, arguments);
  const Index steps_done = steps_done_of(options, arguments);
  settle_length(options.setup.training, arguments);
  const Begun begun = begin(options, arguments);
  FinetuningTask& finetuning = *begun.task;
  const models::ModelConfig& config = begun.config;
  options.setup.training.precision = choose_precision(options.setup.training.precision, arguments);
  training::TrainingConfig training = options.setup.config(0);
  const EvaluationSample evaluation = finetuning.sample_evaluation(training, config);
  DryRun run{.begin =
                 [&](const training::TrainingConfig& trial) {
                   return std::make_unique<FinetuneTrial>(options, finetuning, config, trial);
                 },
             .config = training,
             .control = options.control,
             .output = options.output};
  run.steps_done = steps_done;
  run.saves_what_is_trained = options.settings.adapts();
  run.steps_to_simulate = 200;  // examples differ in length
  run.evaluates = evaluates(options);
  run.keeps_best = resolved(options.settings.select, run.evaluates, "--valid or --folds") == Select::best;
  run.evaluation = evaluation;
  run.simulates_evaluation = models::has_own_head(options.settings.task);
  (void)dry_run(run, options.json, arguments);
}

}  // namespace heddle

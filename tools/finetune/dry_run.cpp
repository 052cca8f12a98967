#include "tools/finetune/dry_run.hpp"

#include <memory>

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
    if (settings.dropout >= 0) config->dropout = settings.dropout;
    const ParameterSource source =
        with_adapters(ParameterSource(0).trained_at(learning_rates(settings, config)), settings.adapters);
    model_ = std::make_unique<models::TaskModel>(models::make_model(config, source), task.config());
    objective_ = task.objective(*model_, training);
  }
  training::Objective& objective() const override { return *objective_; }

 private:
  std::unique_ptr<models::TaskModel> model_;
  std::unique_ptr<training::Objective> objective_;
};

}  // namespace

void finetune_dry_run(FinetuneOptions options, const cli::Arguments& arguments) {
  const bool goes_on = resumes(options.control, options.output);
  const Index steps_done = goes_on ? take_over(options, open_to_resume(options.output), arguments) : 0;
  settle_length(options.setup.training, arguments);
  const formats::ModelFile base(options.from);
  const auto config = base.config<models::ModelConfig>();
  const std::unique_ptr<FinetuningTask> finetuning = make_finetuning_task(options, base.tokenizer(), arguments);
  options.setup.training.precision = choose_precision(options.setup.training.precision, arguments);
  training::TrainingConfig training = options.setup.config(0);
  const EvaluationSample evaluation = finetuning->sample_evaluation(training, config);
  DryRun run{.begin =
                 [&](const training::TrainingConfig& trial) {
                   return std::make_unique<FinetuneTrial>(options, *finetuning, config, trial);
                 },
             .config = training,
             .control = options.control,
             .output = options.output};
  run.steps_done = steps_done;
  run.saves_what_is_trained = options.settings.adapts();
  run.steps_to_simulate = 200;  // examples differ in length
  run.evaluates = !options.valid.empty() || options.settings.folds > 0;
  run.evaluation = evaluation;
  run.simulates_evaluation = options.settings.task == models::Task::lm;
  dry_run(run, options.json, arguments);
}

}  // namespace heddle

#include "tools/finetune/tuning.hpp"
#include "tools/training/resolve_options.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "formats/heddle/load_model.hpp"
#include "formats/huggingface/load_tokenizer.hpp"
#include "libcore/models/architecture.hpp"
#include "tools/cli/signals.hpp"
#include "tools/tasks/graph_data.hpp"
#include "tools/training/training_files.hpp"

namespace heddle {

namespace {

using models::Task;

// Whether the word, a prefix of a name, "embeddings" or "body", selects the parameter.
bool is_named(std::string_view name, std::string_view word) {
  if (word == "body") return !name.starts_with("task/") && !models::is_of_head(name);
  if (word == "embeddings") return name.starts_with("embedding/") || name.find("/embedding/") != name.npos;
  if (word.ends_with('/')) word.remove_suffix(1);
  return name.starts_with(word) && (name.size() == word.size() || name[word.size()] == '/');
}

// Throws UsageError for a word that matches no parameter.
void check_freeze(const std::string& freeze, const Parameters& parameters) {
  if (freeze.empty()) return;
  for (const std::string& word : split(freeze, ',')) {
    const bool names_some = std::ranges::any_of(parameters.all(), [&](const Parameter& parameter) {
      return !parameter.name.starts_with("task/") && is_named(parameter.name, word);
    });
    check<UsageError>(names_some, "--freeze: '", word,
                      "' matches no part of the model; inspect MODEL --weights lists them");
  }
}

// Whether the loss does not depend on the parameter, so that weight decay would only shrink it.
bool is_idle(std::string_view name, const TuningSpec& settings, const models::Model& model) {
  const bool is_summary = model.is_of_summary(name);
  if (settings.task.kind() == Task::lm) {
    const auto* const masked = model.as<models::MaskedPredictor>();
    return is_summary && !(masked != nullptr && masked->has_next_sentence());
  }
  if (settings.task.kind() == Task::translate) return is_summary;
  if (!is_summary) return model.is_beside_vectors(name) && settings.auxiliary_weight == 0;
  const auto* const vectors = model.as<models::ContextualVectors>();
  return answered_by(settings.task.kind()) != models::Answered::whole || vectors == nullptr ||
         models::resolved(settings.pooling, *vectors) != models::Pooling::first;
}

}  // namespace

void check_trained(const TuningSpec& settings, const Parameters& parameters) {
  check_adapters(parameters, settings.adapters);
  check_freeze(settings.freeze, parameters);
  check<UsageError>(parameters.trained_count() > 0, "--freeze leaves nothing to train");
}

ParameterSource::Rate learning_rates(const TuningSpec& settings, const models::ModelConfig& config) {
  const auto frozen = settings.freeze.empty() ? std::vector<std::string>() : split(settings.freeze, ',');
  const std::shared_ptr<const models::Model> model = models::outline_of(config);
  return [frozen, settings, model](std::string_view name) {
    if (name.starts_with("task/")) return 1.0;
    if (is_idle(name, settings, *model)) return 0.0;
    const bool is_adapter = name.find("/lora/") != name.npos;
    if (settings.adapts() && !is_adapter) return 0.0;
    if (std::any_of(frozen.begin(), frozen.end(), [&](const std::string& word) { return is_named(name, word); })) {
      return 0.0;
    }
    return 1.0;
  };
}

namespace {

// Learning rate for the model's width: 0.08 / width, about ELECTRA's for each of its sizes (Clark et al. 2020, table
// 7). Graph models get the rate of new ones.
double suitable_rate(const models::ModelConfig& config) {
  if (!config.reads_tokens()) return models::architecture(config.arch()).from_scratch.learning_rate;
  const std::shared_ptr<const models::Model> model = models::outline_of(config);
  const auto* const vectors = model->as<models::ContextualVectors>();
  return vectors == nullptr ? 3e-4 : 0.08 / static_cast<double>(vectors->width());
}

// The dropout rate with which a model that was trained is tuned for a task.
double dropout_of(const TuningSpec& tuning, const models::ModelConfig& config) {
  if (tuning.dropout >= 0) return tuning.dropout;
  if (!config.reads_tokens()) return config->dropout;
  return has_own_head(tuning.task.kind()) ? config->dropout : std::max(0.1, config->dropout);
}

}  // namespace

RunSpec tuning_defaults(const models::ModelConfig& model) {
  RunSpec spec;
  spec.tool = "finetune";
  spec.model = model;
  spec.optimizer = training::OptimizerChoice::from("adamw:beta2=0.999,weight-decay=0.01");
  spec.schedule = training::ScheduleChoice::from("linear:warmup=10%");
  spec.training.steps = 0;
  spec.training.eval_every = 0;
  spec.training.batch_size = 16;
  spec.training.learning_rate = training::automatic_rate;
  spec.tuning.emplace();
  return spec;
}

RunSpec defaults_of(const FinetuneOptions& options, const cli::Arguments& arguments) {
  RunSpec spec = tuning_defaults({});
  if (options.begins_new() && !options.arch.name.empty()) {
    const models::Architecture& arch = models::architecture(options.arch.name);
    spec = suited(tuning_defaults(arch.defaults), arch.from_scratch);
    const std::string& optimizer = options.learning.optimizer.name;
    check<UsageError>(optimizer.empty() || optimizer == spec.optimizer.name() || arguments.given("learning_rate"),
                      "--optimizer ", optimizer, ": --learning-rate X is missing; ", spec.training.learning_rate,
                      ", the default of --arch ", options.arch.name, ", is for ", spec.optimizer.name());
  }
  spec.seed = arguments.common().seed;
  return spec;
}

RunSpec suited(RunSpec spec, const models::FromScratch& scratch) {
  spec.optimizer = training::OptimizerChoice::from(scratch.optimizer);
  spec.training.learning_rate = scratch.learning_rate;
  spec.training.batch_size = scratch.batch_size;
  spec.training.epochs = scratch.epochs;
  return spec;
}

Finetuning::Finetuning(const FinetuneOptions& options, const cli::Arguments& arguments)
    : options_(options), arguments_(arguments) {
  if (!options.begins_new()) base_.emplace(options.from);
}

void Finetuning::add_inputs(formats::Provenance& provenance) const {
  if (base_) formats::add_input(provenance, "model", options_.from);
  if (!options_.tokenizer.empty()) formats::add_tokenizer_input(provenance, options_.tokenizer);
  const Validation valid = validation(options_.valid);
  heddle::add_inputs(provenance, training_files(options_.train), valid);
  if (!valid.file.empty()) formats::add_input(provenance, "valid", valid.file);
}

void Finetuning::settle(RunSpec& spec) const {
  take_given(*spec.tuning, options_.tuning, arguments_);
  settle_task(*spec.tuning);
  const TuningSpec& tuning = *spec.tuning;
  base_ ? settle_tuned_model(spec) : settle_new_model(spec);
  if (!has_own_head(tuning.task.kind())) {
    spec.objective.reset();
    return;
  }
  check<UsageError>(spec.model.reads_tokens(), "--task ", to_text(tuning.task.kind()), ": is for texts, and ",
                    options_.from, " reads graphs");
  const std::shared_ptr<const models::Model> model = models::outline_of(spec.model);
  const bool reads_pairs = tuning.task.kind() == Task::translate || holds_records(options_, *model);
  if (!spec.objective) {
    spec.objective =
        training::objective_for(*model, reads_pairs ? training::DataKind::pairs : training::DataKind::text);
  }
  training::check_suits(*spec.objective, *model);
}

// Graphs files say themselves what they have labels for.
void Finetuning::settle_task(TuningSpec& tuning) const {
  if (arguments_.given("task")) return;
  const std::string first = training_files(options_.train).front().path;
  if (formats::is_file_of(first, formats::FileKind::graphs))
    tuning.task = task_of_graphs(first, tuning.input.columns.label);
}

void Finetuning::settle_tuned_model(RunSpec& spec) const {
  spec.model = formats::checked_config(*base_);
  check<DataError>(spec.model.reads_tokens() || spec.model.as<models::GraphConfig>() != nullptr, options_.from,
                   ": is of the architecture ", spec.model.arch(), ", which reads ", models::what_it_reads(spec.model),
                   "; no task is for it");
  spec.model->dropout = dropout_of(*spec.tuning, spec.model);
  training::TrainingOptions& training = spec.training;
  if (training.learning_rate == training::automatic_rate)
    training.learning_rate = spec.optimizer->usual_rate(suitable_rate(spec.model));
  if (training.steps > 0 || training.epochs > 0) return;
  // Texts without labels are read four times, graphs as often as by a new model.
  if (has_own_head(spec.tuning->task.kind())) training.epochs = 4;
  if (!spec.model.reads_tokens()) training.epochs = models::architecture(spec.model.arch()).from_scratch.epochs;
}

void Finetuning::settle_new_model(RunSpec& spec) const {
  check_suits_new_model(*spec.tuning);
  spec.model = options_.arch.resolved(spec.model, "arch");
  if (spec.tuning->dropout >= 0) spec.model->dropout = spec.tuning->dropout;
  spec.model->spell_out();
}

void Finetuning::begin(const RunSpec& spec, const training::TrainingConfig& config, const formats::ModelFile* from,
                       const nn::ModelRanks& ranks) {
  spec_ = spec;
  models::ModelConfig model = spec.model;
  std::optional<text::Tokenizer> tokenizer;
  if (base_) {
    task_ = make_finetuning_task(options_, spec, *base_, arguments_);
  } else {
    NewModelTask made = make_new_model_task(options_, spec, arguments_);
    task_ = std::move(made.task);
    model = made.config;
    tokenizer = std::move(made.tokenizer);
  }
  const formats::NewTask task{task_->config(),
                              spec.tuning->adapters,
                              learning_rates(*spec.tuning, model),
                              static_cast<std::uint64_t>(spec.seed),
                              model->dropout,
                              from,
                              &ranks};
  loaded_ = base_ ? formats::start_task(*base_, task) : formats::start_new_task(model, tokenizer, task);
  if (!base_ && from == nullptr) task_->start(*loaded_->model);
  const Parameters& parameters = loaded_->model->parameters();
  check_trained(*spec.tuning, parameters);
  count_ = ranks.count(parameters);
  trained_ = ranks.count(parameters.only([](const Parameter& parameter) { return parameter.is_trained(); }));
  objective_ = task_->objective(*loaded_->model, config);
}

namespace {

// The head with its logits divided by a temperature, as long as this object lives.
class CalibratedHead {
 public:
  CalibratedHead(models::TaskModel& model, double temperature) : model_(model) {
    if (temperature == 1) return;
    for (const char* const name : {"task/weight", "task/bias"}) {
      const Tensor& values = model.parameters().find(name)->value();
      before_.emplace_back(values, values.copy());
    }
    model.set_temperature(temperature);
  }
  CalibratedHead(const CalibratedHead&) = delete;
  CalibratedHead& operator=(const CalibratedHead&) = delete;
  ~CalibratedHead() {
    if (before_.empty()) return;
    model_.set_temperature(1);
    for (const auto& [values, before] : before_) values.assign(before);
  }

 private:
  models::TaskModel& model_;
  std::vector<std::pair<Tensor, Tensor>> before_;
};

}  // namespace

FoldAnswers Finetuning::answer_others() {
  const auto& task = dynamic_cast<const LabelledTask&>(*task_);
  const Calibration calibration = task.calibration(*loaded_->model);
  const CalibratedHead head(*loaded_->model, calibration.temperature);
  loaded_->model->set_thresholds(calibration.thresholds);
  return options_.cross_validates() ? task.answer_fold(*loaded_->model) : task.answer_validation(*loaded_->model);
}

void Finetuning::save(const std::string& path, const SavedRun& run) const {
  // Training may continue with the weights as they are.
  const Calibration calibration = run.is_finished ? task_->calibration(*loaded_->model) : Calibration{};
  const CalibratedHead head(*loaded_->model, calibration.temperature);
  if (run.is_finished) loaded_->model->set_thresholds(calibration.thresholds);
  formats::SavedTask saved{*loaded_->model, nullptr, run.history, run.provenance};
  if (loaded_->tokenizer) saved.tokenizer = &loaded_->tokenizer->model();
  if (loaded_->source_tokenizer) saved.source_tokenizer = &loaded_->source_tokenizer->model();
  saved.training = run.write_record;
  saved.weights = run.weights;
  if (spec_->tuning->adapts()) {
    save_adapter(path, saved, spec_->tuning->adapters,
                 {formats::readable_path(options_.from), base_->weights().fingerprint()});
  } else {
    save_task(path, saved);
  }
}

std::string Finetuning::summary() const {
  const auto fraction = static_cast<double>(trained_) / static_cast<double>(count_);
  return concatenate(task_->summary(), ", ", grouped(trained_), " of ", grouped(count_), " parameters are trained (",
                     std::round(fraction * 1000) / 10, " %)");
}

std::vector<std::string> Finetuning::last_notes(std::optional<double> best) const {
  return task_->baseline_notes(best, [] { return cli::stop_requested() != 0; });
}

Trial Finetuning::trial(const RunSpec& spec, const training::TrainingConfig& config, const nn::ModelRanks& ranks) {
  const ParameterSource source =
      with_adapters(ranks.divided(0).trained_at(learning_rates(*spec.tuning, trial_model_)), spec.tuning->adapters);
  auto model = std::make_shared<models::TaskModel>(models::make_model(trial_model_, source), task_->config());
  check_trained(*spec.tuning, model->parameters());
  auto objective = task_->objective(*model, config);
  return {std::move(model), std::move(objective)};
}

EvaluationSample Finetuning::sample_evaluation(training::TrainingConfig& config, const RunSpec& spec) {
  spec_ = spec;
  trial_model_ = spec.model;
  if (base_) {
    task_ = make_finetuning_task(options_, spec, *base_, arguments_);
  } else {
    NewModelTask made = make_new_model_task(options_, spec, arguments_);
    task_ = std::move(made.task);
    trial_model_ = made.config;
  }
  return task_->sample_evaluation(config, trial_model_);
}

void Finetuning::describe(DryRun& run) const {
  run.saves_what_is_trained = spec_->tuning->adapts();
  run.steps_to_simulate = 200;  // examples differ in length
  run.simulates_evaluation = has_own_head(spec_->tuning->task.kind());
}

}  // namespace heddle

#include "tools/finetune/run.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <optional>

#include "formats/huggingface/load_tokenizer.hpp"
#include "libcore/tensor/context.hpp"
#include "tools/cli/signals.hpp"
#include "tools/training/choose_precision.hpp"
#include "tools/training/files.hpp"

namespace heddle {

namespace {

using models::Task;

// The block of a parameter such as encoder/3/norm/weight, from 0; none where it is of no block.
std::optional<Index> block_of(std::string_view name) {
  const std::size_t begin = name.find('/') + 1;
  Index block = 0;
  const auto [end, error] = std::from_chars(name.data() + begin, name.data() + name.size(), block);
  return error == std::errc() && *end == '/' ? std::optional(block) : std::nullopt;
}

// Blocks between a parameter and the head; the embeddings are below all blocks.
Index blocks_above(std::string_view name, Index layers) {
  if (name.starts_with("embedding/") || name.substr(name.find('/') + 1).starts_with("embedding/")) return layers;
  const std::optional<Index> block = block_of(name);
  return block ? layers - 1 - *block : 0;
}

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
bool is_idle(std::string_view name, const FinetuneSettings& settings, const models::Model& model) {
  const bool is_summary = model.is_of_summary(name);
  if (settings.task == Task::lm) {
    const auto* const masked = model.as<models::MaskedPredictor>();
    return is_summary && !(masked != nullptr && masked->has_next_sentence());
  }
  if (settings.task == Task::translate) return is_summary;
  if (!is_summary) return model.is_beside_vectors(name) && settings.auxiliary_weight == 0;
  const auto* const vectors = model.as<models::ContextualVectors>();
  return !models::pools(settings.task) || vectors == nullptr ||
         models::resolved(settings.pooling, *vectors) != models::Pooling::first;
}

// Throws UsageError if the options describe another new model than the file's.
void check_same_model(const FinetuneOptions& options, const formats::ModelFile& file, const cli::Arguments& arguments) {
  if (!options.begins_new()) return;
  options.model.shape.check_agrees(
      file.config<models::ModelConfig>(), arguments,
      concatenate("differs from what ", file.file().path(), " was trained with; use the previous value, or --restart"),
      {"dropout"});
}

// What the options say of the shape of a new model; nothing of another one.
std::string asked_shape(const FinetuneOptions& options, const cli::Arguments& arguments) {
  return options.begins_new() ? options.model.shape.text(arguments) : "";
}

// The model without memory for its weights.
std::shared_ptr<const models::Model> outline_of(const models::ModelConfig& config) {
  const Simulation simulation;
  return models::make_model(config, ParameterSource::unset());
}

}  // namespace

// Layers of the model that the task's head reads; 0 where it has no such vectors.
Index layers_of(const models::Model& model) {
  const auto* const vectors = model.as<models::ContextualVectors>();
  return vectors == nullptr ? 0 : vectors->layers();
}

// Whether a weight of the model is drawn anew instead of being taken from --from. Throws UsageError for more layers
// than the model has.
std::function<bool(std::string_view)> reset_weights(const FinetuneSettings& settings,
                                                    const models::ModelConfig& config) {
  if (settings.reset_layers == 0) return [](std::string_view) { return false; };
  const Index layers = layers_of(*outline_of(config));
  check<UsageError>(settings.reset_layers <= layers, "--reset-layers ", settings.reset_layers, ": the model has ",
                    counted(layers, "layer", "layers"));
  check<UsageError>(!settings.adapts(), "--reset-layers: an adapter has no weights of layers; leave out --lora-rank");
  return [first = layers - settings.reset_layers](std::string_view name) {
    const std::optional<Index> block = block_of(name);
    return block && *block >= first;
  };
}

void check_trained(const FinetuneSettings& settings, const Parameters& parameters) {
  check_adapters(parameters, settings.adapters);
  check_freeze(settings.freeze, parameters);
  check<UsageError>(parameters.trained_count() > 0, "--freeze leaves nothing to train");
}

ParameterSource::Rate learning_rates(const FinetuneSettings& settings, const models::ModelConfig& config) {
  const auto frozen = settings.freeze.empty() ? std::vector<std::string>() : split(settings.freeze, ',');
  const std::shared_ptr<const models::Model> model = outline_of(config);
  return [frozen, settings, model, layers = layers_of(*model)](std::string_view name) {
    if (name.starts_with("task/")) return 1.0;
    if (is_idle(name, settings, *model)) return 0.0;
    const bool is_adapter = name.find("/lora/") != name.npos;
    if (settings.adapts() && !is_adapter) return 0.0;
    if (std::any_of(frozen.begin(), frozen.end(), [&](const std::string& word) { return is_named(name, word); })) {
      return 0.0;
    }
    return std::pow(settings.layer_decay, static_cast<double>(blocks_above(name, layers)));
  };
}

void settle_rate(training::ScheduleOptions& schedule, const models::ModelConfig& config) {
  if (schedule.learning_rate != training::automatic_rate) return;
  const std::shared_ptr<const models::Model> model = outline_of(config);
  const auto* const vectors = model->as<models::ContextualVectors>();
  schedule.learning_rate = vectors == nullptr ? 3e-4 : 0.08 / static_cast<double>(vectors->width());
}

double dropout_of(const FinetuneSettings& settings, const models::ModelConfig& config) {
  if (settings.dropout >= 0) return settings.dropout;
  return models::has_own_head(settings.task) ? config->dropout : std::max(0.1, config->dropout);
}

bool evaluates(const FinetuneOptions& options) {
  return !options.valid.empty() || options.settings.folds > 0;
}

TrainingRecord take_over(FinetuneOptions& options, const formats::ModelFile& file, const cli::Arguments& arguments,
                         Changes changes) {
  auto record = record_of<FinetuneRecord>(file, Found::by_resume);
  const std::string& path = file.file().path();
  FinetuneSettings& former = record.settings;
  check_same_model(options, file, arguments);
  if (former.select == Select::best && options.valid.empty() && former.folds == 0) former.select = Select::automatic;
  const std::set<std::string> may_change =
      changes == Changes::some ? std::set<std::string>{"patience", "select"} : std::set<std::string>{};
  take_over(options.settings, former, arguments, path, may_change);
  take_over(options.setup, record.training, arguments, path, changes);
  return record.training;
}

void check_same_options(const FinetuneOptions& options, const formats::ModelFile& file,
                        const cli::Arguments& arguments) {
  if (!options.control.resume.empty()) {
    FinetuneOptions completed = options;
    take_over(completed, file, arguments, Changes::none);
    return;
  }
  const std::string& path = file.file().path();
  const auto record = record_of<FinetuneRecord>(file);
  ModelOptions::check_unchanged(asked_shape(options, arguments), record.shape, path);
  check_same_validation(options.valid, file);
  FinetuneSettings settings = options.settings;
  settings.select = resolved(settings.select, evaluates(options), "--valid or --folds");
  check_unchanged(settings, record.settings, path);
  check_unchanged(options.setup, record.training, arguments, path);
}

FinetuneRun::FinetuneRun(const FinetuneOptions& options, const cli::Arguments& arguments)
    : options_(options), arguments_(arguments), provenance_(formats::start_provenance(arguments.command_line())) {
  if (!options.begins_new()) {
    base_.emplace(options.from);
    settle_rate(options_.setup.schedule, base_->config<models::ModelConfig>());
  }
  settle_length(options_.setup.training, arguments);
  read_inputs();
  start_ = find_start(options.output, options.control, [&](const formats::ModelFile& file) {
    check_same_options(options_, file, arguments);
    for (const char* role : {"model", "tokenizer", "train", "valid", "checkpoint"}) {
      check_same_input(file, provenance_, role, found_by(options_.control));
    }
  });
  if (start_.beginning == Beginning::finished) return;
  asked_precision_ = options_.setup.training.precision;
  if (start_.file) resume();
  FinetuneSettings& settings = options_.settings;
  settings.select = resolved(settings.select, evaluates(options_), "--valid or --folds");
  make_model();
  begin_session();
  if (!start_.file) report_replacement(start_, arguments);
}

void FinetuneRun::read_inputs() {
  if (base_) formats::add_input(provenance_, "model", options_.from);
  if (!options_.tokenizer.empty()) formats::add_tokenizer_input(provenance_, options_.tokenizer);
  const Validation valid = validation(options_.valid);
  add_inputs(provenance_, training_files(options_.train), valid);
  if (!valid.file.empty()) formats::add_input(provenance_, "valid", valid.file);
  add_checkpoint_input(provenance_, options_.control, options_.output);
}

// Takes the settings from the file; options repeated on the command line must agree.
void FinetuneRun::resume() {
  const bool may_change = start_.beginning == Beginning::resumed;
  if (options_.control.resume.empty()) {
    record_ = record_of<FinetuneRecord>(*start_.file).training;
    options_.setup.training.precision = record_->setup.training.precision;
  } else {
    record_ = take_over(options_, *start_.file, arguments_, may_change ? Changes::some : Changes::none);
  }
  settle_length(options_.setup.training, arguments_);
  if (!may_change || !arguments_.given("precision")) asked_precision_ = record_->asked_precision;
  if (!may_change) return;
  for (const char* role : {"model", "train"}) check_same_input(*start_.file, provenance_, role, Found::by_resume);
}

void FinetuneRun::make_model() {
  training::TrainingOptions& training = options_.setup.training;
  training.precision = choose_precision(training.precision, arguments_, start_.file ? Start::resumed : Start::fresh);
  base_ ? adapt_model() : make_new_model();
  check_trained(options_.settings, loaded_->model->parameters());
}

void FinetuneRun::adapt_model() {
  task_ = make_finetuning_task(options_, *base_, arguments_);
  loaded_ = formats::start_task(*base_, new_task(base_->config<models::ModelConfig>()));
}

void FinetuneRun::make_new_model() {
  NewModelTask made = make_new_model_task(options_, arguments_);
  task_ = std::move(made.task);
  loaded_ = formats::start_new_task(made.config, made.tokenizer, new_task(made.config));
  if (!start_.file) task_->start(*loaded_->model);
}

formats::NewTask FinetuneRun::new_task(const models::ModelConfig& config) const {
  const FinetuneSettings& settings = options_.settings;
  check<UsageError>(base_ || settings.reset_layers == 0, "--reset-layers needs --from");
  return {task_->config(),
          settings.adapters,
          learning_rates(settings, config),
          reset_weights(settings, config),
          static_cast<std::uint64_t>(arguments_.common().seed),
          base_ ? dropout_of(settings, config) : settings.dropout,
          start_.file ? &*start_.file : nullptr};
}

void FinetuneRun::begin_session() {
  objective_ = task_->objective(*loaded_->model, options_.setup.config(arguments_.common().seed));
  session_.emplace(*objective_, options_.setup,
                   SessionOptions{.output = options_.output,
                                  .log = options_.log,
                                  .control = options_.control,
                                  .patience = options_.settings.patience,
                                  .select = options_.settings.select,
                                  .asked_precision = asked_precision_},
                   arguments_);
  if (!record_) return;
  session_->resume(start_, *record_);
  if (start_.beginning == Beginning::resumed) session_->compare_validation(*start_.file, provenance_);
}

void FinetuneRun::save(const std::string& path, Contents contents) const {
  formats::SavedTask saved{*loaded_->model, loaded_->tokenizer.model(), session_->history(), provenance_};
  if (loaded_->source_tokenizer) saved.source_tokenizer = &loaded_->source_tokenizer->model();
  saved.training = [&](formats::ModelWriter& writer) {
    const FinetuneRecord record{session_->record(), options_.settings, asked_shape(options_, arguments_)};
    write_record(writer, record, contents, session_->tensors());
  };
  const FinetuneSettings& settings = options_.settings;
  if (settings.adapts()) {
    save_adapter(path, saved, settings.adapters,
                 {formats::readable_path(options_.from), base_->weights().fingerprint()});
  } else {
    save_task(path, saved);
  }
}

void FinetuneRun::describe() const {
  const Parameters& parameters = loaded_->model->parameters();
  const Index trained = parameters.trained_count();
  const Index all = parameters.count();
  const auto fraction = static_cast<double>(trained) / static_cast<double>(all);
  arguments_.say(concatenate(task_->summary(), ", ", counted(session_->total_steps(), "step", "steps"), ", ",
                             grouped(trained), " of ", grouped(all), " parameters are trained (",
                             std::round(fraction * 1000) / 10, " %)",
                             start_.file ? "; continuing " + start_.file->file().path() : ""));
}

int FinetuneRun::run() {
  if (start_.beginning == Beginning::finished) return settle_finished(options_.output, start_, arguments_);
  describe();
  if (const std::string note = objective_->note(); !note.empty()) arguments_.say(note);
  const int status = session_->run([this](const std::string& path, Contents contents) { save(path, contents); });
  if (status != 0 || arguments_.common().quiet) return status;
  const training::TrainingState state = session_->record().progress;
  const auto best = state.best_step > 0 ? std::optional(state.best_metric) : std::nullopt;
  for (const std::string& note : task_->baseline_notes(best, [] { return cli::stop_requested() != 0; })) {
    arguments_.say(note);
  }
  return status;
}

}  // namespace heddle

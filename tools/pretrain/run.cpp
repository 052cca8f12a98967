#include "tools/pretrain/run.hpp"

#include "libcore/tensor/context.hpp"
#include "tools/pretrain/budget.hpp"
#include "tools/training/choose_objective.hpp"
#include "tools/training/choose_precision.hpp"

namespace heddle {

namespace {

// Throws UsageError if the preset with the options differs from the file's model, except in the vocabulary size.
void check_preset(const PretrainOptions& options, models::ModelConfig stored, const cli::Arguments& arguments,
                  const std::string& path) {
  if (options.preset.empty()) return;
  const models::ModelConfig wanted = chosen_model(options, arguments);
  if (!arguments.given("vocab_size")) stored->vocab_size = wanted->vocab_size;
  check<UsageError>(wanted == stored, "--preset ", options.preset, " differs from what ", path,
                    " was trained with; leave the preset out to resume, or start a new run with another -o");
}

// The name that auto stands for.
std::string objective_for(const std::string& wanted, const models::ModelConfig& config,
                          std::optional<training::DataKind> data, const cli::Arguments& arguments) {
  const Simulation simulation;
  return choose_objective(wanted, *models::make_model(config, ParameterSource::unset()), data, arguments);
}

}  // namespace

ResumedRun take_over(PretrainOptions& options, const formats::ModelFile& file, const cli::Arguments& arguments,
                     Changes changes) {
  const auto record = record_of<PretrainRecord>(file, Found::by_resume);
  const auto config = file.config<models::ModelConfig>();
  const std::string& path = file.file().path();
  check_preset(options, config, arguments, path);
  options.model.check_agrees(
      config, arguments,
      "differs from what " + path + " was trained with; leave it out to resume, or start a new run with another -o");
  const std::set<std::string> may_change =
      changes == Changes::some ? std::set<std::string>{"patience", "select"} : std::set<std::string>{};
  PretrainSettings former = record.settings;
  if (former.select == Select::best && options.valid.empty()) former.select = Select::automatic;
  take_over(options.settings, former, arguments, path, may_change);
  take_over(options.setup, record.training, arguments, path, changes);
  return {config, record.training};
}

void check_same_options(const PretrainOptions& options, const formats::ModelFile& file, const GivenData& data,
                        const cli::Arguments& arguments) {
  if (!options.control.resume.empty()) {
    PretrainOptions completed = options;
    take_over(completed, file, arguments, Changes::none);
    return;
  }
  const std::string& path = file.file().path();
  const auto record = record_of<PretrainRecord>(file);
  const auto then = file.config<models::ModelConfig>();
  models::ModelConfig now = chosen_model(options, arguments);
  now->fit_vocabularies(data.vocabularies);
  ModelOptions::check_unchanged(now, then, path);
  check_same_validation(options.valid, file);
  PretrainSettings settings = options.settings;
  settings.objective = objective_for(settings.objective, then, data.kind, arguments);
  settings.select = resolved(settings.select, !options.valid.empty(), "--valid");
  check_unchanged(settings, record.settings, path);
  check_unchanged(options.setup, record.training, arguments, path);
}

PretrainRun::PretrainRun(const PretrainOptions& options, const cli::Arguments& arguments)
    : options_(options),
      arguments_(arguments),
      corpus_(options, arguments),
      provenance_(formats::start_provenance(arguments.command_line())) {
  settle_length(options_.setup.training, arguments);
  read_inputs();
  start_ = find_start(options.output, options.control, [&](const formats::ModelFile& file) {
    check_tool(file, PretrainRecord::tool, PretrainRecord::section, found_by(options_.control));
    // First what decides the size of the vocabulary.
    check_same_input(file, provenance_, "tokenizer", found_by(options_.control));
    check_same_options(options_, file, {corpus_.vocabularies(), corpus_.kind()}, arguments);
    for (const char* role : {"train", "valid", "checkpoint"}) {
      check_same_input(file, provenance_, role, found_by(options_.control));
    }
  });
  if (start_.beginning == Beginning::finished) return;
  start_.file ? resume() : begin_anew();
  PretrainSettings& settings = options_.settings;
  settings.objective = choose_objective(settings.objective, *model_, corpus_.kind(), arguments);
  settings.select = resolved(settings.select, corpus_.has_valid(), "--valid");
  TrainingSetup& setup = options_.setup;
  setup.training.precision =
      choose_precision(setup.training.precision, arguments, start_.file ? Start::resumed : Start::fresh);
  const training::TrainingConfig config = setup.config(arguments.common().seed);
  training::ObjectiveInputs inputs = setup.objective_inputs(*model_, config);
  inputs.train = corpus_.train();
  inputs.valid = corpus_.valid();
  inputs.tokenizer = &corpus_.tokenizer();
  inputs.source_tokenizer = corpus_.source_tokenizer();
  objective_ = training::make_objective(settings.objective, inputs);
  session_.emplace(*objective_, setup,
                   SessionOptions{.output = options.output,
                                  .log = options.log,
                                  .control = options.control,
                                  .patience = settings.patience,
                                  .select = settings.select,
                                  .asked_precision = asked_precision_},
                   arguments);
  if (record_) session_->resume(start_, *record_);
  if (record_ && start_.beginning == Beginning::resumed) session_->compare_validation(*start_.file, provenance_);
  if (!start_.file) report_replacement(start_, arguments);
}

void PretrainRun::read_inputs() {
  corpus_.add_to(provenance_);
  add_checkpoint_input(provenance_, options_.control, options_.output);
}

void PretrainRun::begin_anew() {
  models::ModelConfig config = chosen_model(options_, arguments_);
  config->fit_vocabularies(corpus_.vocabularies());
  model_ = models::make_model(config, static_cast<std::uint64_t>(arguments_.common().seed));
  asked_precision_ = options_.setup.training.precision;
}

// Takes model and settings from the file; options repeated on the command line must agree.
void PretrainRun::resume() {
  const bool may_change = start_.beginning == Beginning::resumed;
  if (options_.control.resume.empty()) {
    record_ = record_of<PretrainRecord>(*start_.file).training;
    options_.setup.training.precision = record_->setup.training.precision;
  } else {
    record_ = take_over(options_, *start_.file, arguments_, may_change ? Changes::some : Changes::none).record;
  }
  settle_length(options_.setup.training, arguments_);
  asked_precision_ =
      may_change && arguments_.given("precision") ? options_.setup.training.precision : record_->asked_precision;
  if (may_change) {
    for (const char* role : {"tokenizer", "train"})
      check_same_input(*start_.file, provenance_, role, found_by(options_.control));
  }
  model_ = formats::load_model_to_train(*start_.file).model;
}

void PretrainRun::save(const std::string& path, Contents contents) const {
  formats::ModelWriter writer(path);
  writer.config(model_->config());
  writer.tokenizer(corpus_.tokenizer().model());
  if (const text::Tokenizer* source = corpus_.source_tokenizer()) writer.source_tokenizer(source->model());
  writer.weights(formats::named_tensors(model_->parameters()));
  writer.history(session_->history());
  write_record(writer, PretrainRecord{session_->record(), options_.settings}, contents, session_->tensors());
  writer.commit(provenance_);
}

void PretrainRun::describe_start() const {
  arguments_.say(concatenate(grouped(model_->parameters().count()), " parameters, vocabulary ", model_->vocab_size(),
                             ", ", corpus_.summary(), ", ", counted(session_->total_steps(), "step", "steps"),
                             start_.file ? "; continuing " + start_.file->file().path() : ""));
}

int PretrainRun::run() {
  if (start_.beginning == Beginning::finished) return settle_finished(options_.output, start_, arguments_);
  describe_start();
  if (const std::string note = objective_->note(); !note.empty()) arguments_.say(note);
  const std::string budget = small_budget(model_->config(), session_->total_steps(), options_.setup.training);
  if (!budget.empty()) arguments_.say(budget);
  return session_->run([this](const std::string& path, Contents contents) { save(path, contents); });
}

}  // namespace heddle

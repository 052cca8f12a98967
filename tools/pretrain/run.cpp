#include "tools/pretrain/run.hpp"

#include "heddle/cli/merge.hpp"
#include "tools/training/choose_objective.hpp"
#include "tools/training/choose_precision.hpp"
#include "tools/training/resume.hpp"

namespace heddle {

namespace {

std::optional<formats::ModelFile> file_to_resume(const PretrainOptions& options) {
  if (!resumes(options.control, options.output)) return std::nullopt;
  return open_to_resume(options.output);
}

// What the options make of the preset is what the file has, the size of the vocabulary aside.
void check_preset(const PretrainOptions& options, models::ModelConfig stored, const cli::Arguments& arguments) {
  if (options.preset.empty()) return;
  const models::ModelConfig wanted = chosen_model(options, arguments);
  if (!arguments.given("vocab_size")) stored->vocab_size = wanted->vocab_size;
  check<UsageError>(wanted == stored, "--preset ", options.preset, " differs from what ", options.output,
                    " was trained with; leave the preset out to continue, or train anew to another -o");
}

}  // namespace

ResumedRun take_over(PretrainOptions& options, const formats::ModelFile& file, const cli::Arguments& arguments) {
  const auto record = file.training_state<TrainingRecord>();
  const auto config = file.config<models::ModelConfig>();
  check_preset(options, config, arguments);
  options.model.check_agrees(config, arguments,
                             "differs from what " + options.output +
                                 " was trained with; leave it out to continue, or train anew to another -o");
  take_over(options.setup, record, arguments, options.output);
  return {config, record.progress.step};
}

PretrainRun::PretrainRun(const PretrainOptions& options, const cli::Arguments& arguments)
    : options_(options),
      arguments_(arguments),
      resumed_(file_to_resume(options)),
      train_(options.train),
      provenance_(formats::start_provenance(arguments.command_line())) {
  const text::Tokenizer tokenizer = train_.first().tokenizer();
  if (!options.valid.empty()) {
    valid_.emplace(options.valid);
    check<DataError>(valid_->tokenizer().fingerprint() == tokenizer.fingerprint(), options.valid,
                     ": was encoded with another tokenizer than ", train_.first().name(),
                     "; encode it with the same one (tokenize -t ", train_.first().name(), ")");
  }
  train_.add_to(provenance_);
  if (valid_) formats::add_input(provenance_, "valid", options.valid);
  if (resumed_) {
    resume(*resumed_);
  } else {
    report_replacement(options.output, arguments);
    models::ModelConfig config = chosen_model(options, arguments);
    const Index pieces = train_.tokens().vocab_size();
    if (config->vocab_size == 0) config->vocab_size = pieces;
    check<UsageError>(config->vocab_size >= pieces, "--vocab-size ", config->vocab_size, " is less than the ", pieces,
                      " pieces of the tokenizer of ", train_.first().name(), "; leave it out, or raise it");
    model_ = models::make_model(config, static_cast<std::uint64_t>(arguments.common().seed));
  }
  const std::string objective = choose_objective(options.objective, *model_, arguments);
  TrainingSetup& setup = options_.setup;
  settle_length(setup.training, arguments);
  setup.training.precision =
      choose_precision(setup.training.precision, arguments, resumed_ ? Start::resumed : Start::fresh);
  objective_ = training::make_objective(objective, {.model = *model_,
                                                    .train = train_.tokens(),
                                                    .valid = valid_ ? &*valid_ : nullptr,
                                                    .tokenizer = &tokenizer,
                                                    .masking = setup.masking,
                                                    .config = setup.config(arguments.common().seed)});
  session_.emplace(*objective_, setup, SessionOptions{options.output, options.log, options.control, options.patience},
                   arguments);
  if (resumed_) session_->resume(*resumed_, resumed_->training_state<TrainingRecord>().progress);
}

// Takes model and settings from the file; whatever the command line repeats must agree.
void PretrainRun::resume(const formats::ModelFile& file) {
  take_over(options_, file, arguments_);
  check_same_input(file, provenance_, "train");
  model_ = formats::load_model_to_train(file).model;
}

void PretrainRun::save(const std::string& path, Keep keep) const {
  formats::ModelWriter writer(path);
  writer.config(model_->config());
  writer.tokenizer(train_.first().tokenizer_model());
  writer.weights(formats::named_tensors(model_->parameters()));
  writer.history(session_->history());
  if (keep == Keep::everything) writer.training(session_->record(), session_->tensors());
  writer.commit(provenance_);
}

void PretrainRun::describe_start() const {
  arguments_.say(concatenate(grouped(model_->parameters().count()), " parameters, vocabulary ", model_->vocab_size(),
                             ", ", grouped(train_.tokens().size()), " training tokens, ", session_->total_steps(),
                             " steps"));
}

int PretrainRun::run() {
  if (session_->is_finished()) {
    arguments_.say(options_.output + ":" + session_->how_to_go_on());
    return 0;
  }
  describe_start();
  return session_->run([this] { save(options_.output, Keep::everything); },
                       [this] { save(best_path(options_.output), Keep::weights); });
}

}  // namespace heddle

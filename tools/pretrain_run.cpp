#include "pretrain_run.hpp"

#include "choose_precision.hpp"
#include "fill_in.hpp"
#include "make_objective.hpp"

namespace heddle {

namespace {

// What a resumed run may do differently.
const std::set<std::string> may_change{"precision", "steps", "epochs", "eval_every", "eval_tokens", "checkpoint_every", "log_every"};

std::optional<formats::ModelFile> file_to_resume(const PretrainOptions& options) {
  if (!options.resume) return std::nullopt;
  formats::ModelFile file(options.output);
  check<DataError>(file.has_training(), options.output,
                   ": holds no training state to resume from; train anew to another -o");
  return file;
}

const formats::ProvenanceInput* input_of(const formats::Provenance& provenance, const std::string& role) {
  for (const formats::ProvenanceInput& input : provenance.own.inputs) {
    if (input.role == role) return &input;
  }
  return nullptr;
}

}  // namespace

PretrainRun::PretrainRun(const PretrainOptions& options, const cli::Arguments& arguments)
    : options_(options), arguments_(arguments), resumed_(file_to_resume(options)), train_(options.train),
      provenance_(formats::start_provenance(arguments.command_line())) {
  const text::Tokenizer tokenizer = train_.tokenizer();
  if (!options.valid.empty()) {
    valid_.emplace(options.valid);
    check<DataError>(valid_->tokenizer().fingerprint() == tokenizer.fingerprint(), options.valid,
                     ": was encoded with another tokenizer than ", options.train,
                     "; encode it with the same one (tokenize -t ", options.train, ")");
  }
  formats::add_input(provenance_, "train", options.train);
  if (valid_) formats::add_input(provenance_, "valid", options.valid);
  if (resumed_) {
    resume(*resumed_);
  } else {
    models::ModelConfig& config = options_.model;
    if (config.vocab_size == 0) config.vocab_size = train_.vocab_size();
    model_ = models::make_model(config, static_cast<std::uint64_t>(arguments.common().seed));
  }
  check_objective(options.objective, model_->config().arch);
  options_.training.precision = choose_precision(options_.training.precision, arguments);
  const TrainingRecord record{
      {}, options_.masking, options_.training, options_.schedule, options_.optimizer, arguments.common().seed};
  objective_ =
      make_objective(*model_, {train_, valid_ ? &*valid_ : nullptr, &tokenizer}, options_.masking, record.plan());
  trainer_ = std::make_unique<training::Trainer>(*objective_, record.plan());
  if (resumed_) {
    trainer_->state() = resumed_->training_state<TrainingRecord>().progress;
    std::vector<formats::NamedTensor> moments;
    for (const training::OptimizerMoment& moment : trainer_->moments()) moments.push_back({moment.name, moment.value});
    resumed_->training_tensors().read(moments);
  }
  session_.emplace(*trainer_, SessionOptions{options.output, options.log, 0, ", --resume goes on"}, arguments);
  if (resumed_) session_->history() = resumed_->history();
}

// Takes model and settings from the file; whatever the command line repeats must agree.
void PretrainRun::resume(const formats::ModelFile& file) {
  const std::string& path = options_.output;
  const auto record = file.training_state<TrainingRecord>();
  take_over(options_.model, file.config<models::ModelConfig>(), arguments_, path, {});
  take_over(options_.masking, record.masking, arguments_, path, {});
  take_over(options_.training, record.training, arguments_, path, may_change);
  take_over(options_.schedule, record.schedule, arguments_, path, {});
  take_over(options_.optimizer, record.optimizer, arguments_, path, {});
  check<UsageError>(arguments_.common().seed == record.seed, "--seed = ", arguments_.common().seed, " differs from ",
                    record.seed, " that ", path, " was trained with");
  const formats::Provenance made = file.file().provenance();
  const formats::ProvenanceInput* before = input_of(made, "train");
  check<DataError>(before != nullptr && before->xxh128 == input_of(provenance_, "train")->xxh128, options_.train,
                   ": is not the file that ", path, " was trained on (", before == nullptr ? "?" : before->name,
                   "); resuming needs the same tokens");
  model_ = formats::load_model_to_train(file).model;
}

void PretrainRun::save(const std::string& path, bool with_training) const {
  formats::ModelWriter writer(path);
  writer.config(model_->config());
  writer.tokenizer(train_.tokenizer_model());
  writer.weights(formats::named_tensors(model_->parameters()));
  writer.history(session_->history());
  if (with_training) {
    std::vector<formats::NamedTensor> moments;
    for (const training::OptimizerMoment& moment : trainer_->moments()) moments.push_back({moment.name, moment.value});
    writer.training(TrainingRecord{trainer_->state(), options_.masking, options_.training, options_.schedule,
                                   options_.optimizer, arguments_.common().seed},
                    moments);
  }
  writer.commit(provenance_);
}

void PretrainRun::describe_start() const {
  const models::ModelConfig& config = model_->config();
  arguments_.say(concatenate(grouped(model_->parameters().count()), " parameters, vocabulary ", config.vocab_size,
                             ", ", grouped(train_.size()), " training tokens, ", trainer_->total_steps(), " steps"));
}

int PretrainRun::run() {
  describe_start();
  return session_->run([this] { save(options_.output, true); }, [this] { save(best_path(options_.output), false); });
}

}  // namespace heddle

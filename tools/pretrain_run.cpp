#include "pretrain_run.hpp"

#include <algorithm>
#include <iomanip>
#include <sstream>

#include "choose_precision.hpp"
#include "fill_in.hpp"
#include "heddle/cli/signals.hpp"
#include "heddle/tensor/limits.hpp"
#include "heddle/tensor/threads.hpp"
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

std::string text_of(double number, int digits) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(digits) << number;
  return out.str();
}

// "next_sentence_accuracy" as people say it.
std::string spoken(std::string name) {
  std::ranges::replace(name, '_', ' ');
  return name;
}

}  // namespace

PretrainRun::PretrainRun(const PretrainOptions& options, const cli::Arguments& arguments)
    : options_(options), arguments_(arguments), resumed_(file_to_resume(options)), train_(options.train),
      provenance_(formats::start_provenance(arguments.command_line())), progress_(arguments, "steps") {
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
  options_.training.precision = choose_precision(options_.training.precision, arguments);
  matmul_rate_ = measure_matmul_rate();
  const TrainingRecord record{{}, options_.training, options_.schedule, options_.optimizer, arguments.common().seed};
  objective_ = make_objective(*model_, train_, valid_ ? &*valid_ : nullptr, record.plan());
  trainer_ = std::make_unique<training::Trainer>(*objective_, record.plan());
  if (resumed_) {
    trainer_->state() = resumed_->training_state<TrainingRecord>().progress;
    std::vector<formats::NamedTensor> moments;
    for (const training::OptimizerMoment& moment : trainer_->moments()) moments.push_back({moment.name, moment.value});
    resumed_->training_tensors().read(moments);
    history_ = resumed_->history();
  }
  if (!options.log.empty()) log_.emplace(options.log, trainer_->state().step);
}

// Takes model and settings from the file; whatever the command line repeats must agree.
void PretrainRun::resume(const formats::ModelFile& file) {
  const std::string& path = options_.output;
  const auto record = file.training_state<TrainingRecord>();
  take_over(options_.model, file.config<models::ModelConfig>(), arguments_, path, {});
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

std::string PretrainRun::best_path() const {
  const std::string ending = ".h5";
  std::string path = options_.output;
  if (path.ends_with(ending)) path.resize(path.size() - ending.size());
  return path + ".best" + ending;
}

void PretrainRun::save(const std::string& path, bool with_training) const {
  formats::ModelWriter writer(path);
  writer.config(model_->config());
  writer.tokenizer(train_.tokenizer_model());
  writer.weights(formats::named_tensors(model_->parameters()));
  writer.history(history_);
  if (with_training) {
    std::vector<formats::NamedTensor> moments;
    for (const training::OptimizerMoment& moment : trainer_->moments()) moments.push_back({moment.name, moment.value});
    writer.training(TrainingRecord{trainer_->state(), options_.training, options_.schedule, options_.optimizer,
                                   arguments_.common().seed},
                    moments);
  }
  writer.commit(provenance_);
}

void PretrainRun::on_step(const training::StepRecord& record) {
  std::vector<std::pair<std::string, double>> row{{"step", static_cast<double>(record.step)},
                                                  {"tokens", static_cast<double>(record.tokens)},
                                                  {"loss", record.loss},
                                                  {"learning_rate", record.learning_rate},
                                                  {"gradient_norm", record.gradient_norm}};
  for (const training::Figure& figure : record.valid) row.emplace_back("valid_" + figure.name, figure.value);
  history_.append(row);
  if (log_) log_->write(record, matmul_rate_);
  if (record.valid.empty()) return;
  std::string note = "step " + std::to_string(record.step) + ": loss " + text_of(record.loss, 4);
  for (const training::Figure& figure : record.valid) {
    note += ", validation " + spoken(figure.name) + " " + text_of(figure.value, 4);
  }
  progress_.note(note + ", " + text_of(record.tokens_per_second, 0) + " tokens/s");
}

void PretrainRun::describe_start() const {
  const models::ModelConfig& config = model_->config();
  arguments_.say(concatenate(grouped(model_->parameters().count()), " parameters, vocabulary ", config.vocab_size,
                             ", ", grouped(train_.size()), " training tokens, ", trainer_->total_steps(), " steps"));
  arguments_.detail(concatenate("matrix products at ", text_of(matmul_rate_ * 1e-9, 0), " GFLOP/s in ",
                                (precision() == Precision::bf16 ? "bf16" : "f32"), " on ", thread_count(), " threads"));
}

int PretrainRun::run() {
  describe_start();
  training::Hooks hooks;
  hooks.on_step = [this](const training::StepRecord& record) { on_step(record); };
  hooks.on_progress = [this](const training::TrainingState& state) {
    if (!progress_.due()) return;
    progress_.update(static_cast<double>(state.step), static_cast<double>(trainer_->total_steps()),
                     "loss " + text_of(state.loss, 4));
  };
  hooks.save_last = [this] { save(options_.output, true); };
  hooks.save_best = [this] { save(best_path(), false); };
  hooks.stop = [] { return cli::stop_requested() != 0; };
  progress_.update(static_cast<double>(trainer_->state().step), static_cast<double>(trainer_->total_steps()));
  try {
    trainer_->run(hooks);
  } catch (const NumericError& error) {
    throw NumericError(concatenate(error.what(), "; ", options_.output, " holds the last checkpoint, if one was made"));
  }
  const training::TrainingState& state = trainer_->state();
  const bool finished = state.step == trainer_->total_steps();
  const int signal = finished ? 0 : cli::stop_requested();
  std::string summary = concatenate(options_.output, ": step ", state.step, ", loss ", text_of(state.loss, 4));
  if (state.best_step > 0) {
    summary += concatenate("; lowest validation loss ", text_of(state.best_figure, 4), " at step ", state.best_step,
                           " in ", best_path());
  }
  arguments_.say(signal == 0 ? summary : summary + "; stopped, --resume goes on");
  return signal == 0 ? 0 : cli::exit_status_of(signal);
}

}  // namespace heddle

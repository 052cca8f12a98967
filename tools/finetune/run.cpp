#include "tools/finetune/run.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "heddle/cli/merge.hpp"
#include "heddle/tensor/context.hpp"
#include "tools/training/choose_precision.hpp"
#include "tools/training/files.hpp"
#include "tools/training/resume.hpp"

namespace heddle {

namespace {

using models::Task;

// Blocks between a parameter and the head; the embeddings are below all blocks.
Index blocks_above(std::string_view name, Index layers) {
  const std::size_t begin = name.find('/') + 1;
  if (name.substr(begin).starts_with("embedding/")) return layers;
  Index block = 0;
  const auto [end, error] = std::from_chars(name.data() + begin, name.data() + name.size(), block);
  return error == std::errc() && *end == '/' ? layers - 1 - block : 0;
}

// By the first parts of a name, or a word for several: "embeddings", "body".
bool is_named(std::string_view name, std::string_view word) {
  if (word == "body") return !name.starts_with("task/") && !models::is_of_head(name);
  if (word == "embeddings") return name.find("/embedding/") != name.npos;
  if (word.ends_with('/')) word.remove_suffix(1);
  return name.starts_with(word) && (name.size() == word.size() || name[word.size()] == '/');
}

// Throws UsageError for a word that names nothing.
void check_freeze(const std::string& freeze, const Parameters& parameters) {
  if (freeze.empty()) return;
  for (const std::string& word : split(freeze, ',')) {
    const bool names_some = std::ranges::any_of(parameters.all(), [&](const Parameter& parameter) {
      return !parameter.name.starts_with("task/") && is_named(parameter.name, word);
    });
    check<UsageError>(names_some, "--freeze: '", word,
                      "' names no part of the model; inspect MODEL --weights lists them");
  }
}

// Whether nothing that is learned depends on the parameter, which weight decay would only shrink.
bool is_idle(std::string_view name, const FinetuneSettings& settings, const models::Model& model) {
  const bool is_summary = model.is_of_summary(name);
  if (settings.task == Task::lm) {
    const auto* const masked = model.as<models::MaskedPredictor>();
    return is_summary && !(masked != nullptr && masked->has_next_sentence());
  }
  if (!is_summary) return models::is_of_head(name) && settings.auxiliary_text == 0;
  const auto* const vectors = model.as<models::ContextualVectors>();
  return !models::pools(settings.task) || vectors == nullptr ||
         models::resolved(settings.pooling, *vectors) != models::Pooling::first;
}

// The model as it would be, without memory for its weights.
std::shared_ptr<const models::Model> outline_of(const models::ModelConfig& config) {
  const Simulation simulation;
  return models::make_model(config, ParameterSource::unset());
}

std::optional<formats::ModelFile> file_to_resume(const FinetuneOptions& options) {
  if (!resumes(options.control, options.output)) return std::nullopt;
  return open_to_resume(options.output);
}

}  // namespace

ParameterSource::Rate learning_rates(const FinetuneSettings& settings, const models::ModelConfig& config) {
  const auto frozen = settings.freeze.empty() ? std::vector<std::string>() : split(settings.freeze, ',');
  const std::shared_ptr<const models::Model> model = outline_of(config);
  const auto* const vectors = model->as<models::ContextualVectors>();
  const Index layers = vectors == nullptr ? 0 : vectors->layers();
  return [frozen, settings, model, layers](std::string_view name) {
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

Index take_over(FinetuneOptions& options, const formats::ModelFile& file, const cli::Arguments& arguments) {
  const auto record = file.training_state<FinetuneRecord>();
  take_over(options.settings, record.settings, arguments, options.output, {"patience"});
  take_over(options.setup, record.training, arguments, options.output);
  return record.training.progress.step;
}

FinetuneRun::FinetuneRun(const FinetuneOptions& options, const cli::Arguments& arguments)
    : options_(options),
      arguments_(arguments),
      resumed_(file_to_resume(options)),
      base_(options.from),
      provenance_(formats::start_provenance(arguments.command_line())) {
  formats::add_input(provenance_, "model", options.from);
  add_inputs(provenance_, training_files(options.train));
  if (!options.valid.empty()) formats::add_input(provenance_, "valid", options.valid);
  resumed_ ? resume() : report_replacement(options.output, arguments);
  settle_length(options_.setup.training, arguments);
  const auto config = base_.config<models::ModelConfig>();
  const FinetuneSettings& settings = options_.settings;
  task_ = make_finetuning_task(options_, base_.tokenizer(), arguments);
  training::TrainingOptions& training = options_.setup.training;
  training.precision = choose_precision(training.precision, arguments, resumed_ ? Start::resumed : Start::fresh);
  const Index seed = arguments.common().seed;
  loaded_ =
      formats::start_task(base_, {task_->config(), settings.adapters, learning_rates(settings, config),
                                  static_cast<std::uint64_t>(seed), settings.dropout, resumed_ ? &*resumed_ : nullptr});
  check_freeze(settings.freeze, loaded_->model->parameters());
  check<UsageError>(loaded_->model->parameters().trained_count() > 0, "--freeze leaves nothing to train");
  objective_ = task_->objective(*loaded_->model, options_.setup.config(seed));
  session_.emplace(*objective_, options_.setup,
                   SessionOptions{options.output, options.log, options.control, settings.patience}, arguments);
  if (resumed_) session_->resume(*resumed_, resumed_->training_state<FinetuneRecord>().training.progress);
}

// Takes the settings from the file; whatever the command line repeats must agree.
void FinetuneRun::resume() {
  take_over(options_, *resumed_, arguments_);
  for (const char* role : {"model", "train"}) check_same_input(*resumed_, provenance_, role);
}

void FinetuneRun::save(const std::string& path, Keep keep) const {
  formats::SavedTask saved{*loaded_->model, loaded_->tokenizer.model(), session_->history(), provenance_};
  if (keep == Keep::everything) {
    saved.training = [this](formats::ModelWriter& writer) {
      // What is finished needs none of them; the record says that it is.
      const auto tensors = session_->is_finished() ? std::vector<formats::NamedTensor>() : session_->tensors();
      writer.training(FinetuneRecord{session_->record(), options_.settings}, tensors);
    };
  }
  const FinetuneSettings& settings = options_.settings;
  if (settings.adapts()) {
    save_adapter(path, saved, settings.adapters,
                 {formats::readable_path(options_.from), base_.weights().fingerprint()});
  } else {
    save_task(path, saved);
  }
}

void FinetuneRun::describe() const {
  const Parameters& parameters = loaded_->model->parameters();
  const Index trained = parameters.trained_count();
  const Index all = parameters.count();
  const auto fraction = static_cast<double>(trained) / static_cast<double>(all);
  arguments_.say(concatenate(task_->summary(), ", ", grouped(trained), " of ", grouped(all),
                             " parameters are trained (", std::round(fraction * 1000) / 10, " %)"));
}

int FinetuneRun::run() {
  if (session_->is_finished()) {
    arguments_.say(options_.output + ": is finished; there is nothing to go on with");
    return 0;
  }
  describe();
  return session_->run([this] { save(options_.output, Keep::everything); },
                       [this] { save(best_path(options_.output), Keep::weights); });
}

}  // namespace heddle

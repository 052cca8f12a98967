#include "tools/pretrain/pretraining.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "formats/heddle/load_model.hpp"
#include "libcore/models/architecture.hpp"
#include "libcore/models/roles.hpp"
#include "tools/training/dry_run.hpp"

namespace heddle {

namespace {

// The file of --valid where there is no --train; null if there is none.
std::unique_ptr<formats::TokenFile> open_valid(const std::string& word) {
  const Validation valid = validation(word);
  check<UsageError>(!valid.holds_out(), "--valid ", word, ": is a part of --train, which is missing");
  return valid.file.empty() ? nullptr : std::make_unique<formats::TokenFile>(valid.file);
}

}  // namespace

namespace {

const models::ModelConfig& preset_of(const std::string& name) {
  const std::vector<std::string> names = models::preset_names();
  check<UsageError>(std::ranges::count(names, name) > 0, "--preset: ", not_one_of(name, names));
  return models::preset(name);
}

}  // namespace

models::ModelConfig described_model(const ModelOptions& options, const models::ModelConfig& base) {
  const models::ModelConfig& start = options.preset.empty() ? base : preset_of(options.preset);
  check<UsageError>(options.preset.empty() || options.arch.name.empty() || options.arch.name == start.arch(), "--arch ",
                    options.arch.name, ": the preset is of the architecture ", start.arch(),
                    "; leave out --arch or --preset");
  return options.arch.resolved(start, "arch");
}

RunSpec pretraining_defaults(const PretrainOptions& options, const cli::Arguments& arguments) {
  RunSpec spec;
  spec.tool = "pretrain";
  if (options.control.resume.empty()) {
    const models::Recipe& recipe = models::architecture(described_model(options.model, {}).arch()).recipe;
    spec.optimizer = training::OptimizerChoice::from(recipe.optimizer);
    spec.schedule = training::ScheduleChoice::from(recipe.schedule);
  }
  spec.training.learning_rate = training::automatic_rate;
  spec.seed = arguments.common().seed;
  return spec;
}

Pretraining::Pretraining(const PretrainOptions& options, const cli::Arguments& arguments)
    : options_(options), arguments_(arguments) {
  if (options.tasks.is_given()) {
    corpus_ = open_problems(options, arguments);
  } else if (options.train.empty()) {
    valid_ = open_valid(options.valid);
  } else {
    // Before text is encoded, for which there may be no tokenizer.
    const std::string first = training_files(options.train).front().path;
    if (options.control.resume.empty() && is_text(first)) check_reads_texts(described_model(options.model, {}), first);
    corpus_ = open_corpus(options, arguments);
  }
}

void Pretraining::add_inputs(formats::Provenance& provenance) const {
  corpus_->add_to(provenance);
}

void Pretraining::fit(models::ModelConfig& model) const {
  if (corpus_) return corpus_->fit(model);
  check<UsageError>(model.reads_tokens(), "--arch ", model.arch(), ": reads ", models::what_it_reads(model),
                    "; a dry run needs ", model.as<models::GraphConfig>() != nullptr ? "--train GRAPHS" : "--tasks");
  const Index vocab = model.tokens().vocab_size;
  check<UsageError>(vocab > 0, "a dry run without --train needs --vocab-size");
  check<DataError>(!valid_ || valid_->vocab_size() <= vocab, options_.valid, ": a vocabulary of ",
                   valid_ ? valid_->vocab_size() : 0, " is larger than --vocab-size ", vocab);
  model.tokens().fit_vocabularies({vocab, vocab});
}

void Pretraining::settle(RunSpec& spec) const {
  spec.model = described_model(options_.model, spec.model);
  if (options_.tasks.is_given()) spec.tasks = options_.tasks.resolved(data::ProblemChoice(), "tasks");
  if (spec.objective) prepare(spec.model, *spec.objective);
  fit(spec.model);
  spec.model->spell_out();
  spec.model.check();
  const std::unique_ptr<const models::Model> model = models::outline_of(spec.model);
  if (!spec.objective) {
    spec.objective = training::objective_for(*model, corpus_ ? std::optional(corpus_->kind()) : std::nullopt);
    prepare(spec.model, *spec.objective);
  }
  training::check_suits(*spec.objective, *model);
  training::TrainingOptions& training = spec.training;
  if (training.learning_rate == training::automatic_rate) {
    training.learning_rate =
        spec.optimizer->usual_rate(models::architecture(spec.model.arch()).learning_rate(spec.model));
  }
  check<UsageError>(training.steps > 0 || training.epochs > 0, "--steps auto needs --epochs");
  limit_evaluations(spec, training);
}

// Limits evaluations on windows of texts, whose tokens are known in advance: one takes a third of the time in which
// one is trained on.
void Pretraining::limit_evaluations(const RunSpec& spec, training::TrainingOptions& training) const {
  constexpr double most = 0.05, of_training = 1.0 / 3;
  constexpr Index least = 8192;
  const bool is_default =
      !arguments_.given("eval_every") && !arguments_.given("eval_tokens") && !options_.learning.budget.is_given();
  const bool reads_windows = corpus_ && corpus_->kind() == training::DataKind::text && spec.model.reads_tokens();
  if (!is_default || !reads_windows || training.steps == 0 || !options_.control.resume.empty()) return;
  const auto tokens =
      static_cast<double>(training.steps * training.samples_per_step() * spec.model.tokens().training_length());
  const double evaluations =
      std::max(1.0, static_cast<double>(training.steps) / static_cast<double>(training.eval_every));
  const auto enough = static_cast<Index>(most / of_training * tokens / evaluations);
  training.eval_tokens = std::min(training.eval_tokens, std::max(least, enough));
}

std::unique_ptr<training::Objective> Pretraining::make_objective(models::Model& model, const RunSpec& spec,
                                                                 const training::TrainingConfig& config) const {
  training::ObjectiveInputs inputs{
      .model = model, .train = {.text = tokens_.get(), .pairs = pairs_.get()}, .config = config};
  inputs.valid.text = valid_.get();
  if (corpus_) {
    inputs.train = corpus_->train();
    inputs.valid = corpus_->valid();
    inputs.tokenizer = corpus_->tokenizer();
    inputs.source_tokenizer = corpus_->source_tokenizer();
  }
  return training::make_objective(*spec.objective, inputs);
}

void Pretraining::begin(const RunSpec& spec, const training::TrainingConfig& config, const formats::ModelFile* from,
                        const nn::ModelRanks& ranks) {
  spec_ = spec;
  model_ = from != nullptr ? formats::load_weights_to_train(*from, ranks)
                           : models::make_model(spec.model, ranks.divided(static_cast<std::uint64_t>(spec.seed)));
  count_ = ranks.count(model_->parameters());
  objective_ = make_objective(*model_, spec, config);
}

std::string Pretraining::summary() const {
  return concatenate(grouped(count_), " parameters, ", corpus_->summary(*model_));
}

void Pretraining::save(const std::string& path, const SavedRun& run) const {
  formats::ModelWriter writer(path);
  writer.config(model_->config());
  if (const text::Tokenizer* tokenizer = corpus_->tokenizer()) writer.tokenizer(tokenizer->model());
  if (const text::Tokenizer* source = corpus_->source_tokenizer()) writer.source_tokenizer(source->model());
  writer.weights(run.weights);
  writer.history(run.history);
  run.write_record(writer);
  writer.commit(run.provenance);
}

// By the law of the architecture's recipe, which was fitted to runs of half a million tokens or more.
std::string Pretraining::note_of_shape(Index steps) const {
  constexpr double shortest = 5e5, clearly = 0.97;
  const models::ModelConfig& own = spec_->model;
  const models::Architecture& arch = models::architecture(own.arch());
  if (arch.recipe.shapes.empty() || !own.reads_tokens()) return "";
  const Index length = own.tokens().training_length();
  const auto tokens = static_cast<double>(steps * spec_->training.samples_per_step() * length);
  if (tokens < shortest) return "";
  models::ModelConfig usual = arch.defaults;
  usual.tokens().fit_vocabularies({own.tokens().vocab_size, own.tokens().vocab_size});
  const double unique = objective_ ? static_cast<double>(objective_->samples_per_epoch() * length) : tokens;
  struct Outcome {
    double parameters, tokens, loss;
  };
  const auto outcome = [&](const models::ModelConfig& config, double arithmetic) {
    const std::unique_ptr<const models::Model> model = models::outline_of(config);
    const double parameters = body_parameters(model->parameters());
    const double read = arithmetic / model->as<models::TokenModel>()->training_flops_per_token(length, 1);
    return Outcome{parameters, read, arch.recipe.law.loss({.parameters = parameters, .units = read, .unique = unique})};
  };
  const double arithmetic =
      tokens * models::outline_of(own)->as<models::TokenModel>()->training_flops_per_token(length, 1);
  const Outcome ours = outcome(own, arithmetic), theirs = outcome(usual, arithmetic);
  if (theirs.tokens < shortest || theirs.loss > clearly * ours.loss) return "";
  const char* const size = ours.parameters > theirs.parameters ? "large" : "small";
  return fmt::format(
      "{:.3g} tokens for each of the {} parameters of the layers: the model is {} for so many. The usual shape, of "
      "{} parameters, reads {:.3g} million tokens with the same arithmetic, and is expected to have a loss {:.0f} % "
      "lower",
      tokens / ours.parameters, grouped(static_cast<Index>(ours.parameters)), size,
      grouped(static_cast<Index>(theirs.parameters)), 1e-6 * theirs.tokens, 100 * (1 - theirs.loss / ours.loss));
}

// About how many tokens an encoder must read before it beats a bag of words.
std::string Pretraining::first_note(Index steps) const {
  const models::ModelConfig& model = spec_->model;
  if (!models::architecture(model.arch()).plays(models::MaskedPredictor::ability)) return note_of_shape(steps);
  constexpr Index enough = 5000000;
  const Index per_step = spec_->training.samples_per_step() * model.tokens().training_length();
  if (steps * per_step >= enough) return note_of_shape(steps);
  return concatenate(grouped(steps * per_step),
                     " tokens are a small budget: encoders of 4 layers were no better than a bag of words (finetune "
                     "--arch bag) before they had read about ",
                     grouped(enough), "; --steps ", (enough + per_step - 1) / per_step, " reads so many");
}

// Both kinds of texts, of which the objective takes one: a batch of pairs whose sides are as long as a window.
void Pretraining::add_placeholders(const RunSpec& spec) {
  const Index vocab = spec.model.tokens().vocab_size, length = spec.model.tokens().training_length();
  const auto window = static_cast<std::size_t>(length);
  // So many that each sample of a step can continue one of the step before, some times.
  const auto samples = static_cast<std::size_t>(spec.training.samples_per_step());
  tokens_ = std::make_unique<data::TokensInMemory>(std::vector<TokenId>(16 * samples * window + 1), vocab);
  const data::TokenPair pair{std::vector<TokenId>(window - 1), std::vector<TokenId>(window - 1)};
  const Index count = std::max(spec.training.batch_size, (*spec.objective)->batch_tokens() / length);
  pairs_ = std::make_unique<data::PairsInMemory>(std::vector(static_cast<std::size_t>(count), pair), vocab, vocab);
}

Trial Pretraining::trial(const RunSpec& spec, const training::TrainingConfig& config, const nn::ModelRanks& ranks) {
  std::shared_ptr<models::Model> model = models::make_model(spec.model, ranks.divided(0));
  auto objective = make_objective(*model, spec, config);
  return {std::move(model), std::move(objective)};
}

void Pretraining::describe(DryRun& run) const {
  if (corpus_ && corpus_->has_samples_of_any_size()) run.steps_to_simulate = 200;
}

EvaluationSample Pretraining::sample_evaluation(training::TrainingConfig& config, const RunSpec& spec) {
  spec_ = spec;
  if (corpus_) return corpus_->sample_evaluation(config, spec.model);
  add_placeholders(spec);
  return sample_tokens(config, valid_ ? valid_->size() : 0, spec.model.tokens().training_length());
}

}  // namespace heddle

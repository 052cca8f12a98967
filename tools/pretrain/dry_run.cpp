#include "tools/pretrain/dry_run.hpp"

#include <memory>

#include "heddle/formats/heddle/token_file.hpp"
#include "tools/pretrain/run.hpp"
#include "tools/training/choose_objective.hpp"
#include "tools/training/choose_precision.hpp"
#include "tools/training/dry_run.hpp"
#include "tools/training/files.hpp"
#include "tools/training/resume.hpp"

namespace heddle {

namespace {

// The training and validation data; without --train, placeholder tokens to train on.
struct Tokens {
  std::unique_ptr<Corpus> corpus;
  std::unique_ptr<data::TokensInMemory> memory;
  std::unique_ptr<formats::TokenFile> valid_file;

  const data::TokenSource& train() const { return corpus ? corpus->train() : *memory; }
  const data::TokenSource* valid() const { return corpus ? corpus->valid() : valid_file.get(); }
};

// The file of --valid without --train; null if there is none.
std::unique_ptr<formats::TokenFile> open_valid(const std::string& word, Index vocab) {
  const Validation valid = validation(word);
  check<UsageError>(!valid.holds_out(), "--valid ", word, ": is a part of --train, which is missing");
  if (valid.file.empty()) return nullptr;
  auto tokens = std::make_unique<formats::TokenFile>(valid.file);
  check<DataError>(tokens->vocab_size() <= vocab, valid.file, ": a vocabulary of ", tokens->vocab_size(),
                   " is larger than --vocab-size ", vocab);
  return tokens;
}

Tokens tokens_of(const PretrainOptions& options, const models::ModelConfig& model, const cli::Arguments& arguments) {
  Tokens tokens;
  if (!options.train.empty()) {
    tokens.corpus = std::make_unique<Corpus>(options, arguments);
    return tokens;
  }
  const Index vocab = model->vocab_size;
  check<UsageError>(vocab > 0, "a dry run without --train needs --vocab-size");
  tokens.valid_file = open_valid(options.valid, vocab);
  std::vector<TokenId> ids(static_cast<std::size_t>(2 * model->training_length()));
  tokens.memory = std::make_unique<data::TokensInMemory>(std::move(ids), vocab);
  return tokens;
}

class PretrainTrial : public Trial {
 public:
  PretrainTrial(const PretrainOptions& options, models::ModelConfig config, const Tokens& tokens,
                const training::TrainingConfig& training, const cli::Arguments& arguments) {
    if (config->vocab_size == 0) config->vocab_size = tokens.train().vocab_size();
    model_ = models::make_model(config, 0);
    objective_ = training::make_objective(choose_objective(options.settings.objective, *model_, arguments),
                                          {.model = *model_,
                                           .train = tokens.train(),
                                           .valid = tokens.valid(),
                                           .tokenizer = tokens.corpus ? &tokens.corpus->tokenizer() : nullptr,
                                           .masking = options.setup.masking,
                                           .config = training});
  }
  training::Objective& objective() const override { return *objective_; }

 private:
  std::unique_ptr<models::Model> model_;
  std::unique_ptr<training::Objective> objective_;
};

// The remaining steps of the run that the command continues, or all steps of a new one.
ResumedRun planned_run(PretrainOptions& options, const cli::Arguments& arguments) {
  const RunStart start = find_start(options.output, options.control, [&](const formats::ModelFile& file) {
    check_same_options(options, file, arguments);
  });
  if (start.beginning == Beginning::anew || start.beginning == Beginning::finished) {
    return {chosen_model(options, arguments)};
  }
  const bool may_change = start.beginning == Beginning::resumed;
  if (may_change || !options.control.resume.empty()) {
    return take_over(options, *start.file, arguments, may_change ? Changes::some : Changes::none);
  }
  return {start.file->config<models::ModelConfig>(), record_of<PretrainRecord>(*start.file).training};
}

}  // namespace

void pretrain_dry_run(PretrainOptions options, const cli::Arguments& arguments) {
  settle_length(options.setup.training, arguments);
  const ResumedRun planned = planned_run(options, arguments);
  const models::ModelConfig& model = planned.model;
  settle_length(options.setup.training, arguments);
  options.setup.training.precision = choose_precision(options.setup.training.precision, arguments);
  const Tokens tokens = tokens_of(options, model, arguments);
  training::TrainingConfig config = options.setup.config(0);
  const Index valid_tokens = tokens.valid() != nullptr ? tokens.valid()->size() : 0;
  const EvaluationSample evaluation = sample_tokens(config, valid_tokens, model->training_length());
  DryRun run{.begin =
                 [&](const training::TrainingConfig& trial) {
                   return std::make_unique<PretrainTrial>(options, model, tokens, trial, arguments);
                 },
             .config = config,
             .control = options.control,
             .output = options.output};
  run.steps_done = planned.record.progress.step;
  const bool evaluates = tokens.valid() != nullptr;
  run.evaluates = evaluates;
  run.keeps_best = resolved(options.settings.select, evaluates, "--valid") == Select::best;
  run.evaluation = evaluation;
  dry_run(run, options.json, arguments);
}

}  // namespace heddle

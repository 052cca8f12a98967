#include "tools/pretrain/dry_run.hpp"

#include <memory>
#include <optional>

#include "tools/pretrain/run.hpp"
#include "tools/training/choose_objective.hpp"
#include "tools/training/choose_precision.hpp"
#include "tools/training/dry_run.hpp"
#include "tools/training/files.hpp"
#include "tools/training/resume.hpp"

namespace heddle {

namespace {

// What there is to train on and to evaluate; or, for a shape alone, tokens that mean nothing.
struct Tokens {
  std::unique_ptr<TrainingFiles> files;
  std::unique_ptr<formats::TokenFile> valid_file;
  std::unique_ptr<data::TokensInMemory> memory;
  std::optional<text::Tokenizer> tokenizer = {};

  const data::TokenSource& train() const { return files ? files->tokens() : *memory; }
};

Tokens tokens_of(const PretrainOptions& options, const models::ModelConfig& model) {
  Tokens tokens;
  if (!options.train.empty()) {
    tokens.files = std::make_unique<TrainingFiles>(options.train);
    tokens.tokenizer = tokens.files->first().tokenizer();
    if (!options.valid.empty()) tokens.valid_file = std::make_unique<formats::TokenFile>(options.valid);
    return tokens;
  }
  const Index vocab = model->vocab_size;
  check<UsageError>(vocab > 0, "a dry run without --train needs --vocab-size");
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
    objective_ = training::make_objective(choose_objective(options.objective, *model_, arguments),
                                          {.model = *model_,
                                           .train = tokens.train(),
                                           .valid = tokens.valid_file.get(),
                                           .tokenizer = tokens.tokenizer ? &*tokens.tokenizer : nullptr,
                                           .masking = options.setup.masking,
                                           .config = training});
  }
  training::Objective& objective() const override { return *objective_; }

 private:
  std::unique_ptr<models::Model> model_;
  std::unique_ptr<training::Objective> objective_;
};

}  // namespace

void pretrain_dry_run(PretrainOptions options, const cli::Arguments& arguments) {
  const bool goes_on = resumes(options.control, options.output);
  const ResumedRun planned = goes_on ? take_over(options, open_to_resume(options.output), arguments)
                                     : ResumedRun{chosen_model(options, arguments)};
  const models::ModelConfig& model = planned.model;
  settle_length(options.setup.training, arguments);
  options.setup.training.precision = choose_precision(options.setup.training.precision, arguments);
  const Tokens tokens = tokens_of(options, model);
  training::TrainingConfig config = options.setup.config(0);
  const Index valid_tokens = tokens.valid_file ? tokens.valid_file->size() : 0;
  const EvaluationSample evaluation = sample_tokens(config, valid_tokens, model->training_length());
  DryRun run{.begin =
                 [&](const training::TrainingConfig& trial) {
                   return std::make_unique<PretrainTrial>(options, model, tokens, trial, arguments);
                 },
             .config = config,
             .control = options.control,
             .output = options.output};
  run.steps_done = planned.steps_done;
  run.evaluates = tokens.valid_file != nullptr;
  run.evaluation = evaluation;
  dry_run(run, options.json, arguments);
}

}  // namespace heddle

#include "tools/pretrain/dry_run.hpp"

#include <algorithm>
#include <memory>

#include "formats/heddle/token_file.hpp"
#include "tools/pretrain/budget.hpp"
#include "tools/pretrain/run.hpp"
#include "tools/training/choose_objective.hpp"
#include "tools/training/choose_precision.hpp"
#include "tools/training/dry_run.hpp"
#include "tools/training/files.hpp"
#include "tools/training/resume.hpp"

namespace heddle {

namespace {

// The training and validation data; without --train, placeholder tokens, or pairs of them.
struct TrialData {
  std::unique_ptr<Corpus> corpus;
  std::unique_ptr<data::TokenSource> tokens;
  std::unique_ptr<data::PairSource> pairs;
  std::unique_ptr<formats::TokenFile> valid_file;
  models::Vocabularies vocabularies{};

  training::TrainingData train() const {
    return corpus ? corpus->train() : training::TrainingData{tokens.get(), pairs.get()};
  }
  training::TrainingData valid() const {
    return corpus ? corpus->valid() : training::TrainingData{.text = valid_file.get()};
  }
};

// Both kinds of data, of which the objective takes one: a batch of pairs whose sides are as long as a window.
void add_placeholders(TrialData& data, const PretrainOptions& options, const models::ModelConfig& model) {
  const Index vocab = data.vocabularies.target;
  const auto window = static_cast<std::size_t>(model->training_length());
  // So many that each sample of a step can continue one of the step before, some times.
  const auto samples = static_cast<std::size_t>(options.setup.training.samples_per_step());
  data.tokens = std::make_unique<data::TokensInMemory>(std::vector<TokenId>(16 * samples * window + 1), vocab);
  const data::TokenPair pair{std::vector<TokenId>(window - 1), std::vector<TokenId>(window - 1)};
  const auto count = static_cast<std::size_t>(
      std::max(options.setup.training.batch_size, options.setup.pairs.batch_tokens / model->training_length()));
  data.pairs = std::make_unique<data::PairsInMemory>(std::vector(count, pair), data.vocabularies.source, vocab);
}

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

TrialData data_of(const PretrainOptions& options, const models::ModelConfig& model, const cli::Arguments& arguments) {
  TrialData data;
  if (!options.train.empty()) {
    data.corpus = std::make_unique<Corpus>(options, arguments);
    data.vocabularies = data.corpus->vocabularies();
    return data;
  }
  const Index vocab = model->vocab_size;
  check<UsageError>(vocab > 0, "a dry run without --train needs --vocab-size");
  data.vocabularies = {vocab, vocab};
  data.valid_file = open_valid(options.valid, vocab);
  add_placeholders(data, options, model);
  return data;
}

class PretrainTrial : public Trial {
 public:
  PretrainTrial(const PretrainOptions& options, models::ModelConfig config, const TrialData& data,
                const training::TrainingConfig& training, const cli::Arguments& arguments) {
    config->fit_vocabularies(data.vocabularies);
    model_ = models::make_model(config, 0);
    training::ObjectiveInputs inputs = options.setup.objective_inputs(*model_, training);
    inputs.train = data.train();
    inputs.valid = data.valid();
    if (data.corpus) {
      inputs.tokenizer = &data.corpus->tokenizer();
      inputs.source_tokenizer = data.corpus->source_tokenizer();
    }
    objective_ = training::make_objective(
        choose_objective(options.settings.objective, *model_, data.train().kind(), arguments), inputs);
  }
  training::Objective& objective() const override { return *objective_; }

 private:
  std::unique_ptr<models::Model> model_;
  std::unique_ptr<training::Objective> objective_;
};

// The remaining steps of the run that the command continues, or all steps of a new one.
ResumedRun planned_run(PretrainOptions& options, const TrialData& data, const cli::Arguments& arguments) {
  const RunStart start = find_start(options.output, options.control, [&](const formats::ModelFile& file) {
    check_same_options(options, file, {data.vocabularies, data.train().kind()}, arguments);
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
  const TrialData data = data_of(options, chosen_model(options, arguments), arguments);
  const ResumedRun planned = planned_run(options, data, arguments);
  const models::ModelConfig& model = planned.model;
  settle_length(options.setup.training, arguments);
  options.setup.training.precision = choose_precision(options.setup.training.precision, arguments);
  training::TrainingConfig config = options.setup.config(0);
  const Index valid_tokens = data.corpus ? data.corpus->valid_tokens() : data.valid_file ? data.valid_file->size() : 0;
  const EvaluationSample evaluation = sample_tokens(config, valid_tokens, model->training_length());
  DryRun run{.begin =
                 [&](const training::TrainingConfig& trial) {
                   return std::make_unique<PretrainTrial>(options, model, data, trial, arguments);
                 },
             .config = config,
             .control = options.control,
             .output = options.output};
  run.steps_done = planned.record.progress.step;
  const bool evaluates = valid_tokens > 0;
  run.evaluates = evaluates;
  run.keeps_best = resolved(options.settings.select, evaluates, "--valid") == Select::best;
  run.evaluation = evaluation;
  const Estimate estimate = dry_run(run, options.json, arguments);
  const std::string budget = small_budget(model, run.steps_done + estimate.steps, config.training);
  if (!budget.empty()) arguments.warn(budget);
}

}  // namespace heddle

// The training of pretrain: a new model.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "formats/heddle/token_file.hpp"
#include "tools/pretrain/corpus.hpp"
#include "tools/pretrain/options.hpp"
#include "tools/training/training_run.hpp"

namespace heddle {

// Default settings of a run of pretrain.
RunSpec pretraining_defaults(const PretrainOptions& options, const cli::Arguments& arguments);

// The model that the options describe; what they leave open is the base's. Throws UsageError.
models::ModelConfig described_model(const ModelOptions& options, const models::ModelConfig& base);
class Pretraining : public Trainee {
 public:
  // Reads the corpus; without --train there is none, and only dry runs are possible. Throws UsageError and DataError.
  Pretraining(const PretrainOptions& options, const cli::Arguments& arguments);

  void add_inputs(formats::Provenance& provenance) const override;
  void settle(RunSpec& spec) const override;
  std::string evaluation_options() const override { return "--valid"; }
  bool evaluates() const override { return corpus_ ? corpus_->valid().kind().has_value() : !options_.valid.empty(); }
  void begin(const RunSpec& spec, const training::TrainingConfig& config, const formats::ModelFile* from,
             const nn::ModelRanks& ranks) override;
  training::Objective& objective() const override { return *objective_; }
  std::string summary() const override;
  void save(const std::string& path, const SavedRun& run) const override;
  std::string first_note(Index steps) const override;
  Trial trial(const RunSpec& spec, const training::TrainingConfig& config, const nn::ModelRanks& ranks) override;
  double bytes_per_unit() const override { return corpus_ ? corpus_->bytes_per_unit() : 0; }
  EvaluationSample sample_evaluation(training::TrainingConfig& config, const RunSpec& spec) override;
  void describe(DryRun& run) const override;

 private:
  std::unique_ptr<training::Objective> make_objective(models::Model& model, const RunSpec& spec,
                                                      const training::TrainingConfig& config) const;
  void add_placeholders(const RunSpec& spec);
  // Default evaluations take at most a twentieth of the time of the steps.
  void limit_evaluations(const RunSpec& spec, training::TrainingOptions& training) const;
  // Names a shape that is expected to be worse than the usual one after the same arithmetic; or nothing.
  std::string note_of_shape(Index steps) const;
  // Sets what the data decide of the model.
  void fit(models::ModelConfig& model) const;

  const PretrainOptions& options_;
  const cli::Arguments& arguments_;
  std::unique_ptr<Corpus> corpus_;
  // Set if there is no corpus.
  std::unique_ptr<data::TokenSource> tokens_;
  std::unique_ptr<data::PairSource> pairs_;
  std::unique_ptr<formats::TokenFile> valid_;

  std::optional<RunSpec> spec_;  // set by begin() or trial()
  Index count_ = 0;              // parameters of the whole model
  std::unique_ptr<models::Model> model_;
  std::unique_ptr<training::Objective> objective_;
};

}  // namespace heddle

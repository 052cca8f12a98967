// One training run, of whichever tool: how it begins, trains, is saved and ends.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "formats/heddle/model_file.hpp"
#include "formats/heddle/provenance.hpp"
#include "tools/training/claimed_outputs.hpp"
#include "tools/training/dry_run.hpp"
#include "tools/training/resume.hpp"
#include "tools/training/run_spec.hpp"
#include "tools/training/session.hpp"

namespace heddle {

// Contents of a run's file besides the model.
struct SavedRun {
  std::span<const formats::TensorSource> weights;  // all of the model, whole
  const formats::History& history;
  const formats::Provenance& provenance;
  std::function<void(formats::ModelWriter&)> write_record;
  bool is_finished = false;  // the model of a finished run, not one to continue
};

// The inputs, model and objective that a tool trains.
class Trainee {
 public:
  virtual ~Trainee() = default;

  // Adds the files that it reads, with their roles.
  virtual void add_inputs(formats::Provenance& provenance) const = 0;
  // Completes a run by what the options say of the model and by what the inputs decide: the shape, with sizes in place
  // of "auto", the objective, the learning rate. Throws UsageError and DataError for what does not go together.
  virtual void settle(RunSpec& spec) const = 0;
  // The options that add evaluations, "--valid", and whether there are some.
  virtual std::string evaluation_options() const = 0;
  virtual bool evaluates() const = 0;

  // Makes the model and the objective of a run; `from` has the weights of one that continues, and is null for a new
  // one. Of a model that ranks share, this rank's part.
  virtual void begin(const RunSpec& spec, const training::TrainingConfig& config, const formats::ModelFile* from,
                     const nn::ModelRanks& ranks) = 0;
  // From begin() on.
  virtual training::Objective& objective() const = 0;
  // "12,345 parameters, vocabulary 512, 100,000 training tokens".
  virtual std::string summary() const = 0;
  virtual void save(const std::string& path, const SavedRun& run) const = 0;
  // Notes before the first step of `steps`, and after the last one.
  virtual std::string first_note(Index /*steps*/) const { return ""; }
  virtual std::vector<std::string> last_notes(std::optional<double> /*best metric*/) const { return {}; }

  // For dry runs: model and objective, with the weights' shapes alone in a simulation. What evaluations read is a
  // sample; `config` is changed so that they do.
  virtual Trial trial(const RunSpec& spec, const training::TrainingConfig& config, const nn::ModelRanks& ranks) = 0;
  // Bytes of text that a unit of training stands for; 0 where units are not of text.
  virtual double bytes_per_unit() const { return 0; }
  virtual EvaluationSample sample_evaluation(training::TrainingConfig& config, const RunSpec& spec) = 0;
  // Sets what is particular to dry runs of the tool.
  virtual void describe(DryRun& run) const { (void)run; }
};

// The run of these options where those that are not given are those of the base. Throws UsageError and DataError for
// options that do not go together.
RunSpec settled(const RunOptions& options, RunSpec base, const Trainee& trainee, const cli::Arguments& arguments);

// The run that a command means, and how it begins.
struct PlannedRun {
  RunSpec spec;
  RunStart start;
  std::optional<RunRecord> record;  // record of the run that this one continues
};

// `now` has the inputs, which must be those of the run's files; without it they are not compared. Throws UsageError and
// DataError for options and files that do not go together.
PlannedRun planned_run(const RunOptions& options, const RunSpec& defaults, Trainee& trainee,
                       const formats::Provenance* now, const cli::Arguments& arguments);

class TrainingRun {
 public:
  // Throws UsageError and DataError before any work for options and files that do not go together, and where ranks mean
  // different runs. The trainee, the ranks and the arguments must outlive this.
  TrainingRun(const RunOptions& options, const RunSpec& defaults, Trainee& trainee, const training::RankGroups& ranks,
              const cli::Arguments& arguments);

  // Trains and saves. Returns the exit status (TrainingSession::run()).
  int run();

 private:
  void begin();
  void check_same_on_all_ranks() const;
  PrecisionChoice choose_on_first_rank(PrecisionChoice wanted) const;
  void save(const std::string& path, Contents contents, const ShownTensors& tensors) const;

  RunOptions options_;
  Trainee& trainee_;
  const training::RankGroups& ranks_;
  const parallel::Group& group_;
  const cli::Arguments& arguments_;
  formats::Provenance provenance_;
  PlannedRun plan_;
  std::optional<TrainingSession> session_;
};

// The dry run of a run; `config` is changed so that it evaluates a sample.
DryRun describe_run(const RunSpec& spec, training::TrainingConfig& config, const RunOptions& options, Trainee& trainee);
// The same where ranks share the model, which must outlive it.
DryRun describe_run(const RunSpec& spec, training::TrainingConfig& config, const RunOptions& options, Trainee& trainee,
                    const nn::ModelRanks& ranks);

// Prints what the run needs. `network` is what the ranks of the dry run found, where there are several. Returns the
// steps that the run has in all.
Index dry_run(const RunOptions& options, const RunSpec& defaults, Trainee& trainee, const cli::Arguments& arguments,
              const std::optional<Network>& network);

// The files that a tool's own options name: those of --train, and others.
struct RunFiles {
  std::vector<std::string> train, others;
};

// Checks what does not depend on the tool, and makes its run or dry run. Returns the exit status. Of several ranks all
// train, and the first one alone writes files.
int train(const RunOptions& options, const RunSpec& defaults, const RunFiles& files, const parallel::Group& group,
          const cli::Arguments& arguments, const std::function<std::unique_ptr<Trainee>()>& open);

}  // namespace heddle

#include "tools/training/training_run.hpp"
#include "tools/training/resolve_options.hpp"

#include "formats/files/checksum.hpp"
#include "formats/heddle/load_model.hpp"
#include "tools/cli/choose_precision.hpp"
#include "tools/cli/refuse_options.hpp"
#include "tools/cli/same_run.hpp"
#include "tools/cli/version.hpp"
#include "tools/training/measure_network.hpp"
#include "tools/training/plan_budget.hpp"
#include "tools/training/training_files.hpp"

namespace heddle {

namespace {

// Reads the model that takes the steps, where one does.
void read_rule(training::OptimizerChoice& optimizer) {
  if (!optimizer->rule_file()) return;
  const std::string path = *optimizer->rule_file();
  check<UsageError>(!path.empty(),
                    "--optimizer learned: name the update rule, learned:file=RULE; pretrain --tasks makes one");
  const formats::ModelFile file(path);
  const std::shared_ptr<const models::Model> model = formats::load_weights_to_train(file);
  (void)models::require<models::UpdateRule>(*model, "--optimizer learned", path);
  optimizer->use(model);
}

// The file of the model that takes the steps; "" where none does.
std::string rule_of(const RunOptions& options, const RunSpec& defaults, const cli::Arguments& arguments) {
  const auto resumed = find_resumed(options.control, options.output);
  const RunSpec base = resumed ? record_of(*resumed, defaults.tool, Found::by_resume).spec : defaults;
  return resolved(options.learning, base, arguments).optimizer->rule_file().value_or("");
}

void check_inputs(const formats::ModelFile& file, const formats::Provenance* now,
                  std::initializer_list<const char*> roles, Found found) {
  if (now == nullptr) return;
  for (const char* role : roles) check_same_input(file, *now, role, found);
}

// Start of a run as text, for ranks to compare.
std::string text_of(const RunStart& start, const std::optional<RunRecord>& record) {
  if (!start.file || !record) return "none";
  const std::string& path = start.file->file().path();
  return concatenate(start.beginning == Beginning::finished ? "a finished run" : "a run to continue", ", ", path,
                     ", step ", record->progress.step, " (XXH3-128 ", formats::checksum_file(path).xxh128, ")");
}

// The run of this command, where the file is of it. What a budget chose for the run stands.
RunSpec settled_again(const RunOptions& options, const RunSpec& defaults, const RunRecord& record,
                      const Trainee& trainee, const cli::Arguments& arguments) {
  if (!options.control.resume.empty()) return settled(options, record.spec, trainee, arguments);
  const Budget& budget = options.learning.budget;
  const bool is_chosen = budget.is_given() && record.spec.budget == budget;
  return settled(options, is_chosen ? with_choices(defaults, record.spec) : defaults, trainee, arguments);
}

// Throws unless the file is of a run of this command.
void check_same_command(const formats::ModelFile& file, const RunOptions& options, const RunSpec& defaults,
                        const Trainee& trainee, const formats::Provenance* now, const cli::Arguments& arguments) {
  const Found found = found_by(options.control);
  RunRecord record = record_of(file, defaults.tool, found);
  check_inputs(file, now, {"model", "tokenizer"}, found);
  const RunSpec spec = settled_again(options, defaults, record, trainee, arguments);
  if (options.control.resume.empty()) {
    check_same_validation(options.valid, file);
  } else {
    record.changed_at = 0;
  }
  check_same_run(spec, record, file.file().path());
  check_inputs(file, now, {"train", "tasks", "valid", "optimizer", "checkpoint"}, found);
}

}  // namespace

RunSpec settled(const RunOptions& options, RunSpec base, const Trainee& trainee, const cli::Arguments& arguments) {
  if (base.selection.select == Select::best && !trainee.evaluates()) base.selection.select = Select::automatic;
  RunSpec spec = resolved(options.learning, base, arguments);
  read_rule(spec.optimizer);
  trainee.settle(spec);
  spec.selection.select = resolved(spec.selection.select, trainee.evaluates(), trainee.evaluation_options());
  return spec;
}

PlannedRun planned_run(const RunOptions& options, const RunSpec& defaults, Trainee& trainee,
                       const formats::Provenance* now, const cli::Arguments& arguments) {
  PlannedRun plan;
  plan.start = find_start(options.output, options.control, [&](const formats::ModelFile& file) {
    check_same_command(file, options, defaults, trainee, now, arguments);
  });
  if (!plan.start.file) {
    const SettleRun settle = [&](const RunSpec& base) { return settled(options, base, trainee, arguments); };
    plan.spec = options.learning.budget.is_given() ? plan_budget(options, defaults, trainee, settle, arguments)
                                                   : settle(defaults);
    return plan;
  }
  const formats::ModelFile& file = *plan.start.file;
  plan.record = record_of(file, defaults.tool, found_by(options.control));
  plan.spec = settled_again(options, defaults, *plan.record, trainee, arguments);
  if (plan.start.beginning != Beginning::resumed) return plan;
  check_may_resume(plan.spec, *plan.record, file.file().path());
  check_inputs(file, now, {"model", "tokenizer", "train", "tasks", "optimizer"}, Found::by_resume);
  return plan;
}

TrainingRun::TrainingRun(const RunOptions& options, const RunSpec& defaults, Trainee& trainee,
                         const training::RankGroups& ranks, const cli::Arguments& arguments)
    : options_(options),
      trainee_(trainee),
      ranks_(ranks),
      group_(ranks.all()),
      arguments_(arguments),
      provenance_(formats::start_provenance(arguments.command_line())) {
  trainee.add_inputs(provenance_);
  const std::string rule = rule_of(options, defaults, arguments);
  if (!rule.empty()) formats::add_input(provenance_, "optimizer", rule);
  add_checkpoint_input(provenance_, options.control, options.output);
  plan_ = planned_run(options, defaults, trainee, &provenance_, arguments);
  check_same_on_all_ranks();
  if (plan_.start.beginning != Beginning::finished) begin();
}

// No rank changes a file before all have read theirs, since this waits for all.
void TrainingRun::check_same_on_all_ranks() const {
  if (group_.is_alone()) return;
  const RunStart& start = plan_.start;
  std::vector<RankFact> facts{{"the version of heddle", provenance_.own.created_by},
                              {"how the processor computes", cli::engine()}};
  for (const formats::ProvenanceInput& input : provenance_.own.inputs) {
    facts.push_back({"the input " + input.role, concatenate(input.name, " (XXH3-128 ", input.xxh128, ")")});
  }
  facts.push_back({"the files of an earlier run", text_of(start, plan_.record)});
  facts.push_back({"--checkpoint-every", options_.control.checkpoint_every.text()});
  facts.push_back({"--keep", concatenate(options_.control.keep)});
  facts.push_back({"--tensor-parallel", concatenate(options_.tensor_parallel)});
  for (const auto& [field, text] : described(plan_.spec)) facts.push_back({field, text});
  check_same_facts(group_, facts);
}

// It is measured, and one rank may be slower than another.
PrecisionChoice TrainingRun::choose_on_first_rank(PrecisionChoice wanted) const {
  const Start start = plan_.start.file ? Start::resumed : Start::fresh;
  std::vector<PrecisionChoice> computed{wanted};
  if (group_.is_first()) computed = {choose_precision(wanted, arguments_, start)};
  group_.broadcast(computed);
  return computed.front();
}

void TrainingRun::begin() {
  const RunStart& start = plan_.start;
  const bool asks_anew = !plan_.record || (start.beginning == Beginning::resumed && arguments_.given("precision"));
  const PrecisionChoice wanted = asks_anew ? plan_.spec.training.precision : plan_.record->computed;
  const PrecisionChoice computed = choose_on_first_rank(wanted);
  trainee_.begin(plan_.spec, plan_.spec.config(computed), start.file ? &*start.file : nullptr, ranks_.model());
  session_.emplace(trainee_.objective(), plan_.spec, computed,
                   SessionOptions{options_.output, options_.log, options_.control}, ranks_, arguments_);
  if (plan_.record) session_->resume(start, *plan_.record);
  if (start.beginning == Beginning::resumed) session_->compare_validation(*start.file, provenance_);
  if (!start.file) report_replacement(start, arguments_);
}

void TrainingRun::save(const std::string& path, Contents contents, const ShownTensors& tensors) const {
  trainee_.save(
      path, {tensors.weights, session_->history(), provenance_,
             [&](formats::ModelWriter& writer) { write_record(writer, session_->record(), contents, tensors.state); },
             contents == Contents::result});
}

int TrainingRun::run() {
  const RunStart& start = plan_.start;
  if (start.beginning == Beginning::finished) {
    return group_.is_first() ? settle_finished(options_.output, start, arguments_) : 0;
  }
  const Index steps = session_->total_steps();
  arguments_.say(concatenate(trainee_.summary(), ", ", counted(steps, "step", "steps"),
                             start.file ? "; continuing " + start.file->file().path() : ""));
  for (const std::string& note : {trainee_.objective().note(), trainee_.first_note(steps)}) {
    if (!note.empty()) arguments_.say(note);
  }
  const int status = session_->run([this](const std::string& path, Contents contents, const ShownTensors& tensors) {
    save(path, contents, tensors);
  });
  if (status != 0 || arguments_.common().quiet) return status;
  const training::TrainingState state = session_->record().progress;
  for (const std::string& note :
       trainee_.last_notes(state.best_step > 0 ? std::optional(state.best_metric) : std::nullopt)) {
    arguments_.say(note);
  }
  return status;
}

DryRun describe_run(const RunSpec& spec, training::TrainingConfig& config, const RunOptions& options,
                    Trainee& trainee) {
  static const nn::ModelRanks alone(parallel::alone());
  return describe_run(spec, config, options, trainee, alone);
}

DryRun describe_run(const RunSpec& spec, training::TrainingConfig& config, const RunOptions& options, Trainee& trainee,
                    const nn::ModelRanks& ranks) {
  config.seed = 0;  // the same estimate for all seeds
  const EvaluationSample evaluation = trainee.sample_evaluation(config, spec);
  DryRun run{
      .begin = [&trainee, spec, &ranks](const training::TrainingConfig& of) { return trainee.trial(spec, of, ranks); },
      .config = config,
      .control = options.control,
      .output = options.output};
  run.evaluates = trainee.evaluates();
  run.keeps_best = spec.selection.select == Select::best;
  run.evaluation = evaluation;
  trainee.describe(run);
  return run;
}

Index dry_run(const RunOptions& options, const RunSpec& defaults, Trainee& trainee, const cli::Arguments& arguments,
              const std::optional<Network>& network) {
  PlannedRun plan = planned_run(options, defaults, trainee, nullptr, arguments);
  const PrecisionChoice computed = choose_precision(plan.spec.training.precision, arguments);
  training::TrainingConfig config = plan.spec.config(computed);
  const std::unique_ptr<const parallel::Group> sharing = planned_ranks(options.tensor_parallel);
  const nn::ModelRanks model(*sharing);
  DryRun run = describe_run(plan.spec, config, options, trainee, model);
  run.sharing = &model;
  const bool continues = plan.start.beginning == Beginning::interrupted || plan.start.beginning == Beginning::resumed;
  if (continues) run.steps_done = plan.record->progress.step;
  run.ranks = options.ranks;
  if (run.ranks.per_node == 1) run.ranks.per_node = options.tensor_parallel;  // they are on one node
  run.network = network;
  return run.steps_done + dry_run(run, options.json, arguments).steps;
}

namespace {

void check_budget(const RunOptions& options, const parallel::Group& group, const cli::Arguments& arguments) {
  if (!options.learning.budget.is_given()) return;
  check<UsageError>(group.is_alone() && !options.ranks.is_given(),
                    "--budget plans for one process; on several ranks give --steps and the shape, as --budget chooses "
                    "them with --dry-run");
  for (const char* length : {"steps", "epochs"}) {
    check<UsageError>(!arguments.given(length), "--budget and --", length,
                      " both set the length of the training; give one of them");
  }
  check<UsageError>(options.control.resume.empty(),
                    "--budget plans a new run, and --resume continues one; leave out one of them");
}

}  // namespace

int train(const RunOptions& options, const RunSpec& defaults, const RunFiles& files, const parallel::Group& group,
          const cli::Arguments& arguments, const std::function<std::unique_ptr<Trainee>()>& open) {
  check_budget(options, group, arguments);
  check<UsageError>(!options.dry_run || options.tensor_parallel == 1 || options.ranks.is_given(),
                    "--tensor-parallel with --dry-run needs the number of ranks to plan for, which pretrain takes by "
                    "--ranks");
  const training::RankGroups ranks(group, options.dry_run ? 1 : options.tensor_parallel);
  const TrainingOutputs outputs{options.output, options.log, options.control.keep};
  TrainingInputs inputs{.named = files.others, .resumed = files_to_resume(options.control, options.output)};
  inputs.named.push_back(validation(options.valid).file);
  for (const TrainingFile& file : training_files(files.train)) inputs.named.push_back(file.path);
  inputs.named.push_back(resolved(options.learning, defaults, arguments).optimizer->rule_file().value_or(""));
  check_outputs(outputs, inputs, arguments);
  if (options.dry_run) {
    std::optional<Network> network;
    if (options.ranks.is_given() && !group.is_alone()) network = measure_network(group);
    if (!group.is_first()) return 0;
    const std::unique_ptr<Trainee> trainee = open();
    const Index steps = dry_run(options, defaults, *trainee, arguments, network);
    if (const std::string note = trainee->first_note(steps); !note.empty()) arguments.warn(note);
    return 0;
  }
  check<UsageError>(!options.output.empty(), "-o FILE is missing: the model file to write");
  std::optional<ClaimedOutputs> claimed;
  if (group.is_first()) claimed.emplace(outputs);
  group.barrier();  // since files of an earlier run may have gone
  catch_usr1(options.control);
  const std::unique_ptr<Trainee> trainee = open();
  return TrainingRun(options, defaults, *trainee, ranks, arguments).run();
}

}  // namespace heddle

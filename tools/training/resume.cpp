#include "tools/training/resume.hpp"

#include <algorithm>
#include <filesystem>

#include "heddle/cli/merge.hpp"

namespace heddle {

namespace {

// What a run may go on with that diverged, among it.
const std::set<std::string> may_change{
    "precision",        "steps",         "epochs", "eval_every",          "eval_tokens", "log_every",
    "checkpoint_every", "learning_rate", "warmup", "final_learning_rate", "clip_norm"};

std::vector<formats::ProvenanceInput> inputs_of(const formats::Provenance& provenance, const std::string& role) {
  std::vector<formats::ProvenanceInput> inputs;
  for (const formats::ProvenanceInput& input : provenance.own.inputs) {
    if (input.role == role || input.role.starts_with(role + ",")) inputs.push_back(input);
  }
  return inputs;
}

formats::ModelFile open_trained(const std::string& path) {
  const bool adapter = formats::kind_of(path) == formats::FileKind::adapter;
  return formats::ModelFile(path, adapter ? formats::FileKind::adapter : formats::FileKind::model);
}

}  // namespace

void report_replacement(const std::string& path, const cli::Arguments& arguments) {
  std::error_code absent;
  if (!std::filesystem::is_regular_file(path, absent)) return;
  try {
    if (!open_trained(path).has_training()) return;
    arguments.say(path + ": holds an earlier run, which this one will replace");
  } catch (const DataError&) {  // another file, or a damaged one
  }
}

formats::ModelFile open_to_resume(const std::string& path) {
  check<UsageError>(!path.empty(), "--resume goes on with the file that -o names; give that, too");
  formats::ModelFile file = open_trained(path);
  check<DataError>(file.has_training(), path, ": holds no training state to resume from; train anew to another -o");
  return file;
}

void take_over(TrainingSetup& setup, const TrainingRecord& record, const cli::Arguments& arguments,
               const std::string& path) {
  take_over(setup, record.setup, arguments, path, may_change);
  const training::ScheduleOptions& schedule = setup.schedule;
  check<UsageError>(!arguments.given("learning_rate") || arguments.given("final_learning_rate") ||
                        schedule.final_learning_rate <= schedule.learning_rate,
                    "--learning-rate ", schedule.learning_rate, " is less than the --final-learning-rate ",
                    schedule.final_learning_rate, " that ", path, " was trained with; give that, too");
  const Index seed = arguments.common().seed;
  check<UsageError>(seed == record.seed, "--seed = ", seed, " differs from ", record.seed, " that ", path,
                    " was trained with");
}

void check_same_input(const formats::ModelFile& file, const formats::Provenance& now, const std::string& role) {
  const auto before = inputs_of(file.file().provenance(), role), here = inputs_of(now, role);
  const std::string& path = file.file().path();
  for (std::size_t i = 0; i < std::max(before.size(), here.size()); ++i) {
    check<DataError>(i < here.size(), path, ": was trained on ", before[std::min(i, before.size() - 1)].name,
                     " too; resuming needs the same files");
    check<DataError>(i < before.size() && before[i].xxh128 == here[i].xxh128, here[i].name, ": is not the file that ",
                     path, " was trained on (", i < before.size() ? before[i].name : "?",
                     "); resuming needs the same one");
    check<DataError>(before[i].role == here[i].role, here[i].name, ": is given as '", here[i].role, "', and ", path,
                     " was trained with '", before[i].role, "'; resuming needs the same weights");
  }
}

}  // namespace heddle

#include "resume.hpp"

#include <algorithm>

#include "fill_in.hpp"

namespace heddle {

namespace {

const std::set<std::string> may_change{"precision",        "steps",    "epochs", "eval_every", "eval_tokens",
                                       "checkpoint_every", "log_every"};

const formats::ProvenanceInput* input_of(const formats::Provenance& provenance, const std::string& role) {
  const auto& inputs = provenance.own.inputs;
  const auto found = std::ranges::find(inputs, role, &formats::ProvenanceInput::role);
  return found == inputs.end() ? nullptr : &*found;
}

}  // namespace

formats::ModelFile open_to_resume(const std::string& path) {
  const bool adapter = formats::kind_of(path) == formats::FileKind::adapter;
  formats::ModelFile file(path, adapter ? formats::FileKind::adapter : formats::FileKind::model);
  check<DataError>(file.has_training(), path, ": holds no training state to resume from; train anew to another -o");
  return file;
}

void take_over(TrainingSetup& setup, const TrainingRecord& record, const cli::Arguments& arguments,
               const std::string& path) {
  take_over(setup, record.setup, arguments, path, may_change);
  const Index seed = arguments.common().seed;
  check<UsageError>(seed == record.seed, "--seed = ", seed, " differs from ", record.seed, " that ", path,
                    " was trained with");
}

void check_same_input(const formats::ModelFile& file, const formats::Provenance& now, const std::string& role) {
  const formats::Provenance made = file.file().provenance();
  const formats::ProvenanceInput* before = input_of(made, role);
  const formats::ProvenanceInput* here = input_of(now, role);
  check<DataError>(before != nullptr && before->xxh128 == here->xxh128, here->name, ": is not the file that ",
                   file.file().path(), " was trained on (", before == nullptr ? "?" : before->name,
                   "); resuming needs the same one");
}

}  // namespace heddle

#include "tools/finetune/tuning_task.hpp"

#include "formats/files/content_type.hpp"
#include "formats/heddle/file.hpp"
#include "libcore/models/architecture.hpp"
#include "libcore/training/objectives.hpp"
#include "tools/cli/foreign_inputs.hpp"
#include "tools/cli/refuse_options.hpp"
#include "tools/finetune/labelled_task.hpp"
#include "tools/finetune/pair_task.hpp"
#include "tools/finetune/text_task.hpp"
#include "tools/training/training_files.hpp"

namespace heddle {

namespace {

// Refuses options for columns that the task's examples do not have.
void refuse_columns(models::Task task, const cli::Arguments& arguments) {
  const std::string reason = concatenate(": is for labelled texts, which --task ", to_text(task), " has none of");
  const models::Answered answered = answered_by(task);
  if (answered != models::Answered::whole) refuse({"header"}, arguments, reason);
  if (answered == models::Answered::place) refuse({"text_column", "label_column"}, arguments, reason);
}

void refuse_for_labelled(models::Task task, const cli::Arguments& arguments) {
  refuse({"objective"}, arguments, ": is for --task lm and translate");
  refuse({"eval_tokens"}, arguments, ": is for --task lm and translate; other tasks evaluate on all of --valid");
  refuse_columns(task, arguments);
}

void refuse_for_graphs(const std::string& reason, const cli::Arguments& arguments) {
  refuse({"overlong", "pooling", "layer_mix", "auxiliary_weight", "marks", "tokenizer", "format", "text_column",
          "header", "bad_records"},
         arguments, reason);
}

}  // namespace

void check_suits_new_model(const TuningSpec& tuning) {
  check<UsageError>(!has_own_head(tuning.task.kind()), "--task ", to_text(tuning.task.kind()),
                    ": new models for it are made by pretrain; give --from MODEL");
  check<UsageError>(!tuning.adapts(), "--lora-rank: adapters belong to a trained model; give --from MODEL");
}

NewModelTask make_new_model_task(const FinetuneOptions& options, const RunSpec& spec, const cli::Arguments& arguments) {
  const models::Task kind = spec.tuning->task.kind();
  const std::string arch = spec.model.arch();
  const models::Architecture& about = models::architecture(arch);
  check<UsageError>(about.plays(models::ContextualVectors::ability) || about.plays(models::NodeVectors::ability),
                    "--arch ", arch, ": gives no vectors for --task ", to_text(kind), "; choose ",
                    models::architectures_with(models::ContextualVectors::ability));
  refuse_for_labelled(kind, arguments);
  if (!spec.model.reads_tokens()) refuse_for_graphs(": is for texts, and --arch " + arch + " reads graphs", arguments);
  models::ModelConfig config = spec.model;
  std::optional<text::Tokenizer> given;
  if (!options.tokenizer.empty()) given = cli::load_tokenizer(options.tokenizer, arguments, formats::Side::source);
  auto task = std::make_unique<LabelledTask>(options, spec, std::move(given), arguments);
  task->fit(config);
  std::optional<text::Tokenizer> tokenizer = task->tokenizer();
  return {std::move(task), config, std::move(tokenizer)};
}

bool holds_records(const FinetuneOptions& options, const models::Model& model) {
  if (model.as<models::TokenLoss>() == nullptr || model.as<models::SequenceToSequence>() != nullptr) return false;
  const formats::LabelledInput& input = options.tuning.input;
  const auto holds = [&](const std::string& path) {
    if (formats::is_file_of(path, formats::FileKind::pairs)) return true;
    const bool is_named = input.format.kind() != formats::LabelledFormat::automatic || path.ends_with(".tsv") ||
                          formats::labelled_format(path, input) != formats::LabelledFormat::tsv;
    return is_named && !formats::looks_like_hdf5(path);
  };
  std::vector<std::string> paths;
  for (const TrainingFile& file : training_files(options.train)) paths.push_back(file.path);
  if (const std::string valid = validation(options.valid).file; !valid.empty()) paths.push_back(valid);
  const bool result = holds(paths.front());
  for (const std::string& path : paths) {
    check<UsageError>(holds(path) == result, path, holds(path) ? ": holds prompts and answers" : ": is text", ", and ",
                      paths.front(), result ? " prompts and answers" : " is text; a run reads one of both",
                      result ? "; a run reads one of both" : "");
  }
  return result;
}

std::unique_ptr<FinetuningTask> make_finetuning_task(const FinetuneOptions& options, const RunSpec& spec,
                                                     const formats::ModelFile& base, const cli::Arguments& arguments) {
  const models::Task task = spec.tuning->task.kind();
  if (!has_own_head(task)) {
    refuse_for_labelled(task, arguments);
    std::optional<text::Tokenizer> tokenizer;
    if (spec.model.reads_tokens()) {
      tokenizer = formats::read_tokenizer(base.file(), formats::Side::source);
    } else {
      refuse_for_graphs(": is for texts, and " + options.from + " reads graphs", arguments);
    }
    return std::make_unique<LabelledTask>(options, spec, std::move(tokenizer), arguments);
  }
  const std::string reason = ": is for labelled examples, which --task " + to_text(task) + " does not use";
  refuse({"label_column", "overlong", "folds", "fold", "metric", "pooling", "class_weights", "auxiliary_weight"},
         arguments, reason);
  const std::shared_ptr<const models::Model> outline = models::outline_of(spec.model);
  const bool reads_pairs =
      task == models::Task::translate || training::data_of(*spec.objective, *outline) == training::DataKind::pairs;
  check<UsageError>(task != models::Task::lm || !reads_pairs || outline->as<models::SequenceToSequence>() == nullptr,
                    "`objective` ", spec.objective->name(),
                    ": a model that reads sources apart learns pairs with --task "
                    "translate; --task lm is for text, or for models that predict next tokens");
  if (!reads_pairs) refuse({"format", "text_column", "header", "bad_records"}, arguments, reason);
  const std::string arch = base.config<models::ModelConfig>().arch();
  check<DataError>(
      task != models::Task::translate || models::architecture(arch).plays(models::SequenceToSequence::ability),
      options.from, ": is of the architecture ", arch, "; --task translate needs a sequence-to-sequence model (",
      models::architectures_with(models::SequenceToSequence::ability), ")");
  if (reads_pairs) return std::make_unique<PairTask>(options, spec, base, arguments);
  return std::make_unique<TextTask>(options, spec, base, arguments);
}

}  // namespace heddle

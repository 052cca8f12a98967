#include "tools/finetune/task.hpp"

#include "formats/huggingface/load_tokenizer.hpp"
#include "libcore/models/architecture.hpp"
#include "tools/cli/refuse.hpp"
#include "tools/finetune/labelled_task.hpp"
#include "tools/finetune/pair_task.hpp"
#include "tools/finetune/text_task.hpp"
#include "tools/training/choose_objective.hpp"

namespace heddle {

namespace {

// Refuses options for columns that the task's examples do not have.
void refuse_columns(models::Task task, const cli::Arguments& arguments) {
  const std::string reason = concatenate(": is for labelled texts, which --task ", to_text(task), " has none of");
  if (task == models::Task::label || task == models::Task::span) {
    refuse({"text_column", "text_b_column", "header"}, arguments, reason);
  }
  if (task == models::Task::span) refuse({"label_column"}, arguments, reason);
  if (task != models::Task::pair) refuse({"text_b_column"}, arguments, ": is for --task pair and translate");
}

}  // namespace

namespace {

void refuse_for_labelled(models::Task task, const cli::Arguments& arguments) {
  refuse_masking(arguments, ": is for --task lm with models that predict masked tokens");
  refuse_detection(arguments, ": is for --task lm with models that detect replaced tokens");
  refuse_permutation(arguments, ": is for --task lm with models that predict tokens in any order");
  refuse_noise(arguments, ": is for --task lm with sequence-to-sequence models");
  refuse_pairs(arguments, ": is for --task translate, and lm with sequence-to-sequence models");
  refuse({"eval_tokens"}, arguments, ": is for --task lm and translate; other tasks evaluate on all of --valid");
  refuse_columns(task, arguments);
}

}  // namespace

NewModelTask make_new_model_task(const FinetuneOptions& options, const cli::Arguments& arguments) {
  const models::Task kind = options.settings.task;
  check<UsageError>(!models::has_own_head(kind), "--task ", to_text(kind),
                    ": new models for it are made by pretrain; give --from MODEL");
  check<UsageError>(!options.settings.adapts(), "--lora-rank: adapters belong to a trained model; give --from MODEL");
  const std::string& arch = options.model.shape.arch();
  check<UsageError>(models::architecture(arch).plays(models::ContextualVectors::what), "--arch ", arch,
                    ": gives no vectors for --task ", to_text(kind), "; choose ",
                    models::architectures_with(models::ContextualVectors::what));
  refuse_for_labelled(kind, arguments);
  models::ModelConfig config = options.model.shape.chosen(arguments, nullptr);
  std::optional<text::Tokenizer> given;
  if (!options.tokenizer.empty()) given = formats::load_tokenizer(options.tokenizer, formats::Side::source);
  auto task = std::make_unique<LabelledTask>(options, std::move(given), arguments);
  task->fit(config);
  text::Tokenizer tokenizer = task->tokenizer();
  return {std::move(task), config, std::move(tokenizer)};
}

std::unique_ptr<FinetuningTask> make_finetuning_task(const FinetuneOptions& options, const formats::ModelFile& base,
                                                     const cli::Arguments& arguments) {
  const models::Task task = options.settings.task;
  if (!models::has_own_head(task)) {
    refuse_for_labelled(task, arguments);
    return std::make_unique<LabelledTask>(options, formats::read_tokenizer(base.file(), formats::Side::source),
                                          arguments);
  }
  const std::string reason = ": is for labelled examples, which --task " + to_text(task) + " does not use";
  refuse({"label_column", "overlong", "folds", "fold", "metric", "pooling", "class_weights", "token_dropout",
          "auxiliary_weight"},
         arguments, reason);
  if (task == models::Task::lm) refuse({"format", "text_column", "text_b_column", "header"}, arguments, reason);
  const std::string arch = base.config<models::ModelConfig>().arch();
  check<DataError>(
      task != models::Task::translate || models::architecture(arch).plays(models::SequenceToSequence::what),
      options.from, ": is of the architecture ", arch, "; --task translate needs a sequence-to-sequence model (",
      models::architectures_with(models::SequenceToSequence::what), ")");
  if (task == models::Task::translate) return std::make_unique<PairTask>(options, base, arguments);
  return std::make_unique<TextTask>(options, base, arguments);
}

}  // namespace heddle

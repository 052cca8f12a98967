#include "tools/finetune/task.hpp"

#include "heddle/cli/refuse.hpp"
#include "tools/finetune/labelled_task.hpp"
#include "tools/finetune/text_task.hpp"
#include "tools/training/choose_objective.hpp"

namespace heddle {

std::unique_ptr<FinetuningTask> make_finetuning_task(const FinetuneOptions& options, const text::Tokenizer& tokenizer,
                                                     const cli::Arguments& arguments) {
  const bool more_text = options.settings.task == models::Task::lm;
  if (!more_text) {
    refuse_masking(arguments, ": is for --task lm of models that fill in masked tokens");
    refuse({"eval_tokens"}, arguments, ": is for --task lm; other tasks evaluate on all of --valid");
    if (options.settings.task != models::Task::label)
      refuse({"column"}, arguments, ": is for the tags of --task label");
    return std::make_unique<LabelledTask>(options, tokenizer, arguments);
  }
  refuse({"format", "column", "overlong", "folds", "fold", "metric", "pooling", "class_weights", "piece_dropout",
          "auxiliary_text"},
         arguments, ": is for labelled examples, which --task lm has none of");
  return std::make_unique<TextTask>(options, tokenizer, arguments);
}

}  // namespace heddle

#include "lesson.hpp"

#include "labelled_lesson.hpp"
#include "make_objective.hpp"
#include "refuse.hpp"
#include "text_lesson.hpp"

namespace heddle {

std::unique_ptr<Lesson> make_lesson(const FinetuneOptions& options, const models::ModelConfig& model,
                                    const text::Tokenizer& tokenizer, const cli::Arguments& arguments) {
  const bool more_text = options.settings.task == models::Task::lm;
  if (!more_text || model.arch == models::Architecture::decoder) {
    refuse_masking(arguments, ": only encoders mask, for --task lm");
  }
  if (!more_text) {
    refuse({"eval_tokens"}, arguments, ": is for --task lm; other tasks evaluate on all of --valid");
    if (options.settings.task != models::Task::label)
      refuse({"column"}, arguments, ": is for the tags of --task label");
    return std::make_unique<LabelledLesson>(options, tokenizer, arguments);
  }
  refuse({"format", "column", "overlong", "folds", "fold", "metric", "pooling", "class_weights",
          "piece_dropout", "auxiliary_text"}, arguments,
         ": is for labelled examples, which --task lm has none of");
  return std::make_unique<TextLesson>(options, tokenizer, arguments);
}

}  // namespace heddle

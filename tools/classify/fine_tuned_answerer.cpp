#include "libcore/base/strings.hpp"
#include "tools/classify/answerer.hpp"
#include "tools/cli/refuse_options.hpp"
#include "tools/tasks/ensemble.hpp"

namespace heddle {

namespace {

class FineTunedAnswerer : public Answerer {
 public:
  FineTunedAnswerer(const ClassifyOptions& options, const cli::Arguments& arguments)
      : arguments_(arguments),
        models_(arguments.operand("MODEL"), options.base),
        ask_{input_of(models_.task(), options).gold,
             {options.max_answer_length, options.top},
             {.batch_tokens = options.batch_tokens, .keeps_panels = true}},
        overlong_{options.overlong},
        baseline_name_(options.baseline) {
    refuse_unused(models_.task(), options, arguments);
    if (models_.reads_all()) refuse({"overlong"}, arguments, ": the model reads texts of any length");
    if (!baseline_name_.empty()) baseline_.emplace(baseline_name_, "", &models_);
  }

  const models::TaskConfig& task() const override { return models_.task(); }
  const data::LabelSet& labels() const override { return models_.labels(); }
  std::vector<const text::Tokenizer*> tokenizers() const override { return models_.tokenizers(); }

  TaskAnswers answer(const TaskData& data) override {
    TaskAnswers answers = models_.ask(data, ask_, overlong_);
    unseen_ += unseen_words(answers);
    return answers;
  }

  void check_reads_texts(const std::string& path) const override {
    check<DataError>(models_.read_tokens(), path, ": holds texts, and ", arguments_.operand("MODEL"),
                     " reads graphs; convert makes a graphs file of molecules or tables");
  }

  void report() const override {
    if (overlong_.count > 0) arguments_.say(overlong_note(overlong_, task().task));
    if (unseen_ > 0) {
      arguments_.say(concatenate(counted(unseen_, "word is", "words are"),
                                 " outside the context or without a token, and got ",
                                 labels().find("O") ? "the tag O" : "no tag"));
    }
  }

  std::optional<Baseline> baseline(const TaskData& data) const override {
    if (!baseline_) return baseline_of(data, task(), labels());
    return Baseline{baseline_name_, guesses_in_parts(data, labels(), [&](const TaskData& part) {
                      data::OverlongTexts cut{overlong_.treatment};
                      return baseline_->ask(part, ask_, cut);
                    })};
  }

  std::optional<std::string> warning(const TaskData& data, const std::string& file) const override {
    return training_data_warning(models_, data, file);
  }

 private:
  const cli::Arguments& arguments_;
  const Ensemble models_;
  const AskModels ask_;
  data::OverlongTexts overlong_;
  Index unseen_ = 0;
  const std::string baseline_name_;
  std::optional<Ensemble> baseline_;
};

}  // namespace

std::unique_ptr<Answerer> fine_tuned_answerer(const ClassifyOptions& options, const cli::Arguments& arguments) {
  return std::make_unique<FineTunedAnswerer>(options, arguments);
}

}  // namespace heddle

// Learning more of what the model was pre-trained for, from other text.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "heddle/data/joined_tokens.hpp"
#include "lesson.hpp"

namespace heddle {

class TextLesson : public Lesson {
 public:
  TextLesson(const FinetuneOptions& options, const text::Tokenizer& tokenizer, const cli::Arguments& arguments);

  models::TaskConfig task() const override { return {.task = models::Task::lm}; }
  std::unique_ptr<training::Objective> objective(models::TaskModel& model, const training::Plan& plan) override;
  EvaluationSample sample_evaluation(training::Plan& plan, const models::ModelConfig& model) override;
  std::string summary() const override;

 private:
  const FinetuneOptions& options_;
  text::Tokenizer tokenizer_;
  std::vector<std::unique_ptr<data::TokenSource>> files_;
  std::optional<data::JoinedTokens> train_;
  std::unique_ptr<data::TokenSource> valid_;
};

}  // namespace heddle

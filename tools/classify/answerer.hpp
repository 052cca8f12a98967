// Sources of answers: fine-tuned models, or a language model that predicts which label follows a prompt with the text.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/classify/options.hpp"
#include "tools/tasks/baseline.hpp"

namespace heddle {

class Answerer {
 public:
  virtual ~Answerer() = default;

  virtual const models::TaskConfig& task() const = 0;
  virtual const data::LabelSet& labels() const = 0;
  virtual std::vector<const text::Tokenizer*> tokenizers() const = 0;
  // Throws DataError for a file of texts where a model reads graphs.
  virtual void check_reads_texts(const std::string& /*path*/) const {}
  // Counts what is too long. Throws DataError, "FILE:LINE: …", for what cannot be answered.
  virtual TaskAnswers answer(const TaskData& data) = 0;
  // Prints how many texts were too long, and how many words were not read.
  virtual void report() const = 0;

  // For evaluations: what the answers are compared with, and a warning if a model was trained on the file ("": none) or
  // on some of the texts.
  virtual std::optional<Baseline> baseline(const TaskData& data) const = 0;
  virtual std::optional<std::string> warning(const TaskData& data, const std::string& file) const = 0;
};

// The options and the arguments must outlive the answerers. Throw UsageError for options that the model's task does not
// use, DataError for models that cannot be read or have another role.
std::unique_ptr<Answerer> fine_tuned_answerer(const ClassifyOptions& options, const cli::Arguments& arguments);
std::unique_ptr<Answerer> zero_shot_answerer(const ClassifyOptions& options, const cli::Arguments& arguments);

// One run: answers the texts, sentences or questions of the input in order, those that have been read before more would
// have to be waited for, and warns of an input that looks as if it was not what the model reads; or, --evaluate, prints
// metrics and writes the predictions to the output if that is a file.
void answer_input(Answerer& answerer, const std::string& path, const ClassifyOptions& options,
                  const cli::Arguments& arguments, cli::Output& output);
void evaluate_answers(Answerer& answerer, const std::string& path, const ClassifyOptions& options,
                      const cli::Arguments& arguments, cli::Output& output);

}  // namespace heddle

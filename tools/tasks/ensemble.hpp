// Fine-tuned models that predict together: one, or several whose predictions are pooled (prediction_pool.hpp).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formats/heddle/task_file.hpp"
#include "tools/cli/arguments.hpp"
#include "tools/tasks/task_answers.hpp"

namespace heddle {

struct AskModels {
  formats::Gold gold = formats::Gold::absent;
  decoding::SpanLimits limits;
  decoding::PredictOptions predict;
};

class Ensemble {
 public:
  // A model file or an adapter file (with its base, see formats::load_task), an ensemble file, or several models by
  // cli::model_files(), whose weights are equal. Throws DataError for what cannot be read, and for models of other
  // tasks or with other labels than the first, whose order may differ. With `like`, classes are in the order of that
  // one's labels(), and its task is required.
  explicit Ensemble(const std::string& words, const std::string& base = "", const Ensemble* like = nullptr);

  const models::TaskConfig& task() const { return members_.front().loaded.model->task(); }
  const data::LabelSet& labels() const { return labels_; }  // labels of the first model; none for tasks without classes
  std::size_t size() const { return members_.size(); }
  const std::string& path(std::size_t member) const { return members_[member].path; }
  const models::TaskConfig& task_of(std::size_t member) const { return members_[member].loaded.model->task(); }
  std::vector<const text::Tokenizer*> tokenizers() const;
  const std::vector<double>& weights() const { return weights_; }
  bool read_tokens() const;  // whether all of them do
  bool reads_all() const;    // whether no text is too long for any of them
  void set_weights(std::vector<double> weights) { weights_ = std::move(weights); }

  // Predictions of one model, with its classes in the order of labels(). Counts examples that are too long for it.
  TaskAnswers ask(std::size_t member, const TaskData& data, const AskModels& settings,
                  data::OverlongTexts& overlong) const;
  // Pooled predictions of all. An example counts once as too long, for any number of models.
  TaskAnswers ask(const TaskData& data, const AskModels& settings, data::OverlongTexts& overlong) const;
  // The pool of what each of them predicts.
  TaskAnswers pool(const std::vector<TaskAnswers>& answers) const;

 private:
  struct Member {
    std::string path;
    formats::LoadedTask loaded;
    std::vector<std::size_t> places;  // places of labels() in its own order; empty if the order is the same
  };
  void add(const std::string& path, const std::string& base);
  void check_alike(const std::string& path, const models::TaskConfig& own) const;

  const Ensemble* like_;  // while models are added
  std::vector<Member> members_;
  std::vector<double> weights_;
  data::LabelSet labels_;
};

// The first warning (data_warnings.hpp) that a model was trained on the file, or else on some of the texts, if any. An
// empty name is no file.
std::optional<std::string> training_data_warning(const Ensemble& models, const TaskData& data, const std::string& file);

// The weights with which the pool of the models predicts the gold answers best (pool_weights, of every word
// for tags; mean_weights for numbers). Throws UsageError for spans.
std::vector<double> best_weights(const Ensemble& models, const std::vector<TaskAnswers>& answers, const TaskData& data);

}  // namespace heddle

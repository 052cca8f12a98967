#include "tools/tasks/ensemble.hpp"

#include <algorithm>
#include <numeric>

#include "formats/heddle/ensemble_file.hpp"
#include "libcore/base/strings.hpp"
#include "tools/cli/model_files.hpp"
#include "tools/tasks/data_warnings.hpp"
#include "tools/tasks/graph_data.hpp"
#include "tools/tasks/label_sets.hpp"
#include "tools/tasks/prediction_pool.hpp"

namespace heddle {

namespace {

using models::Answer;
using models::Answered;
using models::Task;

// Reorders a model's probabilities: places[i] is the place of its class i.
void reorder(std::vector<double>& probabilities, const std::vector<std::size_t>& places) {
  if (probabilities.empty() || places.empty()) return;
  const std::vector<double> own = probabilities;
  for (std::size_t i = 0; i < own.size(); ++i) probabilities[places[i]] = own[i];
}

// The pool of those that say something.
std::vector<double> pool_of(const std::vector<const std::vector<double>*>& models, const std::vector<double>& weights) {
  std::vector<std::span<const double>> given;
  std::vector<double> of_given;
  for (std::size_t m = 0; m < models.size(); ++m) {
    if (models[m]->empty()) continue;
    given.emplace_back(*models[m]);
    of_given.push_back(weights[m]);
  }
  return given.empty() ? std::vector<double>() : pooled(given, of_given);
}

// The predictions for words that all models have read and whose tag they know, as examples.
std::vector<ClassPredictions> words_of(const std::vector<TaskAnswers>& answers, const TaskData& data,
                                       const data::LabelSet& labels, std::vector<Index>& gold) {
  std::vector<ClassPredictions> words(answers.size());
  for (std::size_t s = 0; s < data.sentences.size(); ++s) {
    const std::vector<std::string>& tags = data.sentences[s].tags;
    for (std::size_t w = 0; w < tags.size(); ++w) {
      const std::optional<Index> tag = labels.find(tags[w]);
      const bool all_read =
          std::ranges::none_of(answers, [&](const TaskAnswers& model) { return model.tags[s][w].empty(); });
      if (!all_read || !tag) continue;
      gold.push_back(*tag);
      for (std::size_t m = 0; m < answers.size(); ++m) words[m].push_back(answers[m].tags[s][w]);
    }
  }
  return words;
}

// Thresholds are pooled as probabilities are: a text at the thresholds of all models is at that of the pool.
LabelProbabilities pool_of_labels(const std::vector<TaskAnswers>& answers, const std::vector<double>& weights) {
  LabelProbabilities pool;
  const auto all = [&](const auto& of_model) {
    std::vector<std::span<const double>> models;
    for (const TaskAnswers& model : answers) models.emplace_back(of_model(model.labels));
    return pooled_labels(models, weights);
  };
  const std::vector<std::vector<double>>& first = answers.front().labels.of_texts;
  if (first.empty()) return pool;
  for (std::size_t i = 0; i < first.size(); ++i)
    pool.of_texts.push_back(all([i](const LabelProbabilities& model) -> const auto& { return model.of_texts[i]; }));
  const std::vector<double> usual(first.front().size(), threshold_of({}, 0));
  pool.thresholds = all([&](const LabelProbabilities& model) -> const auto& {
    return model.thresholds.empty() ? usual : model.thresholds;
  });
  return pool;
}

// "nodes", "the labels a, b": what a model of graphs answers for.
std::string subject_of(const models::TaskConfig& task) {
  return task.columns.empty() ? to_text(task.level) + "s" : "the labels " + join(task.columns);
}

// The same for texts.
std::vector<ClassPredictions> texts_of(const std::vector<TaskAnswers>& answers, const TaskData& data,
                                       const data::LabelSet& labels, std::vector<Index>& gold) {
  std::vector<ClassPredictions> texts(answers.size());
  for (std::size_t i = 0; i < data.texts.size(); ++i) {
    const std::optional<Index> label = labels.find(data.texts[i].label);
    if (!label) continue;
    gold.push_back(*label);
    for (std::size_t m = 0; m < answers.size(); ++m) texts[m].push_back(answers[m].classes[i]);
  }
  return texts;
}

}  // namespace

Ensemble::Ensemble(const std::string& words, const std::string& base, const Ensemble* like) : like_(like) {
  const std::vector<std::string> files = cli::model_files(words);
  if (files.size() == 1 && formats::kind_of(words) == formats::FileKind::ensemble) {
    check<UsageError>(base.empty(), words, ": is an ensemble, not an adapter; leave out --base");
    const formats::EnsembleFile ensemble = formats::read_ensemble(words);
    for (const std::string& path : ensemble.paths) add(path, "");
    weights_ = ensemble.members.shares;
    return;
  }
  check<UsageError>(files.size() == 1 || base.empty(),
                    "--base: is for one adapter; of several each must be beside its base");
  for (const std::string& path : files) add(path, base);
  weights_.assign(files.size(), 1.0 / static_cast<double>(files.size()));
}

void Ensemble::add(const std::string& path, const std::string& base) {
  check<DataError>(formats::kind_of(path) != formats::FileKind::ensemble, path,
                   ": is an ensemble itself; name its models (inspect ", path, " lists them)");
  Member member{path, formats::load_task(path, base), {}};
  const models::TaskConfig& own = member.loaded.model->task();
  check<DataError>(!has_own_head(own.task), path, ": is a language model's adapter, for generate");
  if (like_ == nullptr) like_ = this;
  if (like_->members_.empty()) {
    if (own.has_labels()) labels_ = data::LabelSet(own.labels);
  } else {
    check_alike(path, own);
    labels_ = like_->labels_;
    if (own.labels != labels_.names()) {
      for (const std::string& label : own.labels)
        member.places.push_back(static_cast<std::size_t>(*labels_.find(label)));
    }
  }
  members_.push_back(std::move(member));
}

void Ensemble::check_alike(const std::string& path, const models::TaskConfig& own) const {
  const models::TaskConfig& task = like_->task();
  const std::string& first = like_->path(0);
  check<DataError>(own.task == task.task && own.two_texts == task.two_texts, path, ": is for the task ",
                   to_text(own.task), ", and ", first, " for ", to_text(task.task), "; models of one task are needed");
  check<DataError>(own.level == task.level && own.columns == task.columns, path, ": answers for ", subject_of(own),
                   ", and ", first, " for ", subject_of(task), "; models of the same answers are needed");
  check<DataError>(answer_of(own.task) != Answer::span || members_.empty(), path,
                   ": finds answers in texts; models are pooled for classes, numbers and tags");
  const bool all_known =
      std::ranges::all_of(own.labels, [&](const std::string& label) { return like_->labels_.find(label).has_value(); });
  check<DataError>(all_known && own.labels.size() == task.labels.size(), path, ": has the labels ", join(own.labels),
                   ", and ", first, " has ", join(task.labels), "; models with the same labels are needed");
}

bool Ensemble::read_tokens() const {
  return std::ranges::all_of(members_, [](const Member& member) { return member.loaded.tokenizer.has_value(); });
}

bool Ensemble::reads_all() const {
  return std::ranges::all_of(members_, [](const Member& member) {
    return !member.loaded.tokenizer || member.loaded.model->body().config().tokens().reads_all();
  });
}

std::vector<const text::Tokenizer*> Ensemble::tokenizers() const {
  std::vector<const text::Tokenizer*> list;
  for (const Member& member : members_) {
    if (member.loaded.tokenizer) list.push_back(&member.loaded.of_sources());
  }
  return list;
}

TaskAnswers Ensemble::ask(std::size_t number, const TaskData& data, const AskModels& settings,
                          data::OverlongTexts& overlong) const {
  const Member& member = members_[number];
  const formats::LoadedTask& loaded = member.loaded;
  const models::Model& body = loaded.model->body();
  const models::TaskConfig& own = loaded.model->task();
  const data::LabelSet own_labels = own.has_labels() ? data::LabelSet(own.labels) : data::LabelSet();
  check<DataError>(!loaded.tokenizer || own.of_graphs || data.graphs == nullptr, data.file, ": holds graphs, and ",
                   member.path, " was trained on texts");
  check<DataError>(!own.of_graphs || data.graphs != nullptr, data.file, ": holds texts, and ", member.path,
                   " was trained on graphs; convert makes a graphs file of molecules or tables");
  const auto encode = [&] {
    if (!loaded.tokenizer)
      return encode_graphs(data, {own.task, own_labels, body.config().graphs().features, settings.gold});
    const models::TokenConfig& config = body.config().tokens();
    const data::Framing framing(loaded.of_sources(), config.longest_text(), config.has_segments());
    return encode_task(data, {own.task, own_labels, loaded.of_sources(), framing, settings.gold}, overlong);
  };
  const std::vector<data::TaskExample> examples = encode();
  TaskAnswers answers = answer(*loaded.model, data, examples, settings.limits, settings.predict);
  for (std::vector<double>& text : answers.classes) reorder(text, member.places);
  for (std::vector<double>& text : answers.labels.of_texts) reorder(text, member.places);
  reorder(answers.labels.thresholds, member.places);
  for (auto& sentence : answers.tags) {
    for (std::vector<double>& word : sentence) reorder(word, member.places);
  }
  return answers;
}

TaskAnswers Ensemble::ask(const TaskData& data, const AskModels& settings, data::OverlongTexts& overlong) const {
  if (members_.size() == 1 && weights_.front() == 1) return ask(0, data, settings, overlong);
  std::vector<TaskAnswers> answers;
  Index longest = 0;
  for (std::size_t m = 0; m < members_.size(); ++m) {
    data::OverlongTexts of_member{overlong.treatment};
    answers.push_back(ask(m, data, settings, of_member));
    longest = std::max(longest, of_member.count);
  }
  overlong.count += longest;
  return pool(answers);
}

TaskAnswers Ensemble::pool(const std::vector<TaskAnswers>& answers) const {
  TaskAnswers pool;
  const auto all = [&](const auto& of_model) {
    std::vector<const std::vector<double>*> models;
    for (const TaskAnswers& model : answers) models.push_back(&of_model(model));
    return pool_of(models, weights_);
  };
  for (std::size_t n = 0; n < answers.front().classes.size(); ++n) {
    pool.classes.push_back(all([n](const TaskAnswers& model) -> const auto& { return model.classes[n]; }));
  }
  for (std::size_t s = 0; s < answers.front().tags.size(); ++s) {
    pool.tags.emplace_back();
    for (std::size_t w = 0; w < answers.front().tags[s].size(); ++w) {
      pool.tags[s].push_back(all([ s, w ](const TaskAnswers& model) -> const auto& { return model.tags[s][w]; }));
    }
  }
  pool.labels = pool_of_labels(answers, weights_);
  const double sum = std::accumulate(weights_.begin(), weights_.end(), 0.0);
  for (std::size_t n = 0; n < answers.front().numbers.size(); ++n) {
    double mean = 0;
    for (std::size_t m = 0; m < answers.size(); ++m) mean += weights_[m] / sum * answers[m].numbers[n];
    pool.numbers.push_back(mean);
  }
  return pool;
}

std::optional<std::string> training_data_warning(const Ensemble& models, const TaskData& data,
                                                 const std::string& file) {
  std::vector<std::string> paths;
  for (std::size_t m = 0; m < models.size(); ++m) paths.push_back(models.path(m));
  std::optional<std::string> warning = trained_on_warning(file, paths);
  for (std::size_t m = 0; m < models.size() && !warning; ++m) {
    warning = known_texts_warning(data, models.path(m), models.task_of(m));
  }
  return warning;
}

std::vector<double> best_weights(const Ensemble& models, const std::vector<TaskAnswers>& answers,
                                 const TaskData& data) {
  const Task task = models.task().task;
  if (answered_by(task) == Answered::parts) {
    std::vector<Index> gold;
    const std::vector<ClassPredictions> words = words_of(answers, data, models.labels(), gold);
    return pool_weights(words, gold);
  }
  switch (answer_of(task)) {
    case Answer::span:
      throw UsageError("--ensemble: models are pooled for classes, numbers and tags, not for answers in texts");
    case Answer::number: {
      std::vector<NumberPredictions> numbers;
      for (const TaskAnswers& model : answers) numbers.push_back(model.numbers);
      return mean_weights(numbers, gold_numbers(data));
    }
    case Answer::labels: {
      std::vector<ClassPredictions> pairs;
      for (const TaskAnswers& model : answers)
        pairs.push_back(label_pairs(model.labels, data, models.labels()).probabilities);
      return pool_weights(pairs, label_pairs(answers.front().labels, data, models.labels()).gold);
    }
    default: {
      std::vector<Index> gold;
      const std::vector<ClassPredictions> texts = texts_of(answers, data, models.labels(), gold);
      return pool_weights(texts, gold);
    }
  }
}

}  // namespace heddle

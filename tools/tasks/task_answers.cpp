#include "tools/tasks/task_answers.hpp"

#include <algorithm>

namespace heddle {

namespace {

std::vector<std::optional<Guess>> tag_guesses(const std::vector<std::vector<double>>& words) {
  std::vector<std::optional<Guess>> guesses;
  for (const auto& probabilities : words) {
    guesses.push_back(probabilities.empty() ? std::nullopt : std::optional(guess_of(probabilities)));
  }
  return guesses;
}

template <class Item>
void append_all(std::vector<Item>& all, std::vector<Item> more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

void append(TaskGuesses& all, TaskGuesses more) {
  append_all(all.classes, std::move(more.classes));
  append_all(all.forecasts, std::move(more.forecasts));
  append_all(all.numbers, std::move(more.numbers));
  append_all(all.tags, std::move(more.tags));
  append_all(all.spans, std::move(more.spans));
  append_all(all.labels.of_texts, std::move(more.labels.of_texts));
  all.labels.thresholds = std::move(more.labels.thresholds);
}

// How many predictions an example takes, about: one, one for each word, or what is kept of a context.
Index words_of(const TaskData& data, Index place) {
  const auto at = static_cast<std::size_t>(place);
  std::size_t words = 0;
  if (!data.sentences.empty()) words = data.sentences[at].words.size();
  if (!data.questions.empty()) words = data.questions[at].context->size() / 32;
  return std::max<Index>(1, static_cast<Index>(words));
}

}  // namespace

TaskAnswers answer(const models::TaskModel& model, const TaskData& data, std::span<const data::TaskExample> examples,
                   const decoding::SpanLimits& limits, const decoding::PredictOptions& options) {
  const std::vector<decoding::TaskOutput> outputs = decoding::predict(model, examples, options);
  TaskAnswers answers;
  if (options.stop()) return answers;
  const models::Task task = model.task().task;
  if (answered_by(task) == models::Answered::parts) {
    std::vector<Index> words;
    for (const data::TaggedSentence& sentence : data.sentences) {
      words.push_back(static_cast<Index>(sentence.words.size()));
    }
    answers.tags =
        decoding::tag_probabilities(examples, outputs, words, static_cast<Index>(model.task().labels.size()));
    return answers;
  }
  switch (answer_of(task)) {
    case models::Answer::number:
      answers.numbers = decoding::numbers(model.task(), examples, outputs, data.size());
      break;
    case models::Answer::labels:
      answers.labels = {decoding::label_probabilities(examples, outputs, data.size()), model.task().thresholds};
      break;
    case models::Answer::span:
      answers.spans = decoding::found_answers(data.questions, examples, outputs, limits);
      break;
    default:
      answers.classes = decoding::class_probabilities(examples, outputs, data.size());
      break;
  }
  return answers;
}

Guess guess_of(const std::vector<double>& probabilities) {
  const auto best = std::ranges::max_element(probabilities);
  return {best - probabilities.begin(), *best};
}

TaskGuesses guesses_of(TaskAnswers answers, const TaskData& data, const data::LabelSet& labels) {
  TaskGuesses guesses{.classes = {}, .numbers = std::move(answers.numbers), .tags = {}, .spans = {}};
  for (std::size_t i = 0; i < answers.classes.size(); ++i) {
    const std::vector<double>& probabilities = answers.classes[i];
    guesses.classes.push_back(guess_of(probabilities));
    guesses.forecasts.push_back(metrics::forecast_of(probabilities, labels.find(data.texts[i].label)));
  }
  for (const auto& sentence : answers.tags) guesses.tags.push_back(tag_guesses(sentence));
  guesses.spans = std::move(answers.spans);
  guesses.labels = std::move(answers.labels);
  return guesses;
}

TaskGuesses guesses_in_parts(const TaskData& data, const data::LabelSet& labels,
                             const std::function<TaskAnswers(const TaskData&)>& answers_of) {
  constexpr Index numbers_at_once = Index{1} << 21;
  TaskGuesses all;
  std::vector<Index> places;
  Index numbers = 0;
  for (Index place = 0; place < data.size(); ++place) {
    places.push_back(place);
    numbers += words_of(data, place) * std::max<Index>(labels.size(), 64);
    if (numbers < numbers_at_once && place + 1 < data.size()) continue;
    const TaskData part = chosen(data, places);
    append(all, guesses_of(answers_of(part), part, labels));
    places.clear();
    numbers = 0;
  }
  return all;
}

std::vector<std::optional<Index>> predicted_tags(const std::vector<std::optional<Guess>>& words,
                                                 const data::LabelSet& labels) {
  std::vector<std::optional<Index>> tags;
  for (const std::optional<Guess>& guess : words) tags.push_back(guess ? guess->label : labels.find("O"));
  return tags;
}

std::vector<std::optional<Index>> predicted_tags(const std::vector<std::vector<double>>& words,
                                                 const data::LabelSet& labels) {
  return predicted_tags(tag_guesses(words), labels);
}

Index unseen_words(const TaskAnswers& answers) {
  Index count = 0;
  for (const auto& sentence : answers.tags) {
    count += std::count_if(sentence.begin(), sentence.end(), [](const auto& tags) { return tags.empty(); });
  }
  return count;
}

std::string predicted_answer(const data::SpanQuestion& question, const std::vector<decoding::FoundAnswer>& found,
                             double null_threshold) {
  if (found.empty() || found.front().null_score > null_threshold) return "";
  const data::TextSpan place = found.front().place;
  return question.context->substr(place.begin, place.end - place.begin);
}

}  // namespace heddle

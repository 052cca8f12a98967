#include "tools/tasks/baseline.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>

#include "libcore/base/printable.hpp"

namespace heddle {

namespace {

using models::Answer;
using models::Answered;

// Words that are stored, at most.
constexpr std::size_t most_words = 100000;

// The first of the most frequent.
Index most_frequent(const std::vector<Index>& counts) {
  return static_cast<Index>(std::ranges::max_element(counts) - counts.begin());
}

// The tags of words that are not those of unknown words.
void learn_words(models::TaskConfig& task, const TaskData& train, const data::LabelSet& labels) {
  std::map<std::string, std::map<Index, Index>> counts;  // counts of each word's tags
  for (const data::TaggedSentence& sentence : train.sentences) {
    const std::vector<Index> tags = data::tag_ids(sentence, labels, train.file);
    for (std::size_t w = 0; w < tags.size(); ++w) {
      ++counts[sentence.words[w]][tags[w]];
    }
  }
  const Index usual = most_frequent(task.label_counts);
  for (const auto& [word, of_word] : counts) {
    const Index tag =
        std::ranges::max_element(of_word, {}, &std::pair<const Index, Index>::second)->first;  // the first of these
    if (tag == usual || !is_printable(word) || word.empty() || task.words.size() == most_words) continue;
    task.words.push_back(word);
    task.word_tags.push_back(tag);
  }
}

TaskGuesses tags_of_words(const TaskData& data, const models::TaskConfig& task, Index usual) {
  std::unordered_map<std::string_view, Index> known;
  for (std::size_t i = 0; i < task.words.size(); ++i) known.emplace(task.words[i], task.word_tags[i]);
  TaskGuesses guesses;
  for (const data::TaggedSentence& sentence : data.sentences) {
    std::vector<std::optional<Guess>> tags;
    for (const std::string& word : sentence.words) {
      const auto found = known.find(word);
      tags.push_back(Guess{found == known.end() ? usual : found->second, 1});
    }
    guesses.tags.push_back(std::move(tags));
  }
  return guesses;
}

// Each class with its frequency among the training examples.
std::vector<metrics::Forecast> forecasts_of_frequencies(const TaskData& data, const std::vector<Index>& counts,
                                                        const data::LabelSet& labels) {
  const auto all = static_cast<double>(std::accumulate(counts.begin(), counts.end(), Index{0}));
  std::vector<double> frequencies;
  for (const Index count : counts) frequencies.push_back(all > 0 ? static_cast<double>(count) / all : 0);
  std::vector<metrics::Forecast> forecasts;
  for (const data::LabelledText& example : data.texts) {
    forecasts.push_back(metrics::forecast_of(frequencies, labels.find(example.label)));
  }
  return forecasts;
}

}  // namespace

void learn_baseline(models::TaskConfig& task, const TaskData& train, const data::LabelSet& labels) {
  if (!task.has_labels()) return;
  if (task.has_label_sets()) task.texts = train.size();
  task.label_counts = label_counts_in(train, task.task, labels);
  if (answered_by(task.task) == Answered::parts && train.graphs == nullptr) learn_words(task, train, labels);
}

std::optional<Baseline> baseline_of(const TaskData& data, const models::TaskConfig& task,
                                    const data::LabelSet& labels) {
  TaskGuesses guesses;
  if (answer_of(task.task) == Answer::number) {
    guesses.numbers.assign(data.texts.size(), task.mean);
    return Baseline{concatenate("always ", task.mean, ", the mean"), std::move(guesses)};
  }
  if (!task.has_labels() || task.label_counts.empty()) return std::nullopt;
  if (task.has_label_sets()) {
    std::vector<double> frequencies;
    for (const Index count : task.label_counts)
      frequencies.push_back(static_cast<double>(count) / static_cast<double>(std::max<Index>(1, task.texts)));
    guesses.labels.of_texts.assign(data.texts.size(), frequencies);
    return Baseline{"each label where most texts have it", std::move(guesses)};
  }
  const Index usual = most_frequent(task.label_counts);
  const std::string always = concatenate("always '", labels.name(usual), "'");
  if (answered_by(task.task) == Answered::parts) {
    return Baseline{task.words.empty() ? always : "each word's most frequent tag", tags_of_words(data, task, usual)};
  }
  guesses.classes.assign(data.texts.size(), Guess{usual, 1});
  guesses.forecasts = forecasts_of_frequencies(data, task.label_counts, labels);
  return Baseline{always, std::move(guesses)};
}

}  // namespace heddle

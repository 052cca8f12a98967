#include "tools/finetune/bag_baseline.hpp"

#include "formats/heddle/task_file.hpp"
#include "libcore/models/architecture.hpp"
#include "libcore/training/task_objective.hpp"
#include "libcore/training/trainer.hpp"
#include "tools/finetune/tuning.hpp"
#include "tools/tasks/evaluation_report.hpp"
#include "tools/tasks/label_sets.hpp"

namespace heddle {

namespace {

constexpr Index default_most_words = 50000, most_examples = 100000;
constexpr double most_updates = 2e9;      // single numbers updated in all steps: about ten seconds
constexpr Index most_numbers = 50000000;  // weights of the model: with gradients and squares of these, 600 MB

double mean_length(const std::vector<data::TaskExample>& examples) {
  double tokens = 0;
  for (const data::TaskExample& example : examples) tokens += static_cast<double>(example.sequence.ids.size());
  return tokens / static_cast<double>(examples.size());
}

}  // namespace

// Excludes parts of words: by chance some are spelled like words of the examples, and share their weights.
text::Tokenizer tokenizer_of_words(const TaskData& data, Index most_words, text::Marks marks) {
  text::Trainer trainer({.kind = text::TokenizerKind::wordpiece,
                         .vocab_size = most_words > 0 ? most_words : default_most_words,
                         .min_frequency = 1,
                         .marks = marks,
                         .whole_words = true});
  const auto add = [&](std::string_view text) {
    trainer.add(text);
    trainer.end_document();
  };
  for (const data::LabelledText& example : data.texts) {
    add(example.text);
    if (example.second_text) add(*example.second_text);
  }
  for (const data::TaggedSentence& sentence : data.sentences) {
    for (const std::string& word : sentence.words) add(word);
  }
  for (const data::SpanQuestion& question : data.questions) {
    add(question.question);
    add(*question.context);
  }
  return text::Tokenizer(trainer.finish());
}

std::optional<JudgedAnswers> answers_of_bag(const BagData& data, models::TaskConfig task, const std::string& metric,
                                            std::uint64_t seed, const std::function<bool()>& stop) {
  if (answer_of(task.task) == models::Answer::span || data.train.size() > most_examples) return std::nullopt;
  task.pooling = models::Pooling::automatic;
  task.layer_mix = false;
  const text::Tokenizer tokenizer = tokenizer_of_words(data.train, 0, text::Marks::automatic);
  models::ModelConfig config = models::architecture("bag").defaults;
  if (data.train.graphs != nullptr) config->fit_unordered();
  config.tokens().fit_vocabularies({tokenizer.vocab_size(), tokenizer.vocab_size()});
  const data::Framing framing(tokenizer, config.tokens().longest_text(), config.tokens().has_segments());
  data::OverlongTexts overlong{data::Overlong::truncate};
  const EncodeTask encoding{task.task, data.labels, tokenizer, framing, formats::Gold::given};
  const std::vector<data::TaskExample> train = encode_task(data.train, encoding, overlong),
                                       valid = encode_task(data.valid, encoding, overlong);
  config->fit_examples(models::counted_examples(train, task.task), data.labels.size());
  if (models::outline_of(config)->parameters().count() > most_numbers) return std::nullopt;
  const formats::LoadedTask bag =
      formats::start_new_task(config, tokenizer, {.task = task, .adapters = {}, .seed = seed});
  (void)bag.model->start_from_counts(train);

  const training::Better better = better_of(metric);
  std::optional<JudgedAnswers> best;
  const auto judged = [&](const training::Evaluators& by) -> std::vector<training::Metric> {
    TaskAnswers answers = answer(*bag.model, data.valid, valid, {}, {.stop = by.stop});
    if (by.stop()) return {{"nothing", 0}};
    TaskGuesses guesses = guesses_of(std::move(answers), data.valid, data.labels);
    if (task.has_label_sets()) guesses.labels.thresholds = best_thresholds(guesses.labels, data.valid, data.labels);
    std::vector<training::Metric> metrics =
        judge(data.valid, bag.model->task(), data.labels, guesses, {.metric = metric}).metrics;
    keep_best(best, better, {metrics.front().value, std::move(guesses)});
    return metrics;
  };
  RunSpec spec = suited(tuning_defaults(config), models::architecture(config.arch()).from_scratch);
  spec.seed = static_cast<Index>(seed);
  const training::TrainingConfig training = spec.config(PrecisionChoice::f32);
  training::TaskObjective objective(*bag.model, train, training, {}, judged, better);
  training::Trainer trainer(objective, training);
  const auto texts = static_cast<double>(trainer.total_steps() * training.training.samples_per_step());
  const auto width = static_cast<double>(bag.model->vectors().width());
  if (texts * mean_length(train) * width > most_updates) return std::nullopt;
  training::Hooks hooks;
  hooks.stop = stop;
  trainer.run(hooks);
  if (stop()) return std::nullopt;
  return best;
}

}  // namespace heddle

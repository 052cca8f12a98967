// Baseline of models that are fine-tuned: a bag of words and n-grams, trained on the same examples in seconds.
#pragma once

#include <functional>
#include <optional>

#include "libcore/data/label_set.hpp"
#include "libcore/text/vocabulary_training.hpp"
#include "tools/finetune/judged_answers.hpp"
#include "tools/tasks/task_data.hpp"

namespace heddle {

// A tokenizer that cuts texts into words as BERT's does and knows the most frequent words of the examples, `most_words`
// at most, or 50,000 if that is 0; other words are unknown.
text::Tokenizer tokenizer_of_words(const TaskData& data, Index most_words, text::Marks marks);

struct BagData {
  const TaskData &train, &valid;
  const data::LabelSet& labels;
};

// The answers of a bag with the settings that finetune --arch bag has by default, where it is best on the validation
// data. Nothing for tasks without classes or numbers, for more than 100,000 examples, and if `stop` became true.
std::optional<JudgedAnswers> answers_of_bag(const BagData& data, models::TaskConfig task, const std::string& metric,
                                            std::uint64_t seed, const std::function<bool()>& stop);

}  // namespace heddle

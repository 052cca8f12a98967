// Slips in labelled data: each warning at the edge of what it warns of, and silent beyond it.
#include "tools/tasks/data_warnings.hpp"

#include <doctest/doctest.h>

#include <memory>

#include "tools/tasks/graph_data.hpp"

using namespace heddle;

namespace data_warnings_tests {

namespace {

using models::Task;
using Strings = std::vector<std::string>;

// Texts with these labels, one a line.
TaskData labelled(const Strings& labels) {
  TaskData data;
  data.file = "f.tsv";
  for (const std::string& label : labels) {
    const auto line = static_cast<Index>(data.texts.size()) + 1;
    data.texts.push_back(
        {.text = "text " + std::to_string(line), .second_text = std::nullopt, .label = label, .line = line});
  }
  return data;
}

TaskData with_texts(const Strings& texts) {
  TaskData data = labelled(Strings(texts.size(), "a"));
  for (std::size_t i = 0; i < texts.size(); ++i) data.texts[i].text = texts[i];
  return data;
}

// Sentences of words that are their tags too, one word a line.
TaskData tagged(const std::vector<Strings>& sentences) {
  TaskData data;
  data.file = "f.conll";
  Index line = 0;
  for (const Strings& words : sentences) {
    data::TaggedSentence sentence{words, words, {}};
    for (std::size_t w = 0; w < words.size(); ++w) sentence.lines.push_back(++line);
    data.sentences.push_back(std::move(sentence));
    ++line;
  }
  return data;
}

// Graphs without edges, of so many nodes each; those with these numbers, from 0, have a label.
TaskData with_graphs(const std::string& file, const std::vector<Index>& sizes, const std::vector<Index>& labelled) {
  std::vector<data::GraphRecord> records;
  for (const Index size : sizes) {
    records.emplace_back().graph.nodes = size;
    records.back().graph.rows.assign(static_cast<std::size_t>(size) + 1, 0);
  }
  TaskData data;
  data.file = file;
  data.graphs =
      std::make_shared<const data::GraphsInMemory>(data::GraphSchema(), data::GraphTargets(), std::move(records), file);
  for (const Index number : labelled) {
    data.texts.push_back({.text = "graph", .second_text = std::nullopt, .label = "a", .line = number + 1});
  }
  return data;
}

bool says(const std::optional<std::string>& warning, const std::string& part) {
  CAPTURE(warning.value_or("nothing"));
  const bool found = warning && warning->find(part) != std::string::npos;
  CHECK(found);
  return found;
}

}  // namespace

TEST_CASE("warnings: a first line of names is one in an automatic header's place alone") {
  TaskData data = labelled({"Label", "spam"});
  data.texts.front().text = "Sentence1";
  says(header_warning(data, {}), "f.tsv:1: 'Label' and 'Sentence1'");
  formats::LabelledInput without;
  without.header = formats::Header::absent;
  CHECK_FALSE(header_warning(data, without));
  data.texts.front().line = 2;
  CHECK_FALSE(header_warning(data, {}));
  data.texts.front().line = 1;
  data.texts.front().label = "spam";
  CHECK_FALSE(header_warning(data, {}));
  data.texts.front().label = "label";
  data.texts.front().text = "hello";
  CHECK_FALSE(header_warning(data, {}));
  std::swap(data.texts.front(), data.texts.back());
  CHECK_FALSE(header_warning(data, {}));
  CHECK_FALSE(header_warning(labelled({}), {}));
}

TEST_CASE("warnings: texts are empty where neither of two has a word") {
  CHECK_FALSE(empty_texts_warning(with_texts({"a", "b"})));
  TaskData data = with_texts({"a", " \t", "b"});
  says(empty_texts_warning(data), "f.tsv:2: the text is empty");
  CHECK_FALSE(empty_texts_warning(data)->ends_with("examples"));
  data.texts[2].text = "";
  says(empty_texts_warning(data), "f.tsv:2: the text is empty, as in 2 of 3 examples");
  data.texts[1].second_text = "b";
  says(empty_texts_warning(data), "f.tsv:3: the text is empty");
  data.texts[2].second_text = " ";
  says(empty_texts_warning(data), "f.tsv:3: the text is empty");
  data.texts[2].text = "b";
  CHECK_FALSE(empty_texts_warning(data));
}

TEST_CASE("warnings: more than ten classes, and more than a tenth of the examples, are many") {
  Strings names, twice;
  for (char name = 'a'; name <= 'k'; ++name) names.emplace_back(1, name);
  const data::LabelSet eleven(names), ten(Strings(names.begin(), names.end() - 1));
  says(many_classes_warning(labelled(Strings(109, "a")), eleven), "11 classes for 109 examples, such as 'a'");
  CHECK_FALSE(many_classes_warning(labelled(Strings(110, "a")), eleven));
  CHECK_FALSE(many_classes_warning(labelled(Strings(10, "a")), ten));
  says(alike_labels_warning("f.tsv", data::LabelSet({"Spam", "ham", "spam"})), "'Spam' and 'spam'");
  CHECK_FALSE(alike_labels_warning("f.tsv", data::LabelSet({"Spam", "ham", "span"})));
}

TEST_CASE("warnings: copies are counted in texts, sentences, and contexts of questions") {
  const TaskData train = with_texts({"a", "b"});
  says(copies_warning(train, with_texts({"b ", "c", "a", "d"})), "2 of 4 examples are in the training data");
  says(copies_warning(train, with_texts({" b"})), "1 of 1 example is in");
  CHECK_FALSE(copies_warning(train, with_texts({"ab", "c"})));
  says(copies_warning(tagged({{"a", "b"}, {"c"}}), tagged({{"c"}, {"a"}, {"ab"}})), "1 of 3 examples are in");
  TaskData questions, others;
  const auto context = [](const char* text) { return std::make_shared<const std::string>(text); };
  questions.questions.push_back({.id = "", .question = "1", .context = context("x"), .answers = {}});
  const auto shared = context("x");
  for (const auto& of : {context("y"), shared, shared}) {
    others.questions.push_back({.id = "", .question = "2", .context = of, .answers = {}});
  }
  says(copies_warning(questions, others), "2 of 3 examples are on contexts of the training data");
  models::TaskConfig task{.text_keys = text_keys_of(questions)};
  says(known_texts_warning(others, "m.h5", task), ": 2 of 3 examples are on contexts of the training data of m.h5");
  task.text_keys = text_keys_of(train);
  says(known_texts_warning(with_texts({"z", "b", "c"}), "m.h5", task), ": 1 of 3 examples are in the training data");
  Strings many{"a"};
  for (int i = 0; i < 99; ++i) many.push_back("new " + std::to_string(i));
  says(known_texts_warning(with_texts(many), "m.h5", task), ": 1 of 100 examples are in the training data");
  CHECK_FALSE(known_texts_warning(with_texts({"z"}), "m.h5", task));
  CHECK_FALSE(known_texts_warning(with_texts({"b"}), "m.h5", {}));
}

TEST_CASE("warnings: copies of graphs are found in every training file, though some graphs have no label") {
  const TaskData first = with_graphs("a.h5", {1, 2, 3, 4}, {1, 3}), second = with_graphs("b.h5", {5, 6, 7}, {0, 2});
  const TaskData train = joined({first, second});
  CHECK(graph_numbers(train) == std::vector<Index>{1, 3, 4, 6});
  says(copies_warning(train, with_graphs("v.h5", {5, 7, 2}, {0, 1, 2})), "v.h5: 3 of 3 examples");
  CHECK_FALSE(copies_warning(train, with_graphs("v.h5", {6, 3, 1}, {0, 1, 2})));
}

TEST_CASE("warnings: of many training texts some hashes are kept, and copies are estimated") {
  TaskData train;
  train.texts.resize(2 * most_text_keys);
  for (std::size_t i = 0; i < train.texts.size(); ++i) train.texts[i].text = std::to_string(i);
  const models::TaskConfig task{.text_keys = text_keys_of(train)};
  REQUIRE(task.text_keys.size() == most_text_keys);
  Strings texts;
  for (int i = 0; i < 2000; ++i) texts.push_back((i < 1000 ? "" : "new ") + std::to_string(i));
  const std::optional<std::string> warning = known_texts_warning(with_texts(texts), "m.h5", task);
  REQUIRE(says(warning, "about "));
  // Half of the texts are copies, of which half are compared: five standard deviations are 110.
  const int count = std::stoi(warning->substr(warning->find("about ") + 6));
  CHECK(std::abs(count - 1000) < 110);
}

TEST_CASE("warnings: how far chance moves a metric of few examples") {
  const auto texts = [](std::size_t count) { return labelled(Strings(count, "a")); };
  CHECK_FALSE(small_validation_warning(texts(200), Task::classify));
  says(small_validation_warning(texts(199), Task::classify), "199 examples to choose by");
  says(small_validation_warning(texts(100), Task::pair), "an accuracy by up to 0.098");
  says(small_validation_warning(texts(103), Task::regress), "a correlation by up to 0.196");
  // No fewer than five are taken for the estimate, and no metric moves by more than 1.
  says(small_validation_warning(texts(1), Task::classify),
       "1 example to choose by: chance alone moves an accuracy by up to 0.438");
  says(small_validation_warning(texts(1), Task::regress), "by up to 1.00;");
  says(small_validation_warning(tagged({{"a", "b", "c"}, {"a", "b", "c", "d"}}), Task::label),
       "7 examples to choose by: chance alone moves an accuracy by up to 0.370");
}

TEST_CASE("warnings: classes without an example, and one class alone") {
  const data::LabelSet three({"a", "b", "c"}), two({"a", "b"});
  says(missing_classes_warning(labelled({"a", "b"}), Task::classify, three), "has no example of 'c'");
  says(missing_classes_warning(labelled({"c", "b"}), Task::classify, three), "has no example of 'a'");
  CHECK_FALSE(missing_classes_warning(labelled({"a", "a"}), Task::classify, three));
  CHECK_FALSE(missing_classes_warning(labelled({"a", "b", "c"}), Task::classify, three));
  CHECK_FALSE(missing_classes_warning(labelled({"a", "a"}), Task::classify, two));
  CHECK_FALSE(missing_classes_warning(tagged({{"a", "b"}}), Task::label, three));
  says(one_label_warning(labelled({"b", "b", "b"}), Task::classify, three), "the 3 examples all have the label 'b'");
  says(one_label_warning(tagged({{"a"}, {"a"}}), Task::label, two), "all have the label 'a'");
  CHECK_FALSE(one_label_warning(labelled({"a", "b"}), Task::classify, three));
  CHECK_FALSE(one_label_warning(labelled({"a"}), Task::classify, two));
  CHECK_FALSE(one_label_warning(labelled({"x", "x"}), Task::classify, two));
  CHECK_FALSE(one_label_warning(labelled({"a", "a"}), Task::classify, data::LabelSet({"a"})));
}

TEST_CASE("warnings: gold labels that the model does not have") {
  const data::LabelSet labels({"a", "b"});
  CHECK_FALSE(unknown_labels_warning(labelled({"a", "b"}), Task::classify, labels));
  const auto one = unknown_labels_warning(labelled({"a", "later", "b"}), Task::classify, labels);
  says(one, "f.tsv:2: unknown label 'later'");
  says(one, "1 of 3 examples has a label that the model cannot give, and counts as wrong");
  const auto more = unknown_labels_warning(labelled({"later", "a", "last"}), Task::classify, labels);
  says(more, "f.tsv:1: unknown label 'later'");
  says(more, "2 of 3 examples have a label that the model cannot give, and count as wrong");
  const auto words = unknown_labels_warning(tagged({{"a", "b"}, {"a", "last"}}), Task::label, labels);
  says(words, "f.conll:5: unknown label 'last'");
  says(words, "1 of 4 words has");
  CHECK_THROWS_AS(unknown_labels_warning(labelled({"x", "y"}), Task::classify, labels), DataError);
  CHECK_THROWS_AS(unknown_labels_warning(labelled({"Label", "a"}), Task::classify, labels), DataError);
  says(unknown_labels_warning(labelled({"a", "label"}), Task::classify, labels), "f.tsv:2: ");
  CHECK_FALSE(unknown_labels_warning(labelled({"1", "2"}), Task::regress, {}));
}

TEST_CASE("warnings: words that count up, and words that are sentences") {
  says(numbered_words_warning(tagged({{"1", "2", "3"}, {"1"}})), "f.conll:1: ");
  CHECK_FALSE(numbered_words_warning(tagged({{"1", "2"}, {"1", "3"}})));
  CHECK_FALSE(numbered_words_warning(tagged({{"1", "2"}, {"1", "2nd"}})));
  CHECK_FALSE(numbered_words_warning(tagged({{"1", "2", "x"}})));
  CHECK_FALSE(numbered_words_warning(tagged({{"1"}, {"2"}})));
  CHECK_FALSE(numbered_words_warning(tagged({{"-1", "99999999999999999999"}})));
  CHECK_FALSE(numbered_words_warning(tagged({})));
  says(long_word_warning(tagged({{"a", "a b c"}, {"d", "a b c d"}})), "f.conll:5: 'a b c d' is taken as one word");
  CHECK_FALSE(long_word_warning(tagged({{"a", "a b c"}})));
}

}  // namespace data_warnings_tests

#include "tools/tasks/task_answers.hpp"

#include <doctest/doctest.h>

#include <memory>

using namespace heddle;

namespace {

// Numbers of the examples that are predicted together; an answer's score is the number of its question.
TaskGuesses guesses_of_numbers(const TaskData& data, std::vector<Index>& parts) {
  return guesses_in_parts(data, data::LabelSet({"a", "b"}), [&](const TaskData& part) {
    parts.push_back(part.size());
    TaskAnswers answers;
    for (const data::LabelledText& text : part.texts) answers.numbers.push_back(static_cast<double>(text.line));
    for (const data::TaggedSentence& sentence : part.sentences) {
      const double first = static_cast<double>(sentence.lines.front()) / 10;
      answers.tags.push_back(std::vector(sentence.words.size(), std::vector{first, 1 - first}));
    }
    for (const data::SpanQuestion& question : part.questions) {
      answers.spans.push_back({{.place = {}, .score = static_cast<double>(question.line)}});
    }
    return answers;
  });
}

}  // namespace

TEST_CASE("guesses in parts: those of all examples, in order, however many are predicted together") {
  TaskData questions, sentences, texts;
  const auto context = std::make_shared<const std::string>(800'000, 'a');
  for (Index line = 1; line <= 5; ++line) {
    questions.questions.push_back({.id = "", .question = "?", .context = context, .answers = {}, .line = line});
    sentences.sentences.push_back({std::vector<std::string>(20'000, "a"), {}, {line}});
  }
  std::vector<Index> parts;
  const TaskGuesses answers = guesses_of_numbers(questions, parts);
  CHECK(parts == std::vector<Index>{2, 2, 1});
  REQUIRE(answers.spans.size() == 5);
  for (std::size_t i = 0; i < 5; ++i) CHECK(answers.spans[i].at(0).score == static_cast<double>(i + 1));
  parts.clear();
  const TaskGuesses tags = guesses_of_numbers(sentences, parts);
  CHECK(parts == std::vector<Index>{2, 2, 1});
  REQUIRE(tags.tags.size() == 5);
  for (std::size_t i = 0; i < 5; ++i) {
    const double first = static_cast<double>(i + 1) / 10;
    REQUIRE(tags.tags[i].size() == 20'000);
    CHECK(tags.tags[i].back()->probability == std::max(first, 1 - first));
  }
  const Index count = 40'000;
  texts.texts.resize(static_cast<std::size_t>(count));
  for (Index i = 0; i < count; ++i) texts.texts[static_cast<std::size_t>(i)].line = i;
  parts.clear();
  const std::vector<double> numbers = guesses_of_numbers(texts, parts).numbers;
  CHECK(parts == std::vector<Index>{32'768, count - 32'768});
  REQUIRE(static_cast<Index>(numbers.size()) == count);
  for (Index i = 0; i < count; ++i) REQUIRE(numbers[static_cast<std::size_t>(i)] == static_cast<double>(i));
}

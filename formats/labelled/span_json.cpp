#include "heddle/formats/labelled/span_json.hpp"

#include <charconv>
#include <cstdint>
#include <string_view>
#include <utility>

#include "heddle/formats/json/value.hpp"
#include "heddle/text/spelling.hpp"
#include "heddle/text/unicode.hpp"

namespace heddle::formats {

namespace {

// Where the context contains the answer, for messages.
std::string hint(const std::string& context, const std::string& answer) {
  const std::size_t found = context.find(answer);
  if (found == context.npos) return "; the context does not contain it";
  return concatenate("; the context has it at ", text::count_characters(std::string_view(context).substr(0, found)));
}

data::SpanAnswer span_answer(const JsonNode& answer, const JsonNode& start, const std::string& context,
                             const std::string& where) {
  check<DataError>(answer.is_text() && !answer.text().empty(), where, ": an answer has no \"text\"");
  std::uint64_t characters = 0;
  const std::string_view digits = start.is_count() ? start.digits() : "";
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), characters);
  check<DataError>(!digits.empty() && error == std::errc(), where,
                   ": an answer's \"answer_start\" is not a number of characters");
  const std::string text(answer.text());
  const std::size_t begin = text::offset_of_character(context, characters);
  check<DataError>(begin != context.npos && std::string_view(context).substr(begin).starts_with(text), where,
                   ": the answer ", text::quoted(text), " is not at character ", characters, " of its context",
                   hint(context, text));
  return {text, begin};
}

void add_answers(const JsonNode& answers, data::SpanQuestion& question, const std::string& where) {
  const auto add = [&](const JsonNode& text, const JsonNode& start) {
    question.answers.push_back(span_answer(text, start, *question.context, where));
  };
  if (answers.is_list()) {
    question.answers.reserve(answers.size());
    for (const JsonNode& answer : answers.list()) add(answer.find("text"), answer.find("answer_start"));
    return;
  }
  const JsonNode texts = list_member(answers, "text", where), starts = list_member(answers, "answer_start", where);
  check<DataError>(texts.size() == starts.size(), where, ": \"answers\" has ", texts.size(), " texts and ",
                   starts.size(), " starts");
  question.answers.reserve(texts.size());
  auto start = starts.list().begin();
  for (const JsonNode& text : texts.list()) {
    add(text, *start);
    ++start;
  }
}

}  // namespace

data::SpanQuestion span_question(const JsonNode& object, std::string id, std::shared_ptr<const std::string> context,
                                 Gold gold, const std::string& where) {
  data::SpanQuestion question;
  question.question = text_member(object, "question", where);
  question.id = std::move(id);
  question.context = std::move(context);
  if (gold == Gold::absent) return question;
  const JsonNode answers = object.find("answers");
  check<DataError>(!answers.is_null(), where, ": has no \"answers\"");
  add_answers(answers, question, where);
  question.impossible = question.answers.empty();
  const JsonNode impossible = object.find("is_impossible");
  const bool told = !impossible.is_null();
  check<DataError>(!told || (impossible.is_flag() && impossible.flag() == question.impossible), where, ": has ",
                   question.answers.size(), " answers, but \"is_impossible\" is ", impossible.shown());
  return question;
}

}  // namespace heddle::formats

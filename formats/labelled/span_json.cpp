#include "formats/labelled/span_json.hpp"

#include <charconv>
#include <cstdint>
#include <string_view>
#include <utility>

#include "formats/labelled/example_members.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/text/spelling.hpp"
#include "libcore/text/unicode.hpp"

namespace heddle::formats {

namespace {

constexpr std::uint64_t characters_apart = 256;

// Places of the answer in the context, for messages.
std::string hint(const std::string& context, const std::string& answer) {
  const std::size_t found = context.find(answer);
  if (found == context.npos) return "; the context does not contain it";
  return concatenate("; the context has it at ", text::count_characters(std::string_view(context).substr(0, found)));
}

data::SpanAnswer span_answer(const JsonNode& answer, const JsonNode& start, const SpanContext& places,
                             const std::string& where) {
  const std::string& context = *places.text();
  check<DataError>(answer.is_text(), where, ": an answer has no \"text\"");
  check<DataError>(!text::is_blank(answer.text()), where,
                   ": the \"text\" of an answer is empty; a question without an answer has an empty list of them");
  std::uint64_t characters = 0;
  const std::string_view digits = start.is_count() ? start.digits() : "";
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), characters);
  check<DataError>(!digits.empty() && error == std::errc(), where,
                   ": an answer's \"answer_start\" is not a number of characters");
  const std::string text(answer.text());
  const std::size_t begin = places.offset_of(characters);
  check<DataError>(begin != context.npos && std::string_view(context).substr(begin).starts_with(text), where,
                   ": the answer ", text::quoted(text), " is not at character ", characters, " of its context",
                   hint(context, text));
  return {text, begin};
}

void add_answers(const JsonNode& answers, const SpanContext& context, data::SpanQuestion& question,
                 const std::string& where) {
  const auto add = [&](const JsonNode& text, const JsonNode& start) {
    question.answers.push_back(span_answer(text, start, context, where));
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

SpanContext::SpanContext(std::string text) : text_(std::make_shared<const std::string>(std::move(text))) {
  std::uint64_t character = 0;
  for (std::size_t at = 0; at < text_->size(); at += text::decode(*text_, at).length) {
    if (character++ % characters_apart == 0) begins_.push_back(at);
  }
}

std::size_t SpanContext::offset_of(std::uint64_t character) const {
  const std::uint64_t block = character / characters_apart;
  if (block > begins_.size()) return std::string::npos;
  // The last block may end where one would begin.
  const std::uint64_t from = std::min<std::uint64_t>(block, std::max<std::size_t>(begins_.size(), 1) - 1);
  const std::size_t begin = begins_.empty() ? 0 : begins_[from];
  const std::size_t beyond =
      text::offset_of_character(std::string_view(*text_).substr(begin), character - from * characters_apart);
  return beyond == std::string::npos ? beyond : begin + beyond;
}

data::SpanQuestion span_question(const JsonNode& object, std::string id, const SpanContext& context, Gold gold,
                                 const std::string& where) {
  data::SpanQuestion question;
  question.question = text_member(object, "question", where);
  question.id = std::move(id);
  question.context = context.text();
  if (gold == Gold::absent) return question;
  const JsonNode answers = object.find("answers");
  check<DataError>(!answers.is_null(), where, ": has no \"answers\"");
  add_answers(answers, context, question, where);
  question.impossible = question.answers.empty();
  const JsonNode impossible = object.find("is_impossible");
  const bool told = !impossible.is_null();
  check<DataError>(!told || (impossible.is_flag() && impossible.flag() == question.impossible), where, ": has ",
                   question.answers.size(), " answers, but \"is_impossible\" is ", impossible.shown());
  return question;
}

}  // namespace heddle::formats

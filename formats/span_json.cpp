#include "heddle/formats/span_json.hpp"

#include <cstdint>
#include <string_view>
#include <utility>

#include "heddle/formats/json_value.hpp"
#include "heddle/text/spelling.hpp"
#include "heddle/text/unicode.hpp"

namespace heddle::formats {

namespace {

// Where else the answer is, for messages.
std::string hint(const std::string& context, const std::string& answer) {
  const std::size_t found = context.find(answer);
  if (found == context.npos) return "; the context does not have it at all";
  return concatenate("; the context has it at ", text::count_characters(std::string_view(context).substr(0, found)));
}

data::SpanAnswer span_answer(const nlohmann::json& answer, const nlohmann::json& start, const std::string& context,
                             const std::string& where) {
  check<DataError>(answer.is_string() && !answer.get_ref<const std::string&>().empty(), where,
                   ": an answer has no \"text\"");
  check<DataError>(start.is_number_unsigned(), where, ": an answer's \"answer_start\" is no count of characters");
  const auto& text = answer.get_ref<const std::string&>();
  const auto characters = start.get<std::uint64_t>();
  const std::size_t begin = text::offset_of_character(context, characters);
  check<DataError>(begin != context.npos && std::string_view(context).substr(begin).starts_with(text), where,
                   ": the answer ", text::quoted(text), " is not at character ", characters, " of its context",
                   hint(context, text));
  return {text, begin};
}

void add_answers(const nlohmann::json& answers, data::SpanQuestion& question, const std::string& where) {
  static const nlohmann::json absent;
  const auto add = [&](const nlohmann::json& text, const nlohmann::json& start) {
    question.answers.push_back(span_answer(text, start, *question.context, where));
  };
  const auto member = [&](const nlohmann::json& object, const char* name) -> const nlohmann::json& {
    const nlohmann::json* value = find_member(object, name);
    return value != nullptr ? *value : absent;
  };
  if (answers.is_array()) {
    for (const nlohmann::json& answer : answers) add(member(answer, "text"), member(answer, "answer_start"));
    return;
  }
  const nlohmann::json &texts = list_member(answers, "text", where),
                       &starts = list_member(answers, "answer_start", where);
  check<DataError>(texts.size() == starts.size(), where, ": \"answers\" has ", texts.size(), " texts and ",
                   starts.size(), " starts");
  for (std::size_t i = 0; i < texts.size(); ++i) add(texts[i], starts[i]);
}

}  // namespace

data::SpanQuestion span_question(const nlohmann::json& object, std::string id,
                                 std::shared_ptr<const std::string> context, Gold gold, const std::string& where) {
  data::SpanQuestion question;
  question.question = text_member(object, "question", where);
  question.id = std::move(id);
  question.context = std::move(context);
  if (gold == Gold::absent) return question;
  const nlohmann::json* answers = find_member(object, "answers");
  check<DataError>(answers != nullptr, where, ": has no \"answers\"");
  add_answers(*answers, question, where);
  question.impossible = question.answers.empty();
  const nlohmann::json* impossible = find_member(object, "is_impossible");
  check<DataError>(impossible == nullptr || *impossible == question.impossible, where, ": has ",
                   question.answers.size(), " answers, but \"is_impossible\" is ",
                   impossible ? impossible->dump() : "");
  return question;
}

}  // namespace heddle::formats

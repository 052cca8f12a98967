#include "tools/tasks/worked_records.hpp"

#include "libcore/text/unicode.hpp"
#include "tools/lines/encode_line.hpp"

namespace heddle {

TaskInput worked_input(const formats::LabelledInput& input) {
  return {input, models::Task::lm, formats::Texts::worked, formats::Gold::absent};
}

std::string response_of(const data::LabelledText& record, std::string_view mark) {
  const std::string answer = record.second_text.value_or("");
  return record.steps ? concatenate(*record.steps, mark, answer) : answer;
}

data::TokenPair encode_worked(const data::LabelledText& record, std::string_view mark, const text::Tokenizer& tokenizer,
                              const std::string& where) {
  check<DataError>(!text::is_blank(record.second_text.value_or("")), where, ": the answer is empty");
  data::TokenPair pair{encode_line(tokenizer, record.text, where),
                       encode_line(tokenizer, response_of(record, mark), where)};
  check<DataError>(!pair.target.empty(), where, ": the answer has no tokens, since the tokenizer leaves out all of it");
  return pair;
}

}  // namespace heddle

#include "tools/tasks/worked_records.hpp"

#include "libcore/text/spelling.hpp"
#include "libcore/text/text_error.hpp"
#include "libcore/text/unicode.hpp"
#include "tools/lines/encode_line.hpp"

namespace heddle {

TaskInput worked_input(const formats::LabelledInput& input) {
  return {input, models::Task::lm, formats::Texts::worked, formats::Gold::absent};
}

std::string response_of(const data::LabelledText& record, std::string_view mark) {
  const std::string answer = record.second_text.value_or("");
  const bool has_steps = record.steps != nullptr && !text::is_blank(*record.steps);
  return has_steps ? concatenate(*record.steps, mark, answer) : answer;
}

std::optional<std::string> mark_warning(std::string_view mark, const text::Tokenizer& tokenizer) {
  const std::string_view wanted = text::stripped(mark);
  std::string written;
  try {
    for (const TokenId id : tokenizer.encode(std::string(mark))) tokenizer.decode(id, written, text::TextPlace::inside);
  } catch (const text::TextError&) {
    return std::nullopt;  // records that have it are reported
  }
  if (written.find(wanted) != written.npos) return std::nullopt;
  return concatenate("the mark ", text::quoted(wanted), " is written ", text::quoted(text::stripped(written)),
                     " by this tokenizer, and is not found in what the model writes; choose another one, "
                     "`objective` = respond:mark=TEXT");
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

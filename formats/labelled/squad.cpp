#include "formats/labelled/squad.hpp"

#include <memory>
#include <string>

#include "formats/labelled/example_members.hpp"
#include "formats/labelled/jsonl.hpp"
#include "formats/labelled/span_json.hpp"
#include "libcore/text/spelling.hpp"

namespace heddle::formats {

namespace {

void read_paragraph(const JsonNode& paragraph, std::string_view file, Gold gold, const std::string& where,
                    std::vector<data::SpanQuestion>& questions, BadRecords& bad) {
  const SpanContext context(std::string(text_member(paragraph, "context", where)));
  for (const JsonNode& object : list_member(paragraph, "qas", where).list()) {
    bad.attempt(0, [&] {
      std::string id = name_member(object, "id", where + ": a question");
      const std::string question = concatenate(file, ": question ", text::quoted(id));
      questions.push_back(span_question(object, std::move(id), context, gold, question));
    });
  }
}

}  // namespace

std::vector<data::SpanQuestion> read_squad(std::string_view content, const Place& begin, Gold gold, BadRecords& bad) {
  if (holds_objects(content)) return read_jsonl_spans(content, begin, gold, bad);
  const std::string_view file = begin.file;
  std::vector<data::SpanQuestion> questions;
  const JsonDocument document{std::string(content), file};
  Index articles = 0;
  for (const JsonNode& article : list_member(JsonNode(document), "data", std::string(file)).list()) {
    const std::string where = concatenate(file, ": article ", ++articles);
    check<DataError>(
        !has_member(article, "context"), where,
        ": is a question, where SQuAD has articles with paragraphs; jq -c '.data[]' makes a line of each, for "
        "--format jsonl");
    Index paragraphs = 0;
    for (const JsonNode& paragraph : list_member(article, "paragraphs", where).list()) {
      read_paragraph(paragraph, file, gold, concatenate(where, ", paragraph ", ++paragraphs), questions, bad);
    }
  }
  return questions;
}

}  // namespace heddle::formats

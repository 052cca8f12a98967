// Inputs of classify that look like other ones: where a warning begins, and where there is none.
#include "tools/classify/input_watch.hpp"

#include <doctest/doctest.h>

using namespace heddle;

namespace input_watch_tests {

namespace {

using formats::Header;
using formats::LabelledFormat;
using models::Task;

struct Watched {
  LabelledFormat format = LabelledFormat::tsv;
  Task task = Task::classify;
  std::string file = "f.txt", text_column = "";
  Header header = Header::automatic;
  Index line = 1;
};

// The warning without the text's place; "" for none.
std::string warning(const std::string& text, const Watched& watched) {
  const models::TaskConfig task{.task = watched.task, .two_texts = watched.task == Task::pair};
  const data::LabelSet labels({"NOUN", "VERB"});
  formats::LabelledInput input;
  input.header = watched.header;
  input.columns.text = watched.text_column;
  const LabelWatch watch(watched.file, task, labels, input, watched.format);
  const std::optional<std::string> found = watch.warning({text, watched.file, watched.line});
  return found.value_or("");
}

bool has_labels(const std::string& warning) {
  return warning.find("the input has labels") != std::string::npos;
}

bool says(const std::string& warning, const std::string& part) {
  return warning.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("input watch: a column of labels in the first row of CSV") {
  const Watched csv{.format = LabelledFormat::csv};
  for (const char* row : {"text,label", "Label,text", "text;\"label\"", "text, label\r", "\xEF\xBB\xBFlabel,text"}) {
    CAPTURE(row);
    CHECK(has_labels(warning(row, csv)));
  }
  CHECK(has_labels(warning("text,label\r\n", csv)));
  CHECK(warning("text,labels of all", csv).empty());
  CHECK(warning("text,label", {.format = LabelledFormat::csv, .line = 2}).empty());
  CHECK(warning("text,label", {.format = LabelledFormat::csv, .header = Header::absent}).empty());
}

TEST_CASE("input watch: a member \"label\" of JSON") {
  const Watched jsonl{.format = LabelledFormat::jsonl};
  CHECK(has_labels(warning(R"({"text": "a", "label": "b"})", jsonl)));
  CHECK(has_labels(warning(R"({"kind": "label", "label"	: "b"})", jsonl)));
  CHECK(warning(R"({"text": "label", "kind": "label"})", jsonl).empty());
}

TEST_CASE("input watch: lines of text that are JSON, CSV or a table") {
  CHECK(says(warning(R"( {"text": "a"} )", {}), "looks like JSON"));
  CHECK(warning(R"(so {"text": "a"})", {}).empty());
  CHECK(warning(R"({"text": "a"} it was)", {}).empty());
  CHECK(warning("{braces}", {}).empty());
  CHECK(says(warning("id,text", {}), "looks like the header of CSV"));
  CHECK(warning("id,text", {.line = 2}).empty());
  CHECK(warning("id,texts", {}).empty());
  CHECK(has_labels(warning("NOUN\tcat", {})));
  CHECK(says(warning("NOUN\tcat", {}), "with its label, is the text"));
  CHECK_FALSE(says(warning("NOUN\tcat\tdog", {.task = Task::pair}), "with its label, is the text"));
  CHECK(has_labels(warning("NOUN\tcat\tdog", {.task = Task::pair})));
  CHECK(warning("NOUN\tcat", {.text_column = "2"}).empty());
  CHECK(warning("cat\tNOUN", {}).empty());
  CHECK(says(warning("cat\tNOUN", {.file = "f.tsv"}), "the whole line, with its tab, is the text"));
  CHECK(warning("cat\tdog", {.task = Task::pair, .file = "f.tsv"}).empty());
  CHECK(warning("cat\tNOUN", {.file = "f.tsv", .header = Header::present}).empty());
}

TEST_CASE("input watch: words that are sentences, have their tags, or are JSON") {
  const Watched words{.task = Task::label};
  CHECK(warning("the\ncat\nsees\n", words).empty());
  CHECK(says(warning("cat\nthe cat sees\n", words), "f.txt:2: 'the' is taken as the word"));
  CHECK(says(warning("cat\t_\nthe cat sees it\t_\n", words), "f.txt:2: 'the cat sees it' is taken as the word"));
  CHECK(warning("cat\tthe cat sees it\n", words).empty());
  CHECK(warning("the cat sees\n", {.task = Task::label, .text_column = "2"}).empty());
  CHECK(has_labels(warning("the _\ncat NOUN\n", words)));
  CHECK(warning("NOUN cat\n", words).empty());
  CHECK(has_labels(warning("1\tcat\tcat\tNOUN\t_\t_\t0\t_\t_\t_\n", words)));
  CHECK(warning("# the cat sees it\n-DOCSTART- -X- O O\n", words).empty());
  CHECK(says(warning("cat\n{\"text\": \"a\"}\n", words), "f.txt:2: looks like JSON"));
  CHECK(warning("the cat sees NOUN\n", {.task = Task::span}).empty());
  CHECK(says(LabelWatch::raw_warning({R"({"text": "a"})", "f", 1}).value_or(""), "looks like JSON"));
  CHECK(says(LabelWatch::raw_warning({"a\tb\tc", "f", 1}).value_or(""), "looks like a CoNLL row"));
  CHECK_FALSE(LabelWatch::raw_warning({"a\tb c", "f", 1}));
}

}  // namespace input_watch_tests

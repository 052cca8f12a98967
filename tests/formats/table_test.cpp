// Tables of labelled texts: quotes of CSV, headers and columns by name and number.
#include <doctest/doctest.h>

#include "formats/files.hpp"
#include "libcore/base/random.hpp"
#include "support/labelled.hpp"

using namespace heddle;
using namespace heddle::formats;
using namespace heddle::tests;
using namespace std::string_literals;

namespace {

std::vector<data::LabelledText> csv(const std::string& content, Texts texts = Texts::one, Gold gold = Gold::given,
                                    const TextColumns& wanted = {}, Header header = Header::automatic) {
  TableColumns columns(wanted, header);
  return read_csv(content, "x.csv", texts, gold, columns);
}

std::string csv_message(const std::string& content, Texts texts = Texts::one, Gold gold = Gold::given,
                        const TextColumns& wanted = {}, Header header = Header::automatic) {
  return message_of([&] { csv(content, texts, gold, wanted, header); });
}

std::vector<data::LabelledText> tsv(const std::string& content, const TextColumns& wanted, Header header,
                                    Gold gold = Gold::given) {
  TableColumns columns(wanted, header);
  return read_tsv(content, "x.tsv", Texts::one, gold, columns);
}

std::string tsv_columns_message(const std::string& content, const TextColumns& wanted,
                                Header header = Header::automatic) {
  return message_of([&] { tsv(content, wanted, header); });
}

// LINE LABEL|TEXT of each example.
std::string shown(const std::vector<data::LabelledText>& examples) {
  std::string all;
  for (const data::LabelledText& example : examples) {
    all += std::to_string(example.line) + " " + example.label + "|" + example.text + "\n";
  }
  return all;
}

}  // namespace

TEST_CASE("csv: fields in quotes hold commas, line breaks and doubled quotes") {
  const std::string expected = "2 ham|hello, \"you\"\n3 spam|two\r\nlines\n5 ham|\n6 eggs|plain\n";
  CHECK(shown(csv("text,label\n\"hello, \"\"you\"\"\",ham\n\"two\r\nlines\",spam\n\"\",\"ham\"\nplain,eggs\n")) ==
        expected);
  CHECK(shown(csv("\xEF\xBB\xBFtext,label\r\n\"hello, "
                  "\"\"you\"\"\",ham\r\n\"two\r\nlines\",\"spam\"\r\n,ham\r\nplain,eggs\r\n")) == expected);
  CHECK(shown(csv("text,label\nplain,\"eggs\"")) == "2 eggs|plain\n");
  CHECK(shown(csv("text,label\nplain,eggs\r")) == "2 eggs|plain\n");
  CHECK(shown(csv("text,label\nplain,\"eggs\"\r")) == "2 eggs|plain\n");
  CHECK(shown(csv("text,label\nx\0\xff y,b\n"s)) == "2 b|x\0\xff y\n"s);
  CHECK(csv("text,label\n").empty());
  CHECK(csv("").empty());
}

TEST_CASE("csv: random fields come back, in quotes where they need them and where they do not, whatever ends rows") {
  const std::vector<std::string> parts{"a", "b c", "\"", ",", ";", "\n", "\r", "\r\n", "\t", "\u00e9", " "};
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const RandomStream random(seed, 1);
    std::uint64_t drawn = 0;
    const auto below = [&](std::uint64_t end) { return random.below(drawn++, end); };
    std::string content = "label,text,text_b\n", expected;
    Index line = 2;
    for (std::uint64_t row = 0; row < 6; ++row) {
      std::vector<std::string> fields{"x", "", ""};
      for (std::size_t column = 1; column < 3; ++column) {
        for (std::uint64_t left = below(5); left > 0; --left) fields[column] += parts[below(parts.size())];
      }
      expected += concatenate(line, " ", fields[1], "|", fields[2], "\n");
      for (std::size_t column = 0; column < 3; ++column) {
        const std::string& field = fields[column];
        const bool is_last = column == 2;
        const bool needs =
            field.starts_with('"') || field.find_first_of(",\n") != field.npos || (is_last && field.ends_with('\r'));
        content += needs || below(3) == 0 ? "\"" + replaced(field, "\"", "\"\"") + "\"" : field;
        content += !is_last ? "," : below(2) == 0 ? "\n" : "\r\n";
        line += std::ranges::count(field, '\n');
      }
      ++line;
    }
    if (seed % 3 == 0) content.erase(content.find_last_not_of("\r\n") + 1);
    std::string found;
    for (const data::LabelledText& example : csv(content, Texts::two)) {
      found += concatenate(example.line, " ", example.text, "|", example.second_text.value_or("none"), "\n");
    }
    CAPTURE(content);
    CHECK(found == expected);
  }
}

TEST_CASE("csv: columns by the header's names, by other names and by numbers") {
  const std::string content = "id,label,note,text\n7,ham,n,hello\n8,spam,m,buy\n";
  CHECK(shown(csv(content)) == "2 ham|hello\n3 spam|buy\n");
  CHECK(shown(csv(content, Texts::one, Gold::given, {.text = "note", .text_b = "", .label = "id"})) ==
        "2 7|n\n3 8|m\n");
  CHECK(shown(csv(content, Texts::one, Gold::given, {.text = "3", .text_b = "", .label = "1"})) == "2 7|n\n3 8|m\n");
  CHECK(shown(csv(content, Texts::one, Gold::absent)) == "2 |hello\n3 |buy\n");
  // A column's name goes before its number.
  CHECK(shown(csv("2,1\na,b\n", Texts::one, Gold::given, {.text = "2", .text_b = "", .label = "1"})) == "2 b|a\n");
  const auto pairs = csv("text_b,text,label\ntwo,one,T\n", Texts::two);
  CHECK(pairs.at(0).text == "one");
  CHECK(pairs.at(0).second_text == "two");
  CHECK(csv("a,b,c\n1,2,3\n", Texts::two, Gold::given, {.text = "a", .text_b = "c", .label = "b"}).at(0).second_text ==
        "3");
}

TEST_CASE("csv: names in other case, unless a column has the very name") {
  CHECK(shown(csv("Text,LABEL\na,b\n")) == "2 b|a\n");
  CHECK(shown(csv("Text,text,Label\n1,2,3\n")) == "2 3|2\n");
  CHECK(shown(csv("Ärger,label\na,b\n", Texts::one, Gold::given, {.text = "ärger", .text_b = "", .label = ""})) ==
        "2 b|a\n");
  CHECK(contains(csv_message("Text,TEXT,label\na,b,c\n"), "x.csv:1: the columns 1 and 2 are both called 'text'"));
}

TEST_CASE("csv: semicolons, where the header has one and no comma, in every part") {
  CHECK(shown(csv("text;label\na, b;x\n\"c;d\";y\n")) == "2 x|a, b\n3 y|c;d\n");
  CHECK(shown(csv("\r\n\ntext;label\na;x\n")) == "4 x|a\n");
  CHECK(contains(csv_message("text;label\na, b;x\nc,d\n"), "x.csv:3: the number of columns is 1, not 2"));
  CHECK(csv_message("a;b,x\n", Texts::one, Gold::given, {}, Header::absent).empty());
  LabelledTextReader reader("x.csv", {}, Texts::one, Gold::given);
  CHECK(shown(read(reader, "text;label\na;x\n", {"x.csv", 1})) == "2 x|a\n");
  CHECK(shown(read(reader, "b, c;y\n", {"x.csv", 3})) == "3 y|b, c\n");
}

TEST_CASE("csv: empty lines are no rows, but of one column they are") {
  CHECK(shown(csv("\ntext,label\n\na,b\r\n\r\n\nc,d\n\n")) == "4 b|a\n7 d|c\n");
  CHECK(shown(csv(" \ntext;label\n\u00a0\na;b\n")) == "4 b|a\n");
  CHECK(shown(csv("text\na\n\nb\n", Texts::one, Gold::absent)) == "2 |a\n3 |\n4 |b\n");
}

TEST_CASE("csv: without a header the columns are label, text and second text, or have numbers") {
  CHECK(shown(csv("ham,\"a,b\"\nspam,c\n", Texts::one, Gold::given, {}, Header::absent)) == "1 ham|a,b\n2 spam|c\n");
  CHECK(shown(csv("a\nb\n", Texts::one, Gold::absent, {}, Header::absent)) == "1 |a\n2 |b\n");
  CHECK(csv("T,one,two\n", Texts::two, Gold::given, {}, Header::absent).at(0).second_text == "two");
  CHECK(shown(csv("x,hi,ham\ny,ho,spam\n", Texts::one, Gold::given, {.text = "", .text_b = "", .label = "3"},
                  Header::absent)) == "1 ham|hi\n2 spam|ho\n");
}

// As Python's csv module reads them.
TEST_CASE("csv: a quote within a field that does not begin with one is literal") {
  CHECK(shown(csv("label,text\nad,a 12\" record for sale\nno,see \"you\" soon\r\n")) ==
        "2 ad|a 12\" record for sale\n3 no|see \"you\" soon\n");
  CHECK(first_csv_row("spam,\"a, b c d\"\nx,y\n", false) == std::vector<std::string>{"spam", "a, b c d"});
  CHECK(first_csv_row("a;\"text_b\"\r\n1;2\n", true) == std::vector<std::string>{"a", "text_b"});
}

TEST_CASE("csv: other rows are errors with file and line") {
  CHECK(csv_message("text,label\na,b\n\"x\ny,c\nd,e\n") == "x.csv:3: the quote that opens column 1 is never closed");
  CHECK(csv_message("text,label\n\"a\nb\",c\nd\n") == "x.csv:4: the number of columns is 1, not 2");
  CHECK(csv_message("text,label\na,b,c\n") == "x.csv:2: the number of columns is 3, not 2");
  CHECK(csv_message("ham,a\nspam\n", Texts::one, Gold::given, {}, Header::absent) ==
        "x.csv:2: the number of columns is 1, not 2; a line is LABEL, comma, TEXT");
  CHECK(csv_message("text,label\nx,\"a\"b\n") ==
        "x.csv:2: column 2 has text after its closing quote; a quote within quotes is doubled");
  CHECK(csv_message("text,label\na,\n") == "x.csv:2: the label is empty");
  CHECK(contains(csv_message("text,label\na,\"x\ny\"\n"), "x.csv:2: the label"));
}

TEST_CASE("csv: columns that are not there, and names that two columns have") {
  CHECK(csv_message("sentence,gold\na,b\n") ==
        "x.csv:1: has no column 'label'; if this line is an example, give --no-header; there are: 'sentence', 'gold'; "
        "choose one with --label-column");
  CHECK(csv_message("text,label\na,b\n", Texts::two) ==
        "x.csv:1: has no column 'text_b'; there are: 'text', 'label'; choose one with --text-column");
  CHECK(csv_message("text,label\na,b\n", Texts::one, Gold::given, {.text = "review", .text_b = "", .label = ""}) ==
        "x.csv:1: has no column 'review'; there are: 'text', 'label'; choose one with --text-column");
  CHECK(csv_message("text,label\na,b\n", Texts::one, Gold::given, {.text = "3", .text_b = "", .label = ""}) ==
        "x.csv:1: has no column '3'; there are: 'text', 'label'; choose one with --text-column");
  CHECK(csv_message("text;id\na;b\n") ==
        "x.csv:1: has no column 'label'; there are: 'text', 'id'; choose one with --label-column");
  CHECK(csv_message("Sentence #,Word,Tag\nSentence: 1,Anna,B-PER\n") ==
        "x.csv:1: has no column 'label'; a table with a word in each row is for --task label; there are: 'Sentence #', "
        "'Word', 'Tag'; choose one with --label-column");
  CHECK(csv_message("text,label,text\na,b,c\n") ==
        "x.csv:1: the columns 1 and 3 are both called 'text'; give the number of the one to read, or rename one");
  CHECK(shown(csv("text,label,text\na,b,c\n", Texts::one, Gold::given, {.text = "3", .text_b = "", .label = ""})) ==
        "2 b|c\n");
  CHECK(shown(csv("id,text,label,id\n1,a,b,2\n")) == "2 b|a\n");  // nobody asks for those
  CHECK(csv_message("text,label\na,b\n", Texts::one, Gold::given, {.text = "label", .text_b = "", .label = ""}) ==
        "x.csv:1: --label-column and --text-column are both column 2; give each its own");
  CHECK(contains(csv_message("text,text_b,label\na,b,c\n"), "x.csv:1: has a second text, 'text_b', where one is"));
  CHECK(shown(csv("text,text_b,label\na,b,c\n", Texts::one, Gold::given,
                  {.text = "text", .text_b = "", .label = ""})) == "2 c|a\n");
}

TEST_CASE("tsv: a header and columns, where they are asked for") {
  CHECK(shown(tsv("text\tlabel\nhi\tham\n", {}, Header::present)) == "2 ham|hi\n");
  CHECK(shown(tsv("text\tlabel\nhi\tham\n", {}, Header::automatic)) == "1 text|label\n2 hi|ham\n");
  CHECK(shown(tsv("1\thi\tham\n2\tho\tspam\n", {.text = "2", .text_b = "", .label = "3"}, Header::automatic)) ==
        "1 ham|hi\n2 spam|ho\n");
  CHECK(shown(tsv("1\thi\tham\n", {.text = "2", .text_b = "", .label = ""}, Header::automatic, Gold::absent)) ==
        "1 |hi\n");
  CHECK(shown(tsv("id\ttext\n1\thi\n", {}, Header::present, Gold::absent)) == "2 |hi\n");
  CHECK(tsv_columns_message("a\tb\n", {.text = "text", .text_b = "", .label = ""}) ==
        "x.tsv:1: --text-column 'text': there is no header, so columns have numbers, 1 to 2; --header takes the first "
        "row for one");
  CHECK(tsv_columns_message("a\tb\n", {.text = "4", .text_b = "", .label = ""}) ==
        "x.tsv:1: has no column 4; there are 1 to 2; choose one with --text-column");
  CHECK(tsv_columns_message("a\tb\n", {.text = "0", .text_b = "", .label = ""})
            .starts_with("x.tsv:1: --text-column '0'"));
  CHECK(tsv_columns_message("a\tb\nc\td\te\n", {.text = "2", .text_b = "", .label = ""}) ==
        "x.tsv:2: the number of columns is 3, not 2");
  // Quotes that are not closed in their field: the field has a tab or a line break.
  const std::string quoted = "; if fields are in quotes, --format tsv:quote=double reads them";
  CHECK(tsv_columns_message("a\t\"he said \"\"no\"\"\tand left\"\n", {}) ==
        "x.tsv:1: the number of columns is 3, not 2" + quoted);
  CHECK(tsv_columns_message("a\t\"one\ntwo\"\n", {}) == "x.tsv:2: the number of columns is 1, not 2" + quoted);
  CHECK_FALSE(contains(tsv_columns_message("a\t\"one\"\nb\n", {}), quoted));
}

TEST_CASE("jsonl: texts and labels under other keys") {
  TableColumns columns({.text = "body", .text_b = "reply", .label = "gold"});
  const std::string line = R"({"body": "a", "reply": "b", "gold": 3, "text": "c"})";
  const auto pair = read_jsonl_texts(line, "x", Texts::two, Gold::given, columns).at(0);
  CHECK(pair.text == "a");
  CHECK(pair.second_text == "b");
  CHECK(pair.label == "3");
  TableColumns missing({.text = "sentence", .text_b = "", .label = ""});
  CHECK(message_of([&] { read_jsonl_texts(line, "x", Texts::one, Gold::given, missing); }) ==
        "x:1: has no key 'sentence'; there are: 'body', 'reply', 'gold', 'text'; choose one with --text-column");
  // Objects of other tasks.
  const auto message = [](const std::string& object) {
    TableColumns usual{TextColumns{}};
    return message_of([&] { read_jsonl_texts(object, "x", Texts::one, Gold::given, usual); });
  };
  CHECK(message(R"({"text": "a", "labels": ["b"]})") ==
        "x:1: has no key 'label'; lists like these are for --task multilabel; there are: 'text', 'labels'; choose one "
        "with --label-column");
  CHECK(contains(message(R"({"text": "a", "entities": []})"), "'label'; lists like these are for --task label; "));
  CHECK(contains(message(R"({"tokens": ["a"], "ner_tags": ["O"]})"), "'text'; lists like these are for --task label;"));
  CHECK_FALSE(contains(message(R"({"text": "a", "labels": "b"})"), "--task"));
}

TEST_CASE("labelled texts in parts: the header of the first part is that of all") {
  LabelledTextReader reader("x.csv", {}, Texts::one, Gold::absent);
  CHECK(read(reader, "n,text\n", {"x.csv", 1}).empty());
  CHECK(shown(read(reader, "1,a\n2,\"b\nc\"\n", {"x.csv", 2})) == "2 |a\n3 |b\nc\n");
  CHECK(shown(read(reader, "3,d\n", {"x.csv", 5})) == "5 |d\n");
  CHECK(message_of([&] { read(reader, "4\n", {"x.csv", 6}); }) == "x.csv:6: the number of columns is 1, not 2");
}

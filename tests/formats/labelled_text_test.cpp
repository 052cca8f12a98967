#include <doctest/doctest.h>

#include "formats/files.hpp"
#include "support/labelled.hpp"

using namespace heddle;
using namespace heddle::formats;
using namespace heddle::tests;
using namespace std::string_literals;

namespace {

std::string tsv_message(const std::string& content, Texts texts = Texts::one) {
  return message_of([&] { read_tsv(content, "x.tsv", texts, Gold::given); });
}

std::string jsonl_message(const std::string& content, Texts texts = Texts::one) {
  return message_of([&] { read_jsonl_texts(content, "x.jsonl", texts, Gold::given); });
}

}  // namespace

TEST_CASE("tsv: labels and texts, whatever the line ends") {
  for (const std::string content : {"ham\thello\nspam\tbuy now\n", "ham\thello\nspam\tbuy now",
                                    "ham\thello\r\nspam\tbuy now\r\n", "\xEF\xBB\xBFham\thello\nspam\tbuy now"}) {
    const auto examples = read_tsv(content, "x", Texts::one, Gold::given);
    REQUIRE(examples.size() == 2);
    CHECK(examples[0].label == "ham");
    CHECK(examples[0].text == "hello");
    CHECK_FALSE(examples[0].second_text);
    CHECK(examples[1].label == "spam");
    CHECK(examples[1].text == "buy now");
    CHECK(examples[1].line == 2);
  }
  CHECK(read_tsv("", "x", Texts::one, Gold::given).empty());
}

TEST_CASE("tsv: texts are any bytes, and may be empty") {
  const auto examples = read_tsv("a\t\nb\tx\0\xff y\n"s, "x", Texts::one, Gold::given);
  CHECK(examples.at(0).text.empty());
  CHECK(examples.at(1).text == "x\0\xff y"s);
}

TEST_CASE("tsv: pairs") {
  const auto examples = read_tsv("T\tone\ttwo\n", "x", Texts::two, Gold::given);
  CHECK(examples.at(0).text == "one");
  CHECK(examples.at(0).second_text == "two");
}

TEST_CASE("tsv: without labels every line is a text, or two") {
  const auto lines = read_tsv("a\tb\n\nc\n", "x", Texts::one, Gold::absent);
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].text == "a\tb");
  CHECK(lines[1].text.empty());
  CHECK(lines[2].label.empty());
  const auto pairs = read_tsv("a\tb\n", "x", Texts::two, Gold::absent);
  CHECK(pairs.at(0).text == "a");
  CHECK(pairs.at(0).second_text == "b");
}

TEST_CASE("pairs: a source and a target, in columns and keys of these names") {
  const auto pairs = read_tsv("a b\tc d\n", "x", Texts::pair, Gold::absent);
  CHECK(pairs.at(0).text == "a b");
  CHECK(pairs.at(0).second_text == "c d");
  const auto objects = read_jsonl_texts(R"({"target": "b", "source": "a"})", "x", Texts::pair, Gold::absent);
  CHECK(objects.at(0).text == "a");
  CHECK(objects.at(0).second_text == "b");
  LabelledTextReader reader("x.csv", {}, Texts::pair, Gold::absent);
  CHECK(read(reader, "target,source\nb,a\n", {"x.csv", 1}).at(0).text == "a");
  CHECK(
      contains(message_of([&] { read_tsv("a\n", "x", Texts::pair, Gold::absent); }), "a line is SOURCE, tab, TARGET"));
  CHECK(contains(message_of([&] { read_jsonl_texts("{}", "x", Texts::pair, Gold::absent); }), "has no key 'source'"));
}

TEST_CASE("tsv: empty lines are no examples, but of texts and pairs they count") {
  const auto labelled = read_tsv("\na\tx\n\r\n\nb\ty\n\n", "x", Texts::one, Gold::given);
  REQUIRE(labelled.size() == 2);
  CHECK(labelled[0].line == 2);
  CHECK(labelled[1].line == 5);
  CHECK(read_tsv(" \na\tx\n\t\n\u3000\r\nb\ty\n", "x", Texts::one, Gold::given).size() == 2);
  CHECK(read_tsv("one\n\ntwo\n", "x", Texts::one, Gold::absent).size() == 3);
  CHECK(contains(message_of([&] { read_tsv("a\tb\n\nc\td\n", "x.tsv", Texts::pair, Gold::absent); }),
                 "x.tsv:2: the number of columns is 1, not 2; a line is SOURCE, tab, TARGET"));
}

TEST_CASE("labelled texts: lines that end with carriage returns alone") {
  const auto shown = [](const std::string& content, const std::string& file) {
    std::string text;
    for (const data::LabelledText& example : read_labelled_texts(content, file, {}, Texts::one, Gold::given)) {
      text += concatenate(example.line, " ", example.label, "|", example.text, "\n");
    }
    return text;
  };
  const std::string two = "2 pos|good film\n3 neg|bad, film\n";
  CHECK(shown("label,text\rpos,good film\rneg,\"bad, film\"\r", "a.csv") == two);
  CHECK(shown("label,text\rpos,good film\rneg,\"bad, film\"", "a.csv") == two);
  CHECK(shown("label,text\rpos,good film\rneg,\"bad, film\"\r\n", "a.csv") == two);
  CHECK(shown("pos\tgood\rneg\tbad\r", "b.tsv") == "1 pos|good\n2 neg|bad\n");
  CHECK(shown("{\"label\": 1, \"text\": \"a\"}\r{\"label\": 2, \"text\": \"b\"}", "c.jsonl") == "1 1|a\n2 2|b\n");
  CHECK(read_tagged_sentences("a\tO\r\rb\tO\r", "b.conll", {}, Gold::given).size() == 2);
  CHECK(shown("a\tb\r\n", "b.tsv") == "1 a|b\n");
  CHECK(shown("a\tb\r", "b.tsv") == "1 a|b\n");
  CHECK(shown("a\tb\rc\nd\te\n", "b.tsv") == "1 a|b\rc\n2 d|e\n");
}

TEST_CASE("jsonl: a list of objects, on any number of lines, is read with the line of each") {
  const std::string list =
      " [\n  {\"text\": \"a, [b] \\\" }\", \"label\": \"x\"}, {\"text\": \"c\",\r\n \"label\": 2, \"more\": {\"n\":\n "
      "[1]}}\n]\n";
  for (const std::string file : {"a.json", "a.jsonl", "A.JSON"}) {
    const auto examples = read_labelled_texts(list, file, {}, Texts::one, Gold::given);
    REQUIRE(examples.size() == 2);
    CHECK(examples[0].text == "a, [b] \" }");
    CHECK(examples[0].line == 2);
    CHECK(examples[1].label == "2");
    CHECK(examples[1].line == 2);
    CHECK(examples[1].more == "\"more\": {\"n\":  [1]}");
  }
  const std::string good = R"({"text": "a", "label": "x"})";
  CHECK(read_jsonl_texts("[" + good + "," + good + "]", "x", Texts::one, Gold::given).size() == 2);
  CHECK(read_jsonl_texts("\xEF\xBB\xBF[]", "x", Texts::one, Gold::absent).empty());
  const std::string spans = R"({"question": "?", "context": "Ann", "answers": [{"text": "Ann", "answer_start": 0}]})";
  CHECK(read_span_questions("[" + spans + ",\n" + spans + "]", "x.json", {}, Gold::given).at(1).id == "2");
  CHECK(as_json_lines(list, "x") ==
        "{\"text\": \"a, [b] \\\" }\", \"label\": \"x\"}\n"
        "{\"text\": \"c\",   \"label\": 2, \"more\": {\"n\":  [1]}}\n");

  // A .json file may have an object per line, too.
  CHECK(read_span_questions("\n" + spans + "\n" + spans, "x.json", {}, Gold::given).at(1).id == "3");
  CHECK(holds_objects(good + "\n" + good));
  CHECK_FALSE(holds_objects("{\"data\": []}"));
  CHECK_FALSE(holds_objects("{\n\"text\": 1}"));
  CHECK(
      jsonl_message("\n{\n\"text\": \"a\"\n}\n") ==
      "x.jsonl:1: begins a JSON object of several lines, where each line is an object; jq -c . makes one line of each");
  // One object that holds the examples in a list, on a line or several.
  const std::string lines = "jq -c '.data[]' makes a line of each object in the list";
  CHECK(jsonl_message(R"({"version": "1", "data": [)" + good + "]}") ==
        "x.jsonl:1: has no key 'text'; there are: 'version', 'data'; " + lines);
  CHECK(jsonl_message("\xEF\xBB\xBF{\"data\": [\n" + good + ",\n" + good + "]}\n") ==
        "x.jsonl:1: begins a JSON object of several lines, where each line is an object; " + lines);
  CHECK(jsonl_message("{\"all data\": [" + good + "]}")
            .ends_with("; jq -c '.[][]' makes a line of each object in the list"));
  CHECK(jsonl_message("{\"data\": [1, 2]}").ends_with("'data'; choose one with --text-column"));
  CHECK(jsonl_message("{\"data\":\n[1, 2]}").ends_with("; jq -c . makes one line of each"));
  CHECK(jsonl_message("{\"text\": \"a\", \"notes\": [" + good + "]}").ends_with("choose one with --label-column"));
  CHECK(message_of([&] { read_span_questions("{\"rows\": [" + spans + "]}", "x.jsonl", {}, Gold::given); }) ==
        "x.jsonl:1: has no text \"context\"; jq -c '.rows[]' makes a line of each object in the list");
  CHECK(message_of([&] { read_span_questions("{\"data\": [" + spans + "]}", "x.json", {}, Gold::given); }) ==
        "x.json: article 1: is a question, where SQuAD has articles with paragraphs; jq -c '.data[]' makes a line of "
        "each, for --format jsonl");
  // pandas' to_json: by columns (its default), by rows, split; over several lines; and objects that are none of these.
  const std::string whole =
      "x.jsonl:1: holds a whole table (pandas' to_json), where each object is one row; write rows with "
      "df.to_json(FILE, orient=\"records\", lines=True)";
  for (const char* const table :
       {R"({"text": {"0": "a", "1": "b"}, "label": {"0": "x", "1": "y"}})", R"({"text": {"0": "a"}})",
        R"({"0": {"text": "a", "label": "x"}, "1": {"text": "b", "label": "y"}})",
        R"({"columns": ["text", "label"], "index": [0], "data": [["a", "x"]]})",
        "{\n  \"text\":{\n    \"0\":\"a\"\n  },\n  \"label\":{\n    \"0\":\"x\"\n  }\n}"}) {
    CAPTURE(table);
    CHECK(jsonl_message(table) == whole);
  }
  CHECK(jsonl_message(R"({"text": {"0": "a"}, "label": "x"})") == "x.jsonl:1: \"text\" is not a string");
  CHECK(jsonl_message(R"({"text": {}, "label": {}})") == "x.jsonl:1: \"text\" is not a string");
  CHECK(jsonl_message(R"({"text": {"a": "b"}})") == "x.jsonl:1: \"text\" is not a string");
  CHECK(jsonl_message("[" + good + ",\n {\"text\": NaN}]") ==
        "x.jsonl:2: not valid JSON, at byte 11 of the line: JSON has no NaN; null can stand for it");
  CHECK(jsonl_message("[" + good + ",\n  5, " + good + "]") == "x.jsonl:2: is not a JSON object");
  CHECK(jsonl_message("\n[" + good) == "x.jsonl:1: the JSON list that begins here has no end");
  CHECK(jsonl_message("[\"") == "x.jsonl:1: the JSON list that begins here has no end");
  CHECK(jsonl_message("[" + good + "]\n" + good) == "x.jsonl:2: text after the end of the JSON list");
}

TEST_CASE("labelled texts: the ending of a name decides, in either case") {
  CHECK(labelled_format("X.CSV", {}) == LabelledFormat::csv);
  CHECK(labelled_format("data/x.Jsonl", {}) == LabelledFormat::jsonl);
  CHECK(labelled_format("x.ndjson", {}) == LabelledFormat::jsonl);
  CHECK(labelled_format("x.csv.bak", {}) == LabelledFormat::tsv);
  CHECK(labelled_format("csv", {}) == LabelledFormat::tsv);
}

TEST_CASE("tsv: other lines are errors with file and line") {
  CHECK(tsv_message("a\tx\nno tab\n") == "x.tsv:2: the number of columns is 1, not 2; a line is LABEL, tab, TEXT");
  CHECK(contains(tsv_message("a\tx\ty\n"), "x.tsv:1: the number of columns is 3, not 2"));
  CHECK(contains(tsv_message("a\tx\n", Texts::two),
                 "the number of columns is 2, not 3; a line is LABEL, tab, TEXT, tab, TEXT"));
  CHECK(tsv_message("\tx\n") == "x.tsv:1: the label is empty");
  CHECK(contains(tsv_message("a\tx\n\xff\ty\n"), "x.tsv:2: the label '\\xff' is not UTF-8"));
  CHECK(contains(tsv_message("a\0b\ty\n"s), "x.tsv:1: the label"));
}

TEST_CASE("jsonl: labelled texts") {
  const auto examples = read_jsonl_texts(R"({"text": "h\u00e9llo\tx", "label": "ham", "id": 7}
{"label": 3, "text": ""}
{"label": 2.5, "text": "\u0000"}
{"label": true, "text": "x"})",
                                         "x", Texts::one, Gold::given);
  REQUIRE(examples.size() == 4);
  CHECK(examples[0].text == "h\u00e9llo\tx");
  CHECK(examples[0].label == "ham");
  CHECK(examples[1].label == "3");
  CHECK(examples[2].label == "2.5");
  CHECK(examples[2].text == "\0"s);
  CHECK(examples[3].label == "true");
  CHECK(examples[3].line == 4);
  CHECK(read_jsonl_texts(R"({"text": "a", "text_b": "b", "label": "x"})", "x", Texts::two, Gold::given)
            .at(0)
            .second_text == "b");
  CHECK(read_jsonl_texts(R"({"text": "a"})", "x", Texts::one, Gold::absent).at(0).label.empty());
  const auto spaced =
      read_jsonl_texts("\n{\"text\": \"a\"}\n \t\r\n{\"text\": \"b\"}\n\n", "x", Texts::one, Gold::absent);
  REQUIRE(spaced.size() == 2);
  CHECK(spaced[1].line == 4);
}

TEST_CASE("jsonl: a number is one label, however it is spelled, and a whole number stays as it is") {
  const std::vector<std::pair<std::string, std::string>> labels{
      {"2.50", "2.5"},   {"25e-1", "2.5"},     {"1", "1"},
      {"1.0", "1"},      {"1e0", "1"},         {"1E+2", "100"},
      {"-0.50", "-0.5"}, {"100000", "100000"}, {"100000.0", "100000"},
      {"1e5", "100000"}, {"1e300", "1e+300"},  {"12345678901234567890123", "12345678901234567890123"}};
  for (const auto& [spelling, label] : labels) {
    CAPTURE(spelling);
    const std::string line = R"({"text": "a", "label": )" + spelling + "}";
    CHECK(read_jsonl_texts(line, "x", Texts::one, Gold::given).at(0).label == label);
  }
}

TEST_CASE("jsonl: other lines are errors with file and line") {
  const std::string good = R"({"text": "a", "label": "x"})";
  CHECK(jsonl_message(good + "\n{\"text\": \"a\"}\n") ==
        "x.jsonl:2: has no key 'label'; there are: 'text'; choose one with --label-column");
  CHECK(jsonl_message("{\"label\": \"a\"}\n") ==
        "x.jsonl:1: has no key 'text'; there are: 'label'; choose one with --text-column");
  CHECK(jsonl_message("{\"text\": 1, \"label\": \"a\"}\n") == "x.jsonl:1: \"text\" is not a string");
  CHECK(jsonl_message("{\"text\": null, \"label\": \"a\"}\n") == "x.jsonl:1: \"text\" is not a string");
  CHECK(contains(jsonl_message(good + "\n{\"text\": \"a\", }\n"), "x.jsonl:2: not valid JSON, at byte 15"));
  CHECK(contains(jsonl_message("{\"text\": \"\xff\", \"label\": \"a\"}"), "x.jsonl:1: not valid JSON"));
  CHECK(contains(jsonl_message("{\"text\": \"\\ud800\", \"label\": \"a\"}"), "x.jsonl:1: not valid JSON"));
  CHECK(jsonl_message("{\"text\": \"a\", \"label\": null}") == "x.jsonl:1: the label is empty");
  CHECK(jsonl_message(good + "\n{\"text\": \"a\", \"label\": null}\n{\"text\": \"a\", \"label\": \"\"}") ==
        "x.jsonl:2: the label is empty (line 3 too); 2 of 3 records cannot be used");
  CHECK(
      contains(jsonl_message("{\"text\": \"a\", \"label\": [1]}"), "x.jsonl:1: \"label\" is not a string or a number"));
  CHECK(contains(jsonl_message("{\"text\": \"a\", \"label\": \"\\n\"}"), "x.jsonl:1: the label"));
  CHECK(contains(jsonl_message("{\"text\": \"a\", \"label\": 1e999}"), "x.jsonl:1: a number is too large"));
  CHECK(jsonl_message("\"text\"") == "x.jsonl:1: is not a JSON object");
  CHECK(jsonl_message("[\"a\"]") == "x.jsonl:1: is not a JSON object");
  CHECK(jsonl_message("{}") == "x.jsonl:1: has no key 'text'; it has none; choose one with --text-column");
  CHECK(contains(jsonl_message("[" + std::string(100000, '{') + "]"), "x.jsonl:1: the JSON list"));
  std::string many, first;
  for (int i = 0; i < 30; ++i) {
    many += concatenate(i == 0 ? "{" : ", ", "\"k", i, "\": ", i);
    if (i < 20) first += concatenate("'k", i, "', ");
  }
  CHECK(jsonl_message(many + "}") ==
        "x.jsonl:1: has no key 'text'; there are: " + first + "…; choose one with --text-column");
  CHECK(contains(jsonl_message(R"({"text": "a", "text_b": "b", "label": "x"})"), "a second text"));
  CHECK(contains(jsonl_message(good, Texts::two), "has no key 'text_b'"));
}

TEST_CASE("labelled input: the format by the ending, by force, and for other tasks") {
  const std::string jsonl = R"({"text": "a", "label": "x"})", tsv = "x\ta";
  const auto text = [](const std::string& content, const std::string& file, LabelledFormat format) {
    return read_labelled_texts(content, file, {.format = format, .columns = {}, .header = {}}, Texts::one, Gold::given)
        .at(0)
        .text;
  };
  CHECK(text(jsonl, "a.jsonl", LabelledFormat::automatic) == "a");
  CHECK(text(tsv, "a.tsv", LabelledFormat::automatic) == "a");
  CHECK(text(tsv, "SMSSpamCollection", LabelledFormat::automatic) == "a");
  CHECK(text(tsv, "a.json", LabelledFormat::tsv) == "a");
  CHECK(text(jsonl, "a.json", LabelledFormat::automatic) == "a");
  CHECK_THROWS_WITH_AS(
      text(jsonl, "a.json", LabelledFormat::squad),
      "a.json: is squad, which holds questions with spans, for --task span; this task needs labelled texts: "
      "tsv, csv, jsonl or fasttext (--format says which, where the name does not)",
      UsageError);
  CHECK_THROWS_WITH_AS(read_labelled_texts("", "a.tsv", {}, Texts::one, Gold::given), "a.tsv: has no example",
                       DataError);
  CHECK(read_labelled_texts("", "a.tsv", {}, Texts::one, Gold::absent).empty());
  CHECK(read_tagged_sentences("a O\n", "a.annotated", {}, Gold::given).size() == 1);
  CHECK_THROWS_AS(read_tagged_sentences("a O\n", "a.tsv", {}, Gold::given), UsageError);
  CHECK_THROWS_AS(read_span_questions("a O\n", "a.conllu", {}, Gold::given), UsageError);
}

TEST_CASE("tsv: the spam collection") {
  const std::string content = shared_content("sms-spam/SMSSpamCollection");
  if (content.empty()) return;
  const auto examples = read_tsv(content, "sms", Texts::one, Gold::given);
  CHECK(examples.size() == 5574);
  CHECK(std::ranges::count(examples, "spam", &data::LabelledText::label) == 747);
}

namespace {

std::vector<std::vector<std::string>> label_sets(const std::vector<data::LabelledText>& examples) {
  std::vector<std::vector<std::string>> sets;
  for (const data::LabelledText& example : examples) {
    CHECK(example.label.empty());
    sets.push_back(example.labels);
  }
  return sets;
}

TableColumns several(const std::string& label = "", const std::string& separator = ";") {
  return TableColumns({.text = label.empty() ? "" : "text", .text_b = {}, .label = label, .separator = separator});
}

using Sets = std::vector<std::vector<std::string>>;

}  // namespace

TEST_CASE("label sets: a column with separators, none perhaps, each label once") {
  const Sets expected{{"b", "a"}, {}, {"c d"}};
  CHECK(label_sets(read_tsv("b; a;b\tx\n\ty\n c d ;\tz\n", "x", Texts::one, Gold::given, several())) == expected);
  CHECK(label_sets(read_csv("text,labels\nx,b;a\ny,\nz,c d\n", "x", Texts::one, Gold::given, several())) == expected);
  CHECK(label_sets(read_csv("text,t\nx,b a\n", "x", Texts::one, Gold::given, several("t", " "))) == Sets{{"b", "a"}});
  CHECK(separator_text("comma") == ",");
  CHECK_THROWS_AS(separator_text("x"), UsageError);
}

TEST_CASE("label sets: columns of 0 and 1, by name, by number and without a header") {
  const std::string csv = "text,rude,threat\nx,1,0\ny,0,0\nz,1.0,True\n";
  const Sets expected{{"rude"}, {}, {"rude", "threat"}};
  CHECK(label_sets(read_csv(csv, "x", Texts::one, Gold::given, several("rude,threat"))) == expected);
  CHECK(label_sets(read_csv(csv, "x", Texts::one, Gold::given, several("2,3"))) == expected);
  TableColumns columns({.text = "3", .text_b = {}, .label = "1,2", .separator = ";"});
  CHECK(label_sets(read_tsv("1\t1\tx\n", "x", Texts::one, Gold::given, columns)) == Sets{{"1", "2"}});
  const auto message = [](const std::string& content, const std::string& label) {
    return message_of([&] { read_csv(content, "x.csv", Texts::one, Gold::given, several(label)); });
  };
  CHECK(message("text,a,b\nx,2,0\n", "a,b") == "x.csv:2: column 'a' holds '2', neither 0 nor 1");
  CHECK(message("text,a,b\nx,,0\n", "a,b") == "x.csv:2: column 'a' holds '', neither 0 nor 1");
  CHECK(message("text,a,b\nx,1,0\n", "a,c").starts_with("x.csv:1: has no column 'c'"));
  CHECK(message("text,a,b\nx,1,0\n", "a,a").find("--label-column and --label-column are both column 2") !=
        std::string::npos);
}

TEST_CASE("label sets: lists of JSON, texts with separators, and keys of 0 and 1") {
  const auto read = [](const std::string& line, const std::string& label = "") {
    return label_sets(read_jsonl_texts(line, "x.jsonl", Texts::one, Gold::given, several(label)));
  };
  CHECK(read(R"({"text": "x", "labels": ["a", 2, "a"]})") == Sets{{"a", "2"}});
  CHECK(read(R"({"text": "x", "labels": []})") == Sets{{}});
  CHECK(read(R"({"text": "x", "labels": "a; b"})") == Sets{{"a", "b"}});
  CHECK(read(R"({"text": "x", "rude": 1, "threat": false})", "rude,threat") == Sets{{"rude"}});
  CHECK_THROWS_AS(read(R"({"text": "x", "labels": 3})"), DataError);
  CHECK_THROWS_AS(read(R"({"text": "x", "labels": [[]]})"), DataError);
  CHECK_THROWS_AS(read(R"({"text": "x", "label": "a"})"), DataError);
  CHECK_THROWS_AS(read(R"({"text": "x", "rude": "yes", "threat": 0})", "rude,threat"), DataError);
}

TEST_CASE("fasttext: labels before the text, recognised by the first of them") {
  const auto read = [](const std::string& content, bool has_several, Gold gold = Gold::given) {
    LabelledInput input;
    if (has_several) input.columns.separator = ";";
    return read_labelled_texts(content, "x.txt", input, Texts::one, gold);
  };
  const std::string lines = "__label__a __label__b\tx y\n__label__a z __label__q\n";
  CHECK(label_sets(read(lines, true)) == Sets{{"a", "b"}, {"a"}});
  CHECK(read(lines, true).at(1).text == "z __label__q");
  CHECK(read("__label__a x\n__label__b y", false).at(1).label == "b");
  CHECK(read(lines, false, Gold::absent).at(0).text == "x y");
  CHECK(message_of([&] { read(lines, false); }) ==
        "x.txt:1: has 2 labels, where one is expected; --task multilabel learns any number of them");
  CHECK(message_of([&] { read("__label__ x\n", true); }) == "x.txt:1: the label is empty");
  CHECK(read("label\t__label__a\n", false).at(0).label == "label");
}

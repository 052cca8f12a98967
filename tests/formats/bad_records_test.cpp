// Records that cannot be used: named all at once, or left out and counted, by every reader.
#include "formats/labelled/bad_records.hpp"

#include <doctest/doctest.h>

#include <functional>

#include "formats/files.hpp"
#include "support/labelled.hpp"

using namespace heddle;
using namespace heddle::formats;
using namespace heddle::tests;

namespace {

std::vector<std::pair<Index, Index>> left_out(const BadRecords& bad) {
  std::vector<std::pair<Index, Index>> records;
  for (const BadRecord& record : bad.all()) records.emplace_back(record.number, record.line);
  return records;
}

using Left = std::vector<std::pair<Index, Index>>;

}  // namespace

TEST_CASE("bad records: one is named alone, several with their number, the same reason once") {
  BadRecords bad("x.tsv", BadRecordRule::error, "skip");
  bad.check();
  CHECK_FALSE(bad.note());
  CHECK(bad.attempt(1, [] {}));
  CHECK_FALSE(bad.attempt(2, [] { throw DataError("x.tsv:2: is empty"); }));
  CHECK(message_of([&] { bad.check(); }) == "x.tsv:2: is empty; skip leaves it out");
  bad.add(3, "x.tsv:3:7: is long: very");
  bad.add(4, "x.tsv:5: is empty");
  bad.add(6, "y:1: is empty");
  CHECK(message_of([&] { bad.check(); }) ==
        "x.tsv:2: is empty (line 5 too); line 3:7: is long: very; y:1: is empty; 4 of 5 records cannot be used; skip "
        "leaves them out");
  CHECK(left_out(bad) == Left{{1, 2}, {2, 3}, {3, 4}, {4, 6}});
  CHECK_THROWS_AS(bad.attempt(9, [] { throw NoRoom("x.tsv: too large"); }), NoRoom);
  CHECK_THROWS_AS(bad.attempt(9, [] { throw UsageError("no such column"); }), UsageError);
}

TEST_CASE("bad records: twenty are listed, all are counted; where all are bad, that is an error") {
  BadRecords bad("x", BadRecordRule::skip, "skip");
  for (Index line = 1; line <= 25; ++line) bad.add(line, concatenate("x:", line, ": reason ", line));
  const std::string message = message_of([&] { bad.check(); });
  CHECK(message.starts_with("x:1: reason 1; line 2: reason 2; "));
  CHECK(message.ends_with("; line 20: reason 20; 25 of 25 records cannot be used"));
  bad.add_good();
  bad.check();
  CHECK(bad.note() == "left out 25 of 26 records: x:1: reason 1; line 2: reason 2; line 3: reason 3; …");
  CHECK(bad.attempt_again(26, [] {}));
  CHECK(bad.total() == 26);
  CHECK_FALSE(bad.attempt_again(26, [] { throw DataError("x:26: has no tokens"); }));
  CHECK(bad.total() == 26);
  CHECK_THROWS_AS(bad.check(), DataError);
}

TEST_CASE("bad records: a note names three reasons, and says that there are more where there are") {
  for (Index reasons = 1; reasons <= 5; ++reasons) {
    BadRecords bad("x", BadRecordRule::skip, "skip");
    bad.add_good();
    for (Index line = 1; line <= reasons; ++line) {
      bad.add(line, concatenate("x:", line, ": reason ", line));
      bad.add(10 * line, concatenate("x:", 10 * line, ": reason ", line));
    }
    CHECK(bad.note()->ends_with("; …") == (reasons > 3));
    CHECK((bad.note()->find("reason 3") != std::string::npos) == (reasons >= 3));
    CHECK(bad.note()->find("reason 4") == std::string::npos);
  }
}

TEST_CASE("bad records: every reader leaves out the bad ones and reads the others") {
  const auto read = [](const auto& reader) {
    BadRecords bad("x", BadRecordRule::skip);
    const auto examples = reader(bad);
    bad.check();
    CHECK(examples.size() == 2);
    return left_out(bad);
  };
  TableColumns columns;
  const auto tsv = [&](BadRecords& bad) {
    return read_tsv("a\tx\nno tab\n\ty\nb\tz\nc\td\te\n\xff\tf\n", "x", Texts::one, Gold::given, columns, bad);
  };
  CHECK(read(tsv) == Left{{1, 2}, {2, 3}, {4, 5}, {5, 6}});
  const auto pairs = [](BadRecords& bad) {
    TableColumns of_pairs;
    return read_tsv("a\tx\n\nb\tz\n", "x", Texts::pair, Gold::absent, of_pairs, bad);
  };
  CHECK(read(pairs) == Left{{1, 2}});
  // A quote that is never closed costs the line on which it opens; of a quoted field with more text, the line where it
  // ends.
  const auto csv = [](BadRecords& bad) {
    TableColumns of_csv;
    return read_csv("text,label\na,x\n\"b\nc\"d,y\n\"e\ng,z\n", "x", Texts::one, Gold::given, of_csv, bad);
  };
  CHECK(read(csv) == Left{{1, 3}, {2, 5}});
  // Reading goes on after the line where the quote opens, also where quotes in pairs follow on later lines.
  const auto paired = [](BadRecords& bad) {
    TableColumns of_csv;
    return read_csv("text,label\n\"b\nc \"\"d\"\",x\n\ne,f,g\nh,y\n", "x", Texts::one, Gold::given, of_csv, bad);
  };
  CHECK(read(paired) == Left{{0, 2}, {2, 5}});
  const auto jsonl = [](BadRecords& bad) {
    TableColumns keys;
    return read_jsonl_texts(
        "{\"text\": \"a\", \"label\": 1}\n{\"text\": NaN}\n\n{\"text\": \"\\ud83d\", \"label\": 1}\n{\"text\": 5, "
        "\"label\": 1}\n[]\n{\"text\": \"b\", \"label\": \"\"}\n{\"text\": \"c\", \"label\": 2}\n{\"label\": 3}\n",
        "x", Texts::one, Gold::given, keys, bad);
  };
  CHECK(read(jsonl) == Left{{1, 2}, {2, 4}, {3, 5}, {4, 6}, {5, 7}, {7, 9}});
  const auto list = [](BadRecords& bad) {
    TableColumns keys;
    return read_jsonl_texts("[{\"text\": \"a\", \"label\": 1},\n{\"text\": NaN}, 7, {\"text\": \"b\", \"label\": 2}]",
                            "x", Texts::one, Gold::given, keys, bad);
  };
  CHECK(read(list) == Left{{1, 2}, {2, 2}});
  const auto conll = [](BadRecords& bad) {
    return read_conll("a O\nb O\n\nc O\nd\ne O\n\n-DOCSTART- O\nf O\n\ng \n", "x", "", Gold::given, "", bad);
  };
  CHECK(read(conll) == Left{{1, 4}, {3, 11}});
  const std::string word = "\ta\t_\tX\t_\t_\t_\t_\t_\t_\n";
  const auto conllu = [&](BadRecords& bad) {
    return read_conllu("# one\n1" + word + "\n# two\n2" + word + "1" + word + "\n1" + word, "x", "", Gold::given, "",
                       bad);
  };
  CHECK(read(conllu) == Left{{1, 5}});
  const std::string good = R"("answers": [{"text": "Ann", "answer_start": 0}]})",
                    wrong = R"("answers": [{"text": "Ann", "answer_start": 4}]})",
                    empty = R"("answers": [{"text": "", "answer_start": 0}]})";
  const std::string asked = R"({"id": 1, "question": "?", )", line = R"({"question": "?", "context": "Ann", )";
  const auto squad = [&](BadRecords& bad) {
    return read_squad(R"({"data": [{"paragraphs": [{"context": "Ann", "qas": [)" + asked + good + "," + asked + wrong +
                          "," + asked + good + "," + asked + empty + "]}]}]}",
                      "x", Gold::given, bad);
  };
  CHECK(read(squad) == Left{{1, 0}, {3, 0}});
  const auto spans = [&](BadRecords& bad) {
    return read_jsonl_spans(line + wrong + "\n" + line + good + "\n\n" + line + good, "x", Gold::given, bad);
  };
  CHECK(read(spans) == Left{{0, 1}});
}

TEST_CASE("bad records: what is wrong with the file is an error all the same") {
  const auto skipping = [](const std::string& content, const LabelledInput& input, Texts texts) {
    return message_of([&] {
      BadRecords bad("x.csv", BadRecordRule::skip);
      LabelledTextReader("x.csv", input, texts, Gold::given).read(content, "x.csv", bad);
      bad.check();
    });
  };
  CHECK(contains(skipping("a,b\nc,d\n", {}, Texts::one), "x.csv:1: has no column 'label'"));
  CHECK(skipping("", {}, Texts::one) == "x.csv: has no example");
  CHECK(skipping("text,label\na\nb\n", {}, Texts::one) ==
        "x.csv:2: the number of columns is 1, not 2 (line 3 too); 2 of 2 records cannot be used");
}

TEST_CASE("columns: of pairs one option names both") {
  LabelledInput input;
  const auto texts = [&](const std::string& names) {
    input.columns.text = names;
    const auto example = read_labelled_texts("p,h,label\na,b,x\n", "x.csv", input, Texts::two, Gold::given).at(0);
    return example.text + example.second_text.value_or("");
  };
  CHECK(texts("p,h") == "ab");
  CHECK(texts("h,p") == "ba");
  CHECK(texts("2,1") == "ba");
  CHECK_THROWS_AS(texts("p,"), UsageError);
  CHECK_THROWS_AS(texts(",p"), UsageError);
  CHECK(contains(message_of([&] { texts("p"); }), "has no column 'text_b'"));
  input.columns.text = "a, b";
  CHECK(read_labelled_texts("\"a, b\",label\nc,x\n", "x.csv", input, Texts::one, Gold::given).at(0).text == "c");
}

// Labelled tables from outside: CSV and TSV with headers, columns by name and number, in finetune and classify.
#include "tools/labelled_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace columns_tests {

namespace {

// The labelled texts in other forms, and a model that learned them from TSV.
struct Tables : Labelled {
  Tables() {
    begin_with("tables", [&] { write(); });
  }

 private:
  void write() const {
    std::string csv = "id,gold,sentence\r\n", plain = "text\n", tsv = "sentence\tgold\n", jsonl, headless;
    int number = 0;
    for (const std::string& line : lines_of(read_file(path("texts.tsv")))) {
      const std::size_t tab = line.find('\t');
      const std::string label = line.substr(0, tab), text = line.substr(tab + 1);
      csv += std::to_string(++number) + "," + label + ",\"" + text + "\"\r\n";
      plain += "\"" + text + "\"\n";
      tsv += text + "\t" + label + "\n";
      headless += text + "," + label + "\n";
      jsonl += "{\"body\": \"" + text + "\", \"gold\": \"" + label + "\"}\n";
    }
    write_file(path("texts.csv"), csv);
    write_file(path("plain.csv"), plain);
    write_file(path("header.tsv"), tsv);
    write_file(path("headless.csv"), headless);
    write_file(path("texts.jsonl"), jsonl);
    must("finetune --from model.h5 --train texts.tsv -o tuned.h5" + quick);
  }
};

}  // namespace

TEST_CASE("columns: every form of one data set trains the same model") {
  const Tables corpus;
  const auto expected = corpus.weights("tuned.h5");
  for (const std::string form :
       {"texts.csv --text-column sentence --label-column gold", "texts.csv --text-column 3 --label-column 2",
        "header.tsv --header --text-column sentence --label-column gold",
        "headless.csv --no-header --text-column 1 --label-column 2",
        "texts.jsonl --text-column body --label-column gold"}) {
    CAPTURE(form);
    corpus.must("finetune --from model.h5 -o other.h5" + quick + "--train " + form);
    CHECK(corpus.weights("other.h5") == expected);
  }
}

TEST_CASE("columns: classify reads and evaluates tables, a line for each row that is no header") {
  const Tables corpus;
  const std::string expected = corpus.must("classify tuned.h5 texts.txt").out;
  CHECK(lines_in(expected) == 120);
  for (const std::string form :
       {"plain.csv", "texts.csv --text-column sentence", "header.tsv --header --text-column sentence",
        "headless.csv --no-header --text-column 1", "- --format csv < plain.csv"}) {
    CAPTURE(form);
    CHECK(corpus.must("classify tuned.h5 " + form).out == expected);
  }
  const json report = corpus.evaluated("classify tuned.h5 texts.tsv");
  CHECK(corpus.evaluated("classify tuned.h5 texts.csv --text-column sentence --label-column gold") == report);
  CHECK(corpus.evaluated("classify tuned.h5 header.tsv --header --text-column 1 --label-column 2") == report);
}

TEST_CASE("columns: rows with line breaks stay one, and rows before a bad one are answered") {
  const Tables corpus;
  write_file(corpus.path("rows.csv"), "text,n\n\"the cat\nsees\",1\nmy queen,2\nmy king\n");
  const Outcome outcome = corpus.run("classify tuned.h5 rows.csv --jsonl");
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.err, "rows.csv:5: the number of columns is 1, not 2"));
  const auto answers = json_lines(outcome.out);
  REQUIRE(answers.size() == 2);
  CHECK(answers[0]["text"] == "the cat\nsees");
  CHECK(answers[1]["text"] == "my queen");
}

TEST_CASE("columns: what is not there is refused, with what is") {
  const Tables corpus;
  const std::string tune = "finetune --from model.h5 -o x.h5 --train ";
  write_file(corpus.path("open.csv"), "text,label\na,b\n\"c,d\n");
  write_file(corpus.path("twice.csv"), "text,label,text\na,b,c\n");
  for (const Refusal& refusal : std::vector<Refusal>{
           {tune + "texts.csv",
            "texts.csv:1: has no column 'label'; if this line is an example, give --no-header; there are: 'id', "
            "'gold', "
            "'sentence'; choose one with --label-column",
            1},
           {tune + "texts.csv --label-column gold --text-column 4", "texts.csv:1: has no column '4'", 1},
           {tune + "texts.tsv --text-column sentence", "there is no header, so columns have numbers, 1 to 2", 1},
           {tune + "texts.jsonl --label-column gold", "texts.jsonl:1: has no key 'text'; there are: 'body', 'gold'", 1},
           {tune + "texts.jsonl --label-column gold --text-column 1",
            "texts.jsonl:1: has no key '1'; columns of JSONL are keys, not numbers; there are: 'body', 'gold'", 1},
           {"printf 'id\\tgold\\ttext\\n' > three.tsv; " + tune + "three.tsv",
            "three.tsv:1: the number of columns is 3, not 2; a line is LABEL, tab, TEXT; for tables with other columns "
            "there are --header and --text-column",
            1},
           {tune + "texts.jsonl --header", "--header and --no-header are for CSV and TSV", 2},
           {tune + "open.csv",
            "open.csv:3: the quote that opens column 1 is never closed; --bad-records skip leaves it out", 1},
           {tune + "twice.csv", "twice.csv:1: the columns 1 and 3 are both called 'text'", 1},
           {tune + "texts.tsv --text-column 1,2", "texts.tsv:1: --label-column and --text-column are both column 1", 1},
           {tune + "texts.tsv --text-column 2,", "--text-column: '2,' lacks a name; write A,B", 2},
           {tune + "tags.conll --task label --text-column word", "--text-column: 'word' is not a column of the file",
            2},
           {tune + "tags.conll --task label --header", "--header: is for labelled texts", 2},
           {"classify tuned.h5 plain.csv --label-column x", "--label-column has no effect without --evaluate", 2},
           {tune + "texts.csv --task label", "texts.csv:1: has no column 'word'; there are: id, gold", 1}}) {
    corpus.refused(refusal);
  }
}

}  // namespace columns_tests

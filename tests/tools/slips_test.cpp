// Warnings of finetune and classify where hands slip: each once, and none where nothing is wrong.
#include "tools/labelled_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace slips_tests {

namespace {

std::ptrdiff_t warnings(const Outcome& outcome, const std::string& what) {
  std::ptrdiff_t count = 0;
  for (const std::string& line : lines_of(outcome.err)) {
    count += contains(line, "warning: ") && contains(line, what) ? 1 : 0;
  }
  return count;
}

std::string numbered(int count, const std::string& before, const std::string& after) {
  std::string lines;
  for (int i = 0; i < count; ++i) lines += before + std::to_string(i) + after + "\n";
  return lines;
}

const std::string brief = "finetune -q --from model.h5 --steps 1 -o x.h5 ";

}  // namespace

TEST_CASE("slips: swapped columns, copies in both files, few examples to choose by") {
  const Labelled corpus;
  write_file(corpus.path("swapped.tsv"), numbered(40, "the cat ", "\tanimal"));
  CHECK(warnings(corpus.must(brief + "--train swapped.tsv"),
                 "swapped.tsv: 40 classes for 40 examples, such as 'the cat 0'") == 1);
  write_file(corpus.path("train.tsv"), numbered(200, "animal\tcat ", "") + numbered(200, "royal\tking ", ""));
  write_file(corpus.path("valid.tsv"), numbered(150, "animal\tdog ", "") + numbered(150, "royal\tqueen ", ""));
  CHECK(warnings(corpus.must(brief + "--train train.tsv --valid valid.tsv"), "") == 0);
  write_file(corpus.path("copies.tsv"), numbered(150, "animal\tdog ", "") + "royal\t king 7 \nanimal\tcat 9\n" +
                                            numbered(100, "royal\tqueen ", ""));
  const Outcome copies = corpus.must(brief + "--train train.tsv --valid copies.tsv");
  CHECK(warnings(copies, "copies.tsv: 2 of 252 examples are in the training data too; their results are too good") ==
        1);
  CHECK(warnings(copies, "") == 1);
  write_file(corpus.path("few.tsv"), numbered(50, "animal\tdog ", "") + numbered(50, "royal\tqueen ", ""));
  CHECK(warnings(corpus.must(brief + "--train train.tsv --valid few.tsv"),
                 "few.tsv: 100 examples to choose by: chance alone moves an accuracy by up to 0.0980") == 1);
  // For numbers, a correlation moves, by 1.96 over the square root of 49.
  write_file(corpus.path("numbers.tsv"), numbered(26, "1\tcat ", "") + numbered(26, "2\tking ", ""));
  CHECK(warnings(corpus.must("finetune -q --arch bag --task regress --steps 1 -o n.h5 --train numbers.tsv --valid "
                             "numbers.tsv"),
                 "numbers.tsv: 52 examples to choose by: chance alone moves a correlation by up to 0.28") == 1);
  // Held-out copies stay together, so that none is on both sides.
  CHECK(warnings(corpus.must(brief + "--train texts.tsv --valid 50%"), "training data too") == 0);
  write_file(corpus.path("once.tsv"), numbered(30, "animal\tcat ", "") + "royal\tking\n");
  CHECK(warnings(corpus.must(brief + "--train once.tsv"), "only one example of royal") == 1);
}

TEST_CASE(
    "slips: columns that are swapped in the validation or whose texts cannot be labels, labels alike but for case") {
  const Labelled corpus;
  const std::string advice = "if it is a text, the columns are swapped: --label-column and --text-column name them";
  write_file(corpus.path("swapped.tsv"), numbered(20, "the cat sees a dog ", "\tanimal"));
  const Outcome unknown = corpus.refused(brief + "--train texts.tsv --valid swapped.tsv", 1, advice);
  CHECK(contains(unknown.err, "swapped.tsv:1: unknown label 'the cat sees a dog 0'; the model has animal, royal"));
  write_file(corpus.path("control.csv"), "label,text\nthe cat \x01 sees a dog,animal\n");
  CHECK(contains(corpus.refused(brief + "--train control.csv", 1, advice).err,
                 "control.csv:2: the label 'the cat \\x01 sees a dog' is not UTF-8"));
  write_file(corpus.path("case.tsv"), numbered(20, "animal\tcat ", "") + numbered(20, "Animal\tdog ", ""));
  CHECK(warnings(corpus.must(brief + "--train case.tsv"),
                 "case.tsv: the labels 'Animal' and 'animal' differ in case alone") == 1);
  CHECK(warnings(corpus.must(brief + "--restart --train case.tsv"), "") == 1);
  CHECK(warnings(corpus.must("convert case.tsv --split 80,0,20 -o parts"), "differ in case alone") == 1);
}

TEST_CASE("slips: of sentences, the words are what there is to choose by") {
  const Labelled corpus;
  const std::string tag = "finetune -q --restart --arch bag --task label --train tags.conll --steps 1 -o x.h5 ";
  std::string sentences;
  for (int i = 0; i < 66; ++i) sentences += "the\tDET\ncow" + std::to_string(i) + "\tNOUN\nsees\tVERB\n\n";
  write_file(corpus.path("few.conll"), sentences);
  write_file(corpus.path("enough.conll"), sentences + "a\tDET\ncow\tNOUN\n");
  CHECK(warnings(corpus.must(tag + "--valid few.conll"), "few.conll: 198 examples to choose by") == 1);
  CHECK(warnings(corpus.must(tag + "--valid enough.conll"), "") == 0);
}

TEST_CASE("labels: blanks around them and around names of columns do not count, in every format") {
  const Labelled corpus;
  write_file(corpus.path("spaced.tsv"),
             numbered(20, " animal\tcat ", "") + numbered(20, "animal \tcat ", "") + numbered(20, "royal\tking ", ""));
  write_file(corpus.path("spaced.csv"), "text, label\n" + numbered(20, "cat ", ", animal") +
                                            numbered(20, "cat ", ",animal ") + numbered(20, "king ", ",royal"));
  write_file(corpus.path("spaced.jsonl"), numbered(20, R"({"label": "animal ", "text": "cat )", "\"}") +
                                              numbered(20, R"({"label": "royal", "text": "king )", "\"}"));
  for (const char* const file : {"spaced.tsv", "spaced.csv", "spaced.jsonl"}) {
    CAPTURE(file);
    corpus.must("finetune -q --restart --arch bag --task classify -o x.h5 --train " + std::string(file));
    CHECK(parse_json(corpus.must("inspect x.h5 --json").out)["task"]["labels"] == json{"animal", "royal"});
    CHECK(corpus.evaluated("classify x.h5 " + std::string(file))["accuracy"] == 1.0);
  }
  write_file(corpus.path("blank.tsv"), "animal\tcat\n  \tking\n");
  corpus.refused(brief + "--train blank.tsv", 1, "blank.tsv:2: the label is empty");
}

TEST_CASE("slips: sentences as words, and labelled files without --evaluate") {
  const Labelled corpus;
  write_file(corpus.path("long.conll"), "the cat sees a dog\tDET\nmy\tNOUN\n");
  CHECK(warnings(corpus.must(brief + "--task label --train long.conll"),
                 "long.conll:1: 'the cat sees a dog' is taken as one word") == 1);
  corpus.must("finetune -q --from model.h5 --task label --train tags.conll --steps 1 -o t.h5");
  write_file(corpus.path("sentences"), "the cat sees a dog\n\nmy queen sees a cat\n");
  CHECK(warnings(corpus.must("classify t.h5 sentences"), "sentences:1: 'the' is taken as the word") == 1);
  CHECK(warnings(corpus.must("classify t.h5 tags.conll"), "tags.conll:1: the input has labels; --evaluate") == 1);
  CHECK(warnings(corpus.must("cut -f1 tags.conll | classify t.h5"), "") == 0);

  corpus.must("finetune -q --from model.h5 --train texts.tsv --steps 1 -o c.h5");
  write_file(corpus.path("x.csv"), "label,text\nanimal,the cat\n");
  write_file(corpus.path("x.jsonl"), "{\"text\": \"the cat\", \"label\": \"animal\"}\n");
  write_file(corpus.path("quiet.jsonl"), "{\"text\": \"\\\"label\\\": the cat\", \"kind\": \"label\"}\n");
  for (const std::string name : {"texts.tsv", "x.csv", "x.jsonl"}) {
    CAPTURE(name);
    CHECK(warnings(corpus.must("classify c.h5 " + name), name + ":1: the input has labels") == 1);
  }
  for (const std::string name : {"texts.txt", "quiet.jsonl"}) {
    CHECK(warnings(corpus.must("classify c.h5 " + name), "") == 0);
  }
}

TEST_CASE("slips: names of columns read as an example, and texts without a word") {
  const Labelled corpus;
  write_file(corpus.path("named.tsv"),
             "Label\tText\n" + numbered(20, "animal\tcat ", "") + numbered(20, "royal\tking ", ""));
  const std::string says = "named.tsv:1: 'Label' and 'Text' look like names of columns, and are read as an example";
  CHECK(warnings(corpus.must(brief + "--train named.tsv"), says) == 1);
  CHECK(warnings(corpus.must(brief + "--restart --train named.tsv --header"), "") == 0);
  CHECK(contains(corpus.run("convert named.tsv --split 80,10,10 -o parts").err, says));
  CHECK(warnings(corpus.must("convert named.tsv --header --split 80,10,10 -o parts"), "") == 0);

  write_file(corpus.path("empty.tsv"),
             numbered(20, "animal\tcat ", "") + "royal\t\nroyal\t  \n" + numbered(20, "royal\tking ", ""));
  const std::string empty = "empty.tsv:21: the text is empty, as in 2 of 42 examples";
  CHECK(warnings(corpus.must(brief + "--restart --train empty.tsv"), empty) == 1);
  CHECK(warnings(corpus.must("convert empty.tsv --split 80,10,10 -o halves"), empty) == 1);
}

TEST_CASE("slips: classes without an example to judge by") {
  const Labelled corpus;
  const std::string rest = numbered(200, "royal\tking ", "") + numbered(200, "animal\tcat ", "");
  write_file(corpus.path("train.tsv"), rest + numbered(20, "plant\trose ", ""));
  write_file(corpus.path("valid.tsv"), numbered(200, "royal\tqueen ", "") + numbered(200, "animal\tdog ", ""));
  write_file(corpus.path("whole.tsv"), read_file(corpus.path("valid.tsv")) + "plant\ttulip\n");
  CHECK(warnings(corpus.must(brief + "--train train.tsv --valid valid.tsv"),
                 "valid.tsv: has no example of 'plant' for validation") == 1);
  CHECK(warnings(corpus.must(brief + "--restart --train train.tsv --valid whole.tsv"), "") == 0);
}

TEST_CASE("slips: a model is judged, or its weight is found, by what it was trained on") {
  const Labelled corpus;
  corpus.must("head -n 80 texts.tsv > train.tsv && tail -n 40 texts.tsv > test.tsv && cp train.tsv same.tsv");
  const std::string bag = "finetune -q --arch bag --task classify --train ";
  corpus.must(bag + "train.tsv -o a.h5 && " + bag + "test.tsv -o b.h5");
  CHECK(warnings(corpus.must("classify a.h5 same.tsv --evaluate"), "same.tsv: a.h5 was trained on this file") == 1);
  CHECK(warnings(corpus.must("classify a.h5,b.h5 test.tsv --evaluate"), "test.tsv: b.h5 was trained on") == 1);
  CHECK(warnings(corpus.must("classify a.h5 test.tsv --evaluate"), "was trained on") == 0);
  CHECK(warnings(corpus.must("finetune --ensemble a.h5,b.h5 --valid train.tsv -o ab.h5"),
                 "train.tsv: a.h5 was trained on this file") == 1);
}

TEST_CASE("slips: some of the texts by which a model is judged are those it was trained on, in another file") {
  const Labelled corpus;
  const std::string bag = "finetune -q --arch bag --task classify --train ";
  write_file(corpus.path("train.tsv"), numbered(60, "animal\tcat ", "") + numbered(60, "royal\tking ", ""));
  write_file(corpus.path("test.tsv"),
             numbered(30, "animal\tdog ", "") + numbered(30, "royal\tqueen ", "") + "royal\tking 3 \nanimal\tking 4\n");
  corpus.must(bag + "train.tsv -o a.h5");
  CHECK(warnings(corpus.must("classify a.h5 test.tsv --evaluate"),
                 "test.tsv: 2 of 62 examples are in the training data of a.h5; on these its results are too good") ==
        1);
  CHECK(warnings(corpus.must("head -n 60 test.tsv | classify a.h5 --evaluate"), "") == 0);
  corpus.must("tac train.tsv > reversed.tsv");
  CHECK(warnings(corpus.must("classify a.h5 reversed.tsv --evaluate"), "reversed.tsv: 120 of 120 examples") == 1);
  // Texts of a held-out fold are unknown to the model; those of another fold are known.
  corpus.must(bag + "train.tsv --folds 4 --fold 2 -o fold.h5");
  CHECK(warnings(corpus.must("classify fold.h5 train.tsv --evaluate --folds 4 --fold 2"), "") == 0);
  CHECK(warnings(corpus.must("classify fold.h5 train.tsv --evaluate --folds 4 --fold 1"), "30 of 30 examples") == 1);
  // Words with their tags, too.
  corpus.must("finetune -q --arch bag --task label --train tags.conll -o tags.h5");
  write_file(corpus.path("others.conll"), "a\tDET\ncow\tNOUN\nsings\tVERB\n\n" + read_file(corpus.path("tags.conll")));
  CHECK(warnings(corpus.must("classify tags.h5 others.conll --evaluate"), " in the training data of tags.h5") == 1);
  CHECK(warnings(corpus.must("head -n 4 others.conll | classify tags.h5 --evaluate"), "training data") == 0);
}

TEST_CASE("slips: of many training texts a model keeps a part, from which the copies are estimated") {
  const Labelled corpus;
  std::string many;
  for (int i = 0; i < 140'000; ++i) many += (i % 2 == 0 ? "a\t" : "b\t") + std::to_string(i) + "\n";
  write_file(corpus.path("many.tsv"), many);
  corpus.must("finetune -q --arch bag:width=1,buckets=1024 --task classify --train many.tsv --steps 1 -o m.h5");
  CHECK(std::filesystem::file_size(corpus.path("m.h5")) < 8'000'000);
  write_file(corpus.path("half.tsv"), numbered(1000, "a\t", "") + numbered(1000, "b\tnew ", ""));
  const Outcome outcome = corpus.must("classify m.h5 half.tsv --evaluate");
  const std::string begin = "half.tsv: about ";
  const std::size_t at = outcome.err.find(begin);
  REQUIRE(at != outcome.err.npos);
  CHECK(std::abs(std::stoi(outcome.err.substr(at + begin.size())) - 1000) < 150);
}

TEST_CASE("slips: a header in the validation or the test, labels of a letter, one label in the test") {
  const Labelled corpus;
  corpus.must("finetune -q --arch bag --task classify --train texts.tsv -o a.h5");
  write_file(corpus.path("head.tsv"), "Label\tText\nanimal\ta cow\nroyal\ta duke\n");
  corpus.refused("classify a.h5 head.tsv --evaluate", 1, "; --header takes line 1 as names of columns");
  corpus.refused(brief + "--train texts.tsv --valid head.tsv", 1, "; --header takes line 1 as names of columns");
  write_file(corpus.path("one.tsv"), "animal\ta cow\nanimal\ta horse\n");
  CHECK(warnings(corpus.must("classify a.h5 one.tsv --evaluate"),
                 "one.tsv: the 2 examples all have the label 'animal'; models are judged by all labels") == 1);
  write_file(corpus.path("digits.tsv"), "0\ta cow\n1\ta duke\n");
  corpus.must("finetune -q --arch bag --task classify --train digits.tsv -o d.h5");
  write_file(corpus.path("other.tsv"), "2\ta cow\n");
  const Outcome other = corpus.refused("classify d.h5 other.tsv --evaluate", 1, "unknown label '2'");
  CHECK_FALSE(contains(other.err, "did you mean"));
}

TEST_CASE("slips: JSON and CSV from a pipe, whose format no name tells") {
  const Labelled corpus;
  corpus.must("finetune -q --arch bag --task classify --train texts.tsv -o c.h5");
  write_file(corpus.path("x.jsonl"), "{\"text\": \"the cat\", \"id\": 7}\n");
  write_file(corpus.path("x.csv"), "id;Text\n7;the cat\n");
  const std::string json_note = "standard input:1: looks like JSON, all of it is the text; --format jsonl reads it";
  CHECK(warnings(corpus.must("cat x.jsonl | classify c.h5"), json_note) == 1);
  CHECK(warnings(corpus.must("cat x.csv | classify c.h5"), "standard input:1: looks like the header of CSV") == 1);
  CHECK(warnings(corpus.must("cat x.jsonl | classify c.h5 --format jsonl"), "") == 0);
  CHECK(warnings(corpus.must("cat x.csv | classify c.h5 --format csv"), "") == 0);
  CHECK(warnings(corpus.must("printf 'a text, not CSV\n{brace\n' | classify c.h5"), "") == 0);

  corpus.must("classify c.h5 x.csv -o x.out.jsonl");
  CHECK(parse_json(read_file(corpus.path("x.out.jsonl")))["label"] == "animal");
}

TEST_CASE("slips: examples of one label cannot judge models of several") {
  const SmallCorpus corpus;
  write_file(corpus.path("texts.tsv"), "animal\tthe cat\nanimal\tthe dog\nperson\tthe king\nperson\tmy queen\n");
  write_file(corpus.path("one.tsv"), "animal\ta cat\nanimal\ta dog\n");
  write_file(corpus.path("both.tsv"), "animal\ta cat\nperson\ta king\n");
  const std::string bag = "finetune --arch bag --task classify --train texts.tsv --steps 1 ";
  const std::string says = "one.tsv: the 2 examples all have the label 'animal'";
  CHECK(warnings(corpus.must(bag + "--valid one.tsv -o a.h5"), says) == 1);
  CHECK(warnings(corpus.must(bag + "--valid both.tsv --seed 2 -o b.h5"), "all have the label") == 0);
  CHECK(warnings(corpus.must("finetune --ensemble a.h5,b.h5 --valid one.tsv -o ab.h5"), says) == 1);
}

}  // namespace slips_tests

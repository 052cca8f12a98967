// --bad-records: what the tools do with records that cannot be used.
#include <array>

#include "tools/labelled_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace bad_records_tests {

namespace {

const std::string tune = "finetune -q --restart --arch bag -o x.h5 --steps 5 ";

struct BadRecord {
  std::string task, file, good, bad, says;  // says of the first, "FILE:LINE: …"
};

// After the good records, which have 6 lines, come those that are bad.
const std::vector<BadRecord> kinds{
    {"classify", "x.tsv", "a\tcat\nb\tking\na\tdog\nb\tqueen\na\tcow\nb\tduke\n", "no tab\n\tno label\n",
     "x.tsv:7: the number of columns is 1, not 2; a line is LABEL, tab, TEXT; line 8: the label is empty; 2 of 8"},
    {"classify", "x.csv", "text,label\ncat,a\nking,b\ndog,a\nqueen,b\ncow,a\n", "duke\n\"open,b\n",
     "x.csv:7: the number of columns is 1, not 2; line 8: the quote that opens column 1 is never closed; 2 of 7"},
    {"classify", "x.jsonl", "{\"text\": \"cat\", \"label\": \"a\"}\n{\"text\": \"king\", \"label\": \"b\"}\n\n\n\n\n",
     "{\"text\": \"good \\ud83d\", \"label\": \"a\"}\n{\"text\": \"good\", \"label\": \"a\", \"score\": NaN}\n",
     "x.jsonl:7: not valid JSON, at byte 22 of the line: half of a surrogate pair, as of a cut emoji; \\ufffd can "
     "stand "
     "for it; line 8: not valid JSON, at byte 41 of the line: JSON has no NaN"},
    {"regress", "x.tsv", "1\tcat\n2\tking\n3\tdog\n4\tqueen\n5\tcow\n6\tduke\n", "nan\tcat\n?\tdog\n",
     "x.tsv:7: the label 'nan' is not a finite number; line 8: the label '?' is not a finite number; 2 of 8"},
    {"label", "x.conll", "the\tD\ncat\tN\n\nmy\tD\nking\tN\n\n", "the\tD\ndog\n\ncow\t\n",
     "x.conll:8: the number of columns is 1; the others have 2; line 10: the label is empty; 2 of 4"}};

}  // namespace

TEST_CASE("bad records: each kind is named with all its lines, or left out, and the model says how many") {
  const SmallCorpus corpus;
  for (const auto& [task, file, good, bad, says] : kinds) {
    CAPTURE(task + " " + file);
    corpus.must("rm -rf x.* good.* && mkdir -p good");
    write_file(corpus.path(file), good + bad);
    write_file(corpus.path("good/" + file), good);
    const std::string command = tune + "--task " + task + " --train ";
    const Outcome refused = corpus.refused(command + file, 1, "finetune: " + says);
    CHECK(refused.err.ends_with(" records cannot be used; --bad-records skip leaves them out\n"));
    const Outcome skipped = corpus.must(command + file + " --bad-records skip");
    CHECK(contains(skipped.err, "finetune: warning: left out 2 of "));
    CHECK(contains(skipped.err, " records: " + says.substr(0, says.find("; "))));
    CHECK(parse_json(corpus.must("inspect x.h5 --json").out)["task"]["left_out"] == 2);
    CHECK(contains(corpus.must("inspect x.h5").out, "2 records of the training files could not be used"));
    const auto weights = corpus.weights("x.h5");
    corpus.must(command + "good/" + file);
    CHECK(corpus.weights("x.h5") == weights);
    CHECK_FALSE(parse_json(corpus.must("inspect x.h5 --json").out)["task"].contains("left_out"));

    corpus.refused("classify x.h5 --evaluate " + file, 1, "classify: " + says);
    const Outcome judged = corpus.must("classify x.h5 --evaluate --bad-records skip " + file);
    CHECK(contains(judged.err, "classify: warning: left out 2 of "));
    CHECK(judged.out == corpus.must("classify x.h5 --evaluate good/" + file).out);
    corpus.refused("classify x.h5 --bad-records skip " + file, 2, "--bad-records skip: is for --evaluate");
  }
}

TEST_CASE("bad records: questions whose answers are elsewhere or empty, as published files have them") {
  const Labelled corpus;
  const auto asked = [](const std::string& id, const std::string& text, int start) {
    return R"({"question": "Where?", "id": ")" + id + R"(", "answers": [{"text": ")" + text + R"(", "answer_start": )" +
           std::to_string(start) + "}]}";
  };
  const auto squad = [](const std::string& questions) {
    return R"({"data": [{"paragraphs": [{"context": "the cat sees the king", "qas": [)" + questions + "]}]}]}";
  };
  write_file(corpus.path("good.json"), squad(asked("1", "the cat", 0) + "," + asked("4", "the king", 13)));
  write_file(corpus.path("bad.json"), squad(asked("1", "the cat", 0) + "," + asked("2", "the king", 14) + "," +
                                            asked("3", "", 0) + "," + asked("4", "the king", 13)));
  const std::string tune_spans = "finetune -q --restart --from model.h5 --task span --steps 2 -o s.h5 --train ";
  corpus.refused(
      tune_spans + "bad.json", 1,
      "bad.json: question '2': the answer 'the\\sking' is not at character 14 of its context; the context has "
      "it at 13; question '3': the \"text\" of an answer is empty; a question without an answer has an empty "
      "list of them; 2 of 4 records cannot be used; --bad-records skip leaves them out");
  CHECK(contains(corpus.must(tune_spans + "bad.json --bad-records skip").err, "left out 2 of 4 records: bad.json: "));
  const auto weights = corpus.weights("s.h5");
  corpus.must(tune_spans + "good.json");
  CHECK(corpus.weights("s.h5") == weights);
  CHECK(corpus.must("classify s.h5 --evaluate --bad-records skip bad.json").out ==
        corpus.must("classify s.h5 --evaluate good.json").out);
}

TEST_CASE("bad records: pairs to translate, and texts that the tokenizer has no tokens for") {
  const SmallCorpus corpus;
  corpus.must("tokenize -q --train --model char --no-byte-fallback -o char.h5 train.txt");
  write_file(corpus.path("good.tsv"), "the cat\tthe dog\nthe king\tthe queen\n");
  corpus.must("tokenize -q -t char.h5 --pairs -o pairs.h5 good.tsv");
  corpus.must(
      "pretrain -q --train pairs.h5 -o s2s.h5 --arch encoder-decoder --layers 1 --width 16 --heads 2 --steps 2");
  write_file(corpus.path("bad.tsv"), "the cat\tthe dog\n\tthe\nthe caf\u00e9\tthe\nthe king\tthe queen\nthe\n");
  const std::string tune_pairs = "finetune -q --restart --from s2s.h5 --task translate --steps 2 -o t.h5 --train ";
  const Outcome refused = corpus.refused(tune_pairs + "bad.tsv", 1, "bad.tsv:5: the number of columns is 1, not 2");
  for (const char* says : {"line 2: the source is empty", "line 3:8: ", "3 of 5 records cannot be used"}) {
    CHECK_MESSAGE(contains(refused.err, says), refused.err);
  }
  CHECK(contains(corpus.must(tune_pairs + "bad.tsv --bad-records skip").err, "left out 3 of 5 records"));
  const auto weights = corpus.weights("t.h5");
  corpus.must(tune_pairs + "good.tsv");
  CHECK(corpus.weights("t.h5") == weights);

  corpus.must("pretrain -q --train train.txt -t char.h5 -o model.h5 --layers 1 --width 16 --heads 2 --steps 2");
  write_file(corpus.path("good.tsv"), "a\tthe cat\nb\tthe king\n");
  write_file(corpus.path("bad.tsv"), "a\tthe cat\nb\tthe \xff king\nb\tthe king\na\tcaf\u00e9\n");
  const std::string tune_texts = "finetune -q --restart --from model.h5 --steps 2 -o c.h5 --train ";
  corpus.refused(tune_texts + "bad.tsv", 1, "bad.tsv:2: ");
  CHECK(contains(corpus.must(tune_texts + "bad.tsv --bad-records skip").err, "left out 2 of 4 records: bad.tsv:2: "));
  const auto of_texts = corpus.weights("c.h5");
  corpus.must(tune_texts + "good.tsv");
  CHECK(corpus.weights("c.h5") == of_texts);
  CHECK(corpus.must("classify c.h5 --evaluate --bad-records skip bad.tsv").out ==
        corpus.must("classify c.h5 --evaluate good.tsv").out);

  const auto squad = [](const std::string& question, const std::string& context) {
    return R"({"context": "the cat)" + context + R"(", "qas": [{"question": "the)" + question + R"(", "id": ")" +
           question + context + R"(", "answers": [{"text": "cat", "answer_start": 4}]}]})";
  };
  const auto document = [](const std::string& paragraphs) {
    return R"({"data": [{"paragraphs": [)" + paragraphs + "]}]}";
  };
  const std::string none = "\u00e9", good_squad = squad(" cat", "");
  const std::vector<std::array<std::string, 4>> others{
      {"pair", "x.tsv", "a\tthe\tcat\nb\tthe\tking\n", "a\tthe\tcaf" + none + "\nb\tcaf" + none + "\tthe\n"},
      {"label", "x.conll", "the\tD\ncat\tN\n\nmy\tD\n\n", "the\tD\n" + none + "\tN\n\n" + none + "\tD\n\n"},
      {"span", "x.json", good_squad, ", " + squad(" " + none, "") + ", " + squad(" king", " " + none)}};
  for (const auto& [task, file, good, bad] : others) {
    CAPTURE(task);
    const bool is_json = task == "span";
    write_file(corpus.path(file), is_json ? document(good) : good);
    const std::string tune_task =
        "finetune -q --restart --from model.h5 --steps 1 -o c.h5 --task " + task + " --train " + file;
    corpus.must(tune_task);
    const auto of_good = corpus.weights("c.h5");
    write_file(corpus.path(file), is_json ? document(good + bad) : good + bad);
    CHECK(contains(corpus.must(tune_task + " --bad-records skip").err, "left out 2 of "));
    CHECK(corpus.weights("c.h5") == of_good);
  }
}

TEST_CASE("bad records: a split leaves them out of every part") {
  const SmallCorpus corpus;
  const auto all = [&](const std::string& ending) {
    return read_file(corpus.path("parts/train" + ending)) + read_file(corpus.path("parts/test" + ending));
  };
  const auto sorted = [](const std::string& text) {
    std::vector<std::string> lines = lines_of(text);
    std::erase(lines, "");
    std::ranges::sort(lines);
    return lines;
  };
  const std::string split = " --split 50,0,50 -o parts ";
  const auto check = [&](const std::string& file, const std::string& ending, const std::string& good,
                         const std::string& bad) {
    CAPTURE(file);
    write_file(corpus.path(file), bad);
    corpus.refused("convert " + file + split, 1, "--bad-records skip leaves");
    corpus.must("rm -rf parts && convert -q " + file + split + "--bad-records skip");
    CHECK(sorted(all(ending)) == sorted(good));
  };
  check("x.tsv", ".tsv", "a\t1\nb\t2\na\t3\nb\t4\n", "a\t1\nno\nb\t2\n\t5\na\t3\nb\t4\nc\td\te\n");
  check("x.jsonl", ".jsonl",
        "{\"text\":\"1\",\"label\":1}\n{\"text\":\"2\",\"label\":2}\n{\"text\":\"3\",\"label\":1}\n{\"text\":\"4\","
        "\"label\":2}\n",
        "{\"text\":\"1\",\"label\":1}\n{\"text\":}\n{\"text\":\"2\",\"label\":2}\n{\"text\":\"3\",\"label\":1}\n{"
        "\"text\":"
        "\"4\",\"label\":2}\n");
  check(
      "x.json", ".jsonl",
      "{\"text\":\"1\",\"label\":1}\n{\"text\":\"2\",\"label\":2}\n{\"text\":\"3\",\"label\":1}\n{\"text\":\"4\","
      "\"label\":2}\n",
      "[{\"text\":\"1\",\"label\":1}, {\"text\":\"2\",\"label\":2},\n{\"text\":NaN},\n{\"text\":\"3\",\"label\":1}, 7, "
      "{\"text\":\"4\",\"label\":2}]");
  check("x.conll", ".conll", "# one\na\tX\nb\tY\n\nc\tX\nd\tY\n\ne\tX\nf\tY\n\ng\tX\nh\tY\n\n",
        "# one\na\tX\nb\tY\n\n# bad\nbad\nx\tX\n\nc\tX\nd\tY\n\ne\tX\nf\tY\n\nbad\n\ng\tX\nh\tY\n");
  // One question per line; blank lines do not move them.
  const auto asked = [&](const std::string& context, const std::string& start) {
    return "{\"question\":\"?\",\"context\":\"" + context + "\",\"answers\":[{\"text\":\"" + context +
           "\",\"answer_start\":" + start + "}]}\n";
  };
  check("q.jsonl", ".jsonl", asked("a", "0") + asked("b", "0"),
        "\n" + asked("a", "0") + asked("x", "9") + "\n" + asked("b", "0"));
  const auto squad = [](const std::string& questions, const std::string& context) {
    return "{\"context\":\"" + context + "\",\"qas\":[" + questions + "]}";
  };
  const std::string good = "{\"id\":\"1\",\"question\":\"?\",\"answers\":[{\"text\":\"c\",\"answer_start\":0}]}",
                    bad = "{\"id\":\"2\",\"question\":\"?\",\"answers\":[{\"text\":\"c\",\"answer_start\":1}]}";
  write_file(corpus.path("s.json"), "{\"data\":[{\"paragraphs\":[" + squad(bad + "," + good, "c d") + "," +
                                        squad(bad, "c e") + "," + squad(good + "," + bad, "c f") + "]}]}");
  corpus.must("rm -rf parts && convert -q s.json" + split + "--bad-records skip");
  const std::string parts = all(".json");
  CHECK_FALSE(contains(parts, "\"2\""));
  CHECK_FALSE(contains(parts, "c e"));
  CHECK(contains(parts, squad(good, "c d")));
  CHECK(contains(parts, squad(good, "c f")));
}

TEST_CASE("bad records: lists of objects and lines that end with carriage returns are no bad records") {
  const SmallCorpus corpus;
  write_file(
      corpus.path("a.json"),
      "[\n  {\"text\": \"good film\", \"label\": \"pos\", \"id\": 7},\n  {\"text\": \"bad\", \"label\": \"neg\"}\n]\n");
  write_file(corpus.path("b.tsv"), "pos\tgood film\rneg\tbad\r");
  write_file(corpus.path("c.csv"), "label,text\rpos,good film\rneg,\"bad\"\r");
  corpus.must(tune + "--train b.tsv");
  const auto weights = corpus.weights("x.h5");
  for (const char* const file : {"a.json", "a.json --format jsonl", "c.csv"}) {
    CAPTURE(file);
    corpus.must(tune + "--train " + file);
    CHECK(corpus.weights("x.h5") == weights);
  }
  const std::string lines = corpus.must("printf 'good film\\nbad\\n' | classify x.h5").out;
  CHECK(corpus.must("classify x.h5 a.json").out == lines);
  CHECK(corpus.must("classify x.h5 --format jsonl < a.json").out == lines);
  CHECK(corpus.must("printf 'good film\\rbad\\r' | classify x.h5").out == lines);
  CHECK(corpus.must("printf 'text\\rgood film\\r\"bad\"\\r' | classify x.h5 --format csv").out == lines);
  const auto answers = json_lines(corpus.must("classify x.h5 a.json --jsonl").out);
  REQUIRE(answers.size() == 2);
  CHECK(answers[0]["id"] == 7);
  CHECK(answers[0]["text"] == "good film");
  // An object per line is still answered line by line.
  CHECK(corpus.run("printf '{\"text\": \"bad\"}\\n{\"text\"\\n' | classify x.h5 --format jsonl").out ==
        lines.substr(lines.find('\n') + 1));
}

}  // namespace bad_records_tests

// convert --split from outside.
#include <filesystem>
#include <set>

#include "support/json.hpp"
#include "tools/small_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace split_tests {

namespace {

const std::vector<std::string> part_names{"train", "valid", "test"};

// 200 reviews of two classes, 1 to 3, in quotes with a comma and a line break; every tenth twice, once with blanks.
std::string reviews(const std::string& bad_row = "") {
  std::string rows = "id,text,label\n";
  for (int i = 0; i < 200; ++i) {
    const std::string label = i % 4 == 0 ? "neg" : "pos", number = std::to_string(i);
    rows += number + ",\"so, it is\nfilm " + number + "\"," + label + "\n";
    if (i % 10 == 0) rows += number + "b,\"  so, it is\nfilm " + number + " \"," + label + "\n";
  }
  return rows + bad_row;
}

std::string part(const SmallCorpus& corpus, const std::string& folder, const std::string& name) {
  return read_file(corpus.path(folder + "/" + name));
}

std::ptrdiff_t count(const std::string& text, const std::string& what) {
  std::ptrdiff_t found = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size()) ++found;
  return found;
}

// The folder's files as one, to see whether the same examples are in them.
std::string joined(const SmallCorpus& corpus, const std::string& folder, const std::string& ending) {
  std::string all;
  for (const std::string& name : part_names) all += "= " + name + "\n" + part(corpus, folder, name + ending);
  return all;
}

}  // namespace

TEST_CASE("split: parts of the shares, with the same classes, the header and the rows as they were; copies together") {
  const SmallCorpus corpus;
  write_file(corpus.path("r.csv"), reviews());
  const Outcome outcome = corpus.must("convert r.csv --split 80,10,10 -o out/");
  CHECK(contains(outcome.err, "convert: r.csv: 20 examples are a copy of another, in the same part\n"));
  std::set<std::string> rows;
  const std::vector<std::ptrdiff_t> expected{176, 22, 22};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string text = part(corpus, "out", part_names[i] + ".csv");
    CHECK(text.starts_with("id,text,label\n"));
    const std::ptrdiff_t negative = count(text, ",neg\n"), all = negative + count(text, ",pos\n");
    CHECK(std::abs(all - expected[i]) <= 2);
    CHECK(std::abs(negative - expected[i] * 60 / 220) <= 2);
    CHECK(contains(outcome.err, "convert: out/" + part_names[i] + ".csv: " + std::to_string(all) + " examples: neg " +
                                    std::to_string(negative) + ", pos " + std::to_string(all - negative) + "\n"));
    for (int n = 0; n < 200; ++n) {
      const std::string number = std::to_string(n);
      const std::string row = "\n" + number + ",\"so, it is\nfilm " + number + "\",";
      const bool is_here = contains(text, row);
      if (is_here) CHECK(rows.insert(number).second);
      if (n % 10 == 0) CHECK(contains(text, "\n" + number + "b,\"  so, it is\nfilm " + number + " \",") == is_here);
    }
  }
  CHECK(rows.size() == 200);
  corpus.must("convert -q r.csv --split class -o by_class && convert -q r.csv --split random:8,1,1 -o at_random");
  CHECK(joined(corpus, "by_class", ".csv") == joined(corpus, "out", ".csv"));
  CHECK(joined(corpus, "at_random", ".csv") != joined(corpus, "out", ".csv"));
  corpus.must("convert -q r.csv --split 80,10,10 -o again && convert -q r.csv --split 8,1,1 --seed 2 -o other");
  CHECK(joined(corpus, "again", ".csv") == joined(corpus, "out", ".csv"));
  CHECK(joined(corpus, "other", ".csv") != joined(corpus, "out", ".csv"));
  CHECK(corpus.leftovers() == 0);
}

TEST_CASE("split: a last row without a line end gets one, and the parts have all rows, in their order") {
  const SmallCorpus corpus;
  std::string rows;
  for (int i = 0; i < 60; ++i) rows += (i % 3 == 0 ? "a\ttext " : "b\ttext ") + std::to_string(i) + "\n";
  write_file(corpus.path("whole.tsv"), rows);
  write_file(corpus.path("cut.tsv"), rows.substr(0, rows.size() - 1));
  for (int seed = 1; seed <= 3; ++seed) {  // so that the last row is in more than one part
    const std::string options = " --split 60,20,20 --seed " + std::to_string(seed) + " -o ";
    corpus.must("convert -q whole.tsv" + options + "whole" + std::to_string(seed));
    corpus.must("convert -q cut.tsv" + options + "cut" + std::to_string(seed));
    const std::string parts = joined(corpus, "cut" + std::to_string(seed), ".tsv");
    CHECK(parts == joined(corpus, "whole" + std::to_string(seed), ".tsv"));
    CHECK(count(parts, "\n") == 63);
  }
}

TEST_CASE("split: every part has every class, and a part without a share has no file") {
  const SmallCorpus corpus;
  std::string lines;
  for (int i = 0; i < 90; ++i) lines += "common\ttext " + std::to_string(i) + "\n";
  for (int i = 0; i < 3; ++i) lines += "rare\tother " + std::to_string(i) + "\n";
  write_file(corpus.path("r.tsv"), lines);
  corpus.must("convert r.tsv --split 98,1,1 -o out");
  for (const std::string& name : part_names) CHECK(count(part(corpus, "out", name + ".tsv"), "rare\t") == 1);
  write_file(corpus.path("r.tsv"), lines + "once\tonly\n");
  corpus.refused("convert r.tsv --split 98,1,1 -o no", 1,
                 "r.tsv: 1 class has fewer different texts than the 3 parts: 'once' (1); give more examples");
  CHECK_FALSE(std::filesystem::exists(corpus.path("no")));
  CHECK(contains(corpus.must("convert r.tsv --split 80,0,20 --rare train -o two").err, "they are in train alone"));
  CHECK(contains(part(corpus, "two", "train.tsv"), "once\tonly\n"));
  CHECK_FALSE(std::filesystem::exists(corpus.path("two/valid.tsv")));
  write_file(corpus.path("r.tsv"), lines + "twice\tone\ntwice\ttwo\n");
  corpus.must("convert r.tsv --split 80,0,20 -o enough");
  for (const std::string name : {"train", "test"}) CHECK(count(part(corpus, "enough", name + ".tsv"), "twice\t") == 1);
}

TEST_CASE("split: objects, pairs, sentences and questions keep their bytes") {
  const SmallCorpus corpus;
  std::string objects, pairs, sentences, tags, questions, articles;
  std::vector<std::string> articles_one_by_one;
  for (int i = 0; i < 40; ++i) {
    const std::string n = std::to_string(i), label = i % 2 == 0 ? "a" : "b";
    objects += "{ \"id\":" + n + ".0, \"text\":\"t" + n + "\",\"label\":\"" + label + "\"}\n";
    pairs += label + "\tone " + n + "\ttwo\n";
    sentences += "# sent " + n + "\n1\tw" + n + "\t_\tNOUN\t_\t_\t0\t_\t_\t_\n2\tis\t_\t" +
                 (i % 2 == 0 ? "VERB" : "AUX") + "\t_\t_\t0\t_\t_\t_\n2.1\tit\t_\t_\t_\t_\t_\t_\t_\t_\n\n";
    tags += "w" + n + "\tNOUN\nis \t" + (i % 2 == 0 ? "VERB" : "AUX") + "\n\n";
    questions +=
        "{ \"question\":\"who\",\"context\":\"it is " + n + "\",\"answers\":[{\"text\":\"it\",\"answer_start\":0}]}\n";
    articles_one_by_one.push_back(
        R"({"title":"t)" + n + R"(","paragraphs":[{"context":"who is \"é\" )" + n + R"(","qas":[{"id":"x)" + n +
        R"(","question":"q","answers":[{"text":"who","answer_start":0}],"score":1.50},{"id":"y)" + n +
        R"(","question":"r","answers":[{"text":"is","answer_start":4}]}]}],"source":null})");
    articles += (i == 0 ? "" : ",") + articles_one_by_one.back();
  }
  write_file(corpus.path("o.jsonl"), objects);
  write_file(corpus.path("p.tsv"), pairs);
  write_file(corpus.path("s.conllu"), sentences);
  write_file(corpus.path("t.conll"), tags);
  write_file(corpus.path("q.jsonl"), questions);
  write_file(corpus.path("q.json"), R"({"version":"1","data":[)" + articles + "]}");
  for (const auto& [file, ending, content, end] :
       std::vector<std::array<std::string, 4>>{{"o.jsonl", ".jsonl", objects, "\n"},
                                               {"p.tsv", ".tsv", pairs, "\n"},
                                               {"s.conllu", ".conllu", sentences, "\n\n"},
                                               {"t.conll", ".conll", tags, "\n\n"},
                                               {"q.jsonl", ".jsonl", questions, "\n"}}) {
    CAPTURE(file);
    corpus.must("convert -q " + file + " --split 50,25,25 -o of." + file);
    std::multiset<std::string> before, after;
    const auto add = [&end = end](std::string text, std::multiset<std::string>& units) {
      for (std::size_t at = 0; (at = text.find(end)) != std::string::npos; text.erase(0, at + end.size()))
        units.insert(text.substr(0, at));
      CHECK((text.empty() || text == "\n"));
    };
    add(content, before);
    for (const std::string& name : part_names) add(part(corpus, "of." + file, name + ending), after);
    CHECK(before == after);
  }
  corpus.must("convert -q q.json --split 50,25,25 -o squad");
  std::size_t articles_found = 0;
  std::string paragraphs;
  for (const std::string& name : part_names) {
    const auto document = parse_json(part(corpus, "squad", name + ".json"));
    CHECK(document["version"] == "1");
    const std::string text = part(corpus, "squad", name + ".json");
    CHECK(text.starts_with(R"({"version":"1","data":[{"title":"t)"));
    paragraphs += text;
    articles_found += document["data"].size();
    for (const auto& article : document["data"]) CHECK(article["paragraphs"][0]["qas"].size() == 2);
  }
  CHECK(articles_found == 40);
  for (const std::string& article : articles_one_by_one) CHECK(contains(paragraphs, article));
}

TEST_CASE("split: pairs are told by their header or members, and differ where either text does") {
  const SmallCorpus corpus;
  std::string table = "\"label\",\"text\",\"text_b\"\n", objects;
  for (int i = 0; i <= 40; ++i) {
    // Each first text has two second ones, and the last pair is the first one again.
    const std::string label = i % 2 == 0 ? "a" : "b", one = std::to_string(i % 40 / 2), two = std::to_string(i % 40);
    table += label + ",\"one, " + one + "\",two " + two + "\n";
    objects += R"({"label":")" + label + R"(","text":"one )" + one + R"(","text_b":"two )" + two + "\"}\n";
  }
  write_file(corpus.path("p.csv"), table);
  write_file(corpus.path("p.jsonl"), objects);
  for (const std::string file : {"p.csv", "p.jsonl"}) {
    CAPTURE(file);
    const Outcome outcome = corpus.must("convert " + file + " --split 50,25,25 -o of." + file);
    CHECK(contains(outcome.err, ": 1 example is a copy of another, in the same part\n"));
    CHECK_FALSE(contains(outcome.err, "several labels"));
    CHECK_FALSE(contains(outcome.err, "columns"));
  }
}

TEST_CASE("split: questions on one context are in one part, and the rarest tags in every part") {
  const SmallCorpus corpus;
  std::string questions, sentences;
  for (int i = 0; i < 60; ++i) {
    questions += R"({"question":"who )" + std::to_string(i) + R"(","context":"it is )" + std::to_string(i / 2) +
                 R"(","answers":[{"text":"it","answer_start":0}]})" + "\n";
    // Three tags that three sentences have each.
    sentences += "w" + std::to_string(i) + "\tNOUN\nis\t" + (i < 9 ? "RARE" + std::to_string(i / 3) : "VERB") + "\n\n";
  }
  write_file(corpus.path("q.jsonl"), questions);
  write_file(corpus.path("s.conll"), sentences);
  // Sentences apart by the lines of documents alone.
  std::string documents;
  for (int i = 0; i < 20; ++i) documents += "-DOCSTART- O\nw" + std::to_string(i) + (i % 2 == 0 ? " X\n" : " Y\n");
  write_file(corpus.path("d.conll"), documents);
  corpus.must("convert -q d.conll --split 50,50,0 -o documents");
  const std::string half = part(corpus, "documents", "train.conll"), rest = part(corpus, "documents", "valid.conll");
  for (int i = 0; i < 20; ++i) {
    const std::string word = "w" + std::to_string(i) + (i % 2 == 0 ? " X\n" : " Y\n");
    CHECK(contains(half, word) != contains(rest, word));
  }
  const Outcome outcome = corpus.must("convert q.jsonl --split 80,10,10 -o questions");
  CHECK(contains(outcome.err, ": 30 examples are on a context of another, in the same part\n"));
  corpus.must("convert s.conll --split 80,10,10 -o sentences");
  for (const std::string& name : part_names) {
    const std::string asked = part(corpus, "questions", name + ".jsonl");
    CHECK(contains(outcome.err, name + ".jsonl: " + std::to_string(lines_in(asked)) + " examples\n"));
    for (int i = 0; i < 30; ++i) {
      const auto found = count(asked, "it is " + std::to_string(i) + "\"");
      CHECK((found == 0 || found == 2));
    }
    for (int i = 0; i < 3; ++i)
      CHECK(count(part(corpus, "sentences", name + ".conll"), "RARE" + std::to_string(i)) == 1);
  }
}

TEST_CASE("split: what cannot be split is refused, with file and line, and nothing is written") {
  const SmallCorpus corpus;
  write_file(corpus.path("r.csv"), reviews());
  write_file(corpus.path("few.csv"), reviews("7,pos\n"));
  write_file(corpus.path("many.csv"), reviews("7,a,pos,neg\n"));
  write_file(corpus.path("empty.csv"), reviews("1,a,\n2,b,\n3,c,\n"));
  write_file(corpus.path("one.tsv"), "a\tx\na\ty\na\tz\n");
  write_file(corpus.path("tiny.jsonl"), "{\"text\":\"x\",\"label\":1}\n{\"text\":\"x\",\"label\":2}\n");
  write_file(corpus.path("bad.jsonl"), "{\"text\":\"x\",\"label\":1}\n{\"text\":\n");
  write_file(corpus.path("two.conll"), "a\tX\nb\tY\n\nc\tX\nd\tY\n");
  std::string numbers;  // two texts
  for (int i = 0; i < 60; ++i) numbers += std::to_string(i) + ".5\ttext " + std::to_string(i % 2) + "\n";
  write_file(corpus.path("numbers.tsv"), numbers);
  corpus.must("mkdir full && touch full/train.csv && touch nothing.csv");
  const std::string split = " --split 80,10,10 -o out";
  for (const Refusal& refusal : std::vector<Refusal>{
           {"convert few.csv" + split, "few.csv:442: the number of columns is 2, not 3", 1},
           {"convert many.csv" + split, "many.csv:442: the number of columns is 4, not 3", 1},
           {"convert empty.csv" + split,
            "empty.csv:442: the label is empty (lines 443, 444 too); 3 of 223 records cannot", 1},
           {"convert one.tsv" + split, "one.tsv: all examples have the label 'a'", 1},
           {"convert tiny.jsonl" + split, "fewer different texts than the 3 parts", 1},
           {"convert bad.jsonl" + split, "bad.jsonl:2: not valid JSON", 1},
           {"convert nothing.csv" + split, "nothing.csv: has no example", 1},
           {"convert two.conll" + split, "two.conll: 2 examples are too few", 1},
           {"convert numbers.tsv" + split, "or too many copies of one text, for so many parts: valid is empty", 1},
           {"convert none.csv" + split, "none.csv", 1},
           {"convert r.csv --split 80,10,10 -o full", "full", 1},
           {"convert r.csv --split 80,10,10 --label-column stars -o out", "has no column 'stars'", 1},
           {"convert r.csv --split scaffold -o out", "--split scaffold is for molecules", 2},
           {"convert r.csv --split sorted:80,10,10 -o out",
            "'sorted' is not one of auto, class, labels, random, scaffold", 2},
           {"convert r.csv --split 80,20 -o out", "--split: takes three sizes", 2},
           {"convert r.csv --split 0,50,50 -o out", "--split: train and one of the others", 2},
           {"convert r.csv --split 80,x,10 -o out", "--split: 'x' is not a whole number", 2},
           {"convert r.csv --split 80,-1,10 -o out", "--split: '-1' is not a whole number", 2},
           {"convert r.csv --split ,, -o out", "--split: '' is not a whole number", 2},
           {"convert r.csv --split 80,10,10", "-o FILE is missing", 2},
           {"convert r.csv one.tsv" + split, "--split takes one labelled file", 2},
           {"convert r.csv --dtype bf16" + split, "--dtype: is for models", 2},
           {"convert r.csv --hide-edges 9" + split, "--hide-edges: is for graphs", 2},
           {"convert tokenizer.h5 --label-column 2 -o out", "--label-column: is for --split", 2},
           {"convert tokenizer.h5" + split, "tokenizer.h5: is ", 1}}) {
    corpus.refused(refusal);
  }
  CHECK_FALSE(std::filesystem::exists(corpus.path("out")));
  CHECK(corpus.leftovers() == 0);
}

TEST_CASE("split: slips are pointed out: swapped columns, a text with two labels; numbers are no classes") {
  const SmallCorpus corpus;
  std::string swapped, numbers, unsure;
  for (int i = 0; i < 60; ++i) {
    const std::string n = std::to_string(i);
    swapped += "text " + n + "\t" + (i % 2 == 0 ? "a" : "b") + "\n";
    numbers += n + ".5\ttext " + n + "\n";
    unsure += std::string(i % 2 == 0 ? "a" : "b") + "\ttext " + std::to_string(i == 1 ? 0 : i) + "\n";
  }
  write_file(corpus.path("s.tsv"), swapped);
  write_file(corpus.path("n.tsv"), numbers);
  write_file(corpus.path("u.tsv"), unsure);
  corpus.refused(
      "convert s.tsv --split 80,10,10 -o out", 1,
      "warning: s.tsv: 60 classes for 60 examples, such as 'text 0'; if these are texts, the columns are swapped");
  CHECK(contains(corpus.must("convert n.tsv --split 80,10,10 -o numbers").err, "n.tsv: the labels are numbers"));
  CHECK(count(part(corpus, "numbers", "train.tsv"), "\n") == 48);
  CHECK(contains(corpus.must("convert u.tsv --split 80,10,10 -o unsure").err,
                 "warning: u.tsv:1: the text has several labels\n"));
  // Each class has sixty texts, though all of one of them have the other label, too.
  std::string both;
  for (int i = 0; i < 120; ++i) {
    const std::string text = "\ttext " + std::to_string(i) + "\n";
    both += "a" + text + (i < 60 ? "b" + text : "");
  }
  write_file(corpus.path("both.tsv"), both);
  corpus.must("convert both.tsv --split 80,10,10 -o both");
  for (const char* file : {"train.tsv", "valid.tsv", "test.tsv"}) CHECK(count(part(corpus, "both", file), "b\t") > 0);
  // A comma in quotes is no separator, with names of columns or without.
  std::string quoted;
  for (int i = 0; i < 60; ++i)
    quoted += "spam,\"a, b c" + std::to_string(i) + "\"\nham,\"d, e f" + std::to_string(i) + "\"\n";
  write_file(corpus.path("quoted.csv"), quoted);
  CHECK_FALSE(contains(corpus.must("convert quoted.csv --no-header --split 80,10,10 -o quoted").err, "pairs"));
  CHECK(count(part(corpus, "quoted", "train.csv"), "spam,") > 0);
  // Three columns are a label and two texts, unless options say otherwise.
  std::string three;
  for (int i = 0; i < 60; ++i) three += "a\tso " + std::to_string(i) + "\tx\nb\ttext " + std::to_string(i) + "\tx\n";
  write_file(corpus.path("three.tsv"), three);
  CHECK(contains(corpus.must("convert three.tsv --split 80,10,10 -o three").err,
                 "three.tsv: the examples are pairs: of three columns, a label and two texts"));
  CHECK_FALSE(
      contains(corpus.must("convert three.tsv --split 80,10,10 --label-column 1 --text-column 2 -o two").err, "pairs"));
}

TEST_CASE("split: sizes that differ from what was asked for are pointed out") {
  const SmallCorpus corpus;
  std::string many, few;
  for (int i = 0; i < 60; ++i) {
    many += "class" + std::to_string(i / 5) + "\ttext " + std::to_string(i) + "\n";
    few += std::string(i % 2 == 0 ? "a" : "b") + "\ttext " + std::to_string(i) + "\n";
  }
  write_file(corpus.path("many.tsv"), many);
  write_file(corpus.path("few.tsv"), few);
  // Each part has at least one of five texts of a class.
  CHECK(contains(corpus.must("convert many.tsv --split 80,10,10 -o many").err,
                 "many.tsv: the sizes are not 80,10,10, because each part has each class"));
  CHECK(count(part(corpus, "many", "train.tsv"), "\n") == 36);
  CHECK_FALSE(contains(corpus.must("convert few.tsv --split 80,10,10 -o few").err, "the sizes are not"));
}

}  // namespace split_tests

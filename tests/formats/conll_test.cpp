#include <doctest/doctest.h>

#include <set>

#include "formats/files.hpp"
#include "support/labelled.hpp"

using namespace heddle;
using namespace heddle::formats;
using namespace heddle::tests;

namespace {

using Strings = std::vector<std::string>;

std::string line(const std::string& id, const std::string& form, const std::string& upos, const std::string& xpos) {
  return id + "\t" + form + "\tlemma\t" + upos + "\t" + xpos + "\t_\t0\troot\t_\t_\n";
}

std::string conll_message(const std::string& content, const std::string& column = "") {
  return message_of([&] { read_conll(content, "x.conll", column, Gold::given); });
}

std::string conllu_message(const std::string& content) {
  return message_of([&] { read_conllu(content, "x.conllu", "", Gold::given); });
}

Index words_of(const std::vector<data::TaggedSentence>& sentences) {
  Index words = 0;
  for (const auto& sentence : sentences) words += static_cast<Index>(sentence.words.size());
  return words;
}

}  // namespace

TEST_CASE("conll: sentences apart by empty lines") {
  for (const std::string content :
       {"New\tB-loc\nYork\tI-loc\n\n#tag\tO\n", "\n\nNew\tB-loc\nYork\tI-loc\n\t\n\n#tag\tO",
        "New\tB-loc\r\nYork\tI-loc\r\n\r\n#tag\tO\r\n\r\n"}) {
    const auto sentences = read_conll(content, "x", "", Gold::given);
    REQUIRE(sentences.size() == 2);
    CHECK(sentences[0].words == Strings{"New", "York"});
    CHECK(sentences[0].tags == Strings{"B-loc", "I-loc"});
    CHECK(sentences[1].words == Strings{"#tag"});
  }
  CHECK(read_conll("", "x", "", Gold::given).empty());
}

TEST_CASE("conll: columns apart by blanks, chosen by number, and the lines of words") {
  const std::string content = "-DOCSTART- -X- -X- O\n\nEU NNP  I-NP B-ORG\nrejects VBZ I-VP O\n";
  const auto last = read_conll(content, "x", "", Gold::given), second = read_conll(content, "x", "2", Gold::given);
  CHECK(last.at(0).tags == Strings{"B-ORG", "O"});
  CHECK(last.at(0).lines == std::vector<Index>{3, 4});
  CHECK(second.at(0).tags == Strings{"NNP", "VBZ"});
  // A document begins a sentence, without an empty line before it, too.
  CHECK(read_conll("EU B-ORG\n-DOCSTART- O\nPeter B-PER\n", "x", "", Gold::given).size() == 2);
  const auto bare = read_conll("EU\nrejects\n", "x", "", Gold::absent);
  CHECK(bare.at(0).words == Strings{"EU", "rejects"});
  CHECK(bare.at(0).tags.empty());
  // With a tab in the line, blanks belong to words.
  CHECK(read_conll("New York\tLOC\n", "x", "", Gold::given).at(0).words == Strings{"New York"});
}

TEST_CASE("conll: the column of the words, and comments, as in GermEval 2014 and CoNLL-2012") {
  const std::string words = "1\tFrau\tO\tO\n2\tK\u00f6ln\tB-LOC\tO\n";
  for (const std::string comment :
       {"#\thttp://example.org/0\n", "# sent_id = 3\n", "# newdoc\n", "#begin document (x); part 000\n"}) {
    const auto read = read_conll(comment + words + "\n" + comment + words, "x", "3", Gold::given, "2");
    REQUIRE(read.size() == 2);
    CHECK(read[0].words == Strings{"Frau", "K\u00f6ln"});
    CHECK(read[1].tags == Strings{"O", "B-LOC"});
    CHECK(read[1].lines == std::vector<Index>{6, 7});
  }
  CHECK(read_conll(words, "x", "", Gold::absent, "2").at(0).words == Strings{"Frau", "K\u00f6ln"});
  CHECK(read_conll("O\ta\nB-x\tb\n", "x", "1", Gold::given, "2").at(0).tags == Strings{"O", "B-x"});
  // A word.
  CHECK(read_conll("a O\n# O\n#b O\n", "x", "", Gold::given).at(0).words == Strings{"a", "#", "#b"});
  CHECK(read_conll("#\n", "x", "", Gold::absent).at(0).words == Strings{"#"});
  CHECK(contains(message_of([&] { read_conll("a\tO\n", "x", "", Gold::given, "3"); }),
                 "x:1: the number of columns is 2; the word should be in column 3"));
  CHECK(conll_message("#\ta\tb\nc\tO\n") == "x.conll:1: the number of columns is 3; the others have 2");
  CHECK_THROWS_AS(read_conll("a O\n", "x", "2", Gold::given, "2"), UsageError);
  CHECK_THROWS_AS(read_conll("a O\n", "x", "2", Gold::given, "form"), UsageError);
}

TEST_CASE("conll: other lines are errors with file and line") {
  CHECK(conll_message("a\tO\nb\n") == "x.conll:2: the number of columns is 1; the others have 2");
  CHECK(conll_message("a\n") == "x.conll:1: the number of columns is 1; the tag should be in column 2");
  CHECK(conll_message("a b c\n", "4") == "x.conll:1: the number of columns is 3; the tag should be in column 4");
  CHECK(conll_message("a\tO\n\tO\n") == "x.conll:2: the word is empty");
  CHECK(conll_message("a\t\n") == "x.conll:1: the label is empty");
  CHECK(contains(conll_message("a\t\xff\n"), "x.conll:1: the label '\\xff' is not UTF-8"));
  for (const std::string column : {"1", "0", "-1", "upos", "2x", "99999999999999999999"}) {
    CHECK_THROWS_AS(read_conll("a O\n", "x", column, Gold::given), UsageError);
  }
}

TEST_CASE("conllu: comments, multiword tokens and empty nodes are no words") {
  const std::string content = "# sent_id = 1\n# text = don't go\n" + line("1-2", "don't", "_", "_") +
                              line("1", "do", "AUX", "VBP") + line("2", "n't", "PART", "RB") +
                              line("2.1", "ghost", "VERB", "VB") + line("3", "go", "VERB", "VB") + "\n# newdoc\n" +
                              line("1", "#hash", "X", "ADD");
  const auto sentences = read_conllu(content, "x", "", Gold::given);
  REQUIRE(sentences.size() == 2);
  CHECK(sentences[0].words == Strings{"do", "n't", "go"});
  CHECK(sentences[0].tags == Strings{"AUX", "PART", "VERB"});
  CHECK(sentences[0].lines == std::vector<Index>{4, 5, 7});
  CHECK(sentences[1].words == Strings{"#hash"});
  CHECK(read_conllu(content, "x", "xpos", Gold::given)[0].tags == Strings{"VBP", "RB", "VB"});
  CHECK(read_conllu(content, "x", "5", Gold::given).at(0).tags == Strings{"VBP", "RB", "VB"});
  CHECK(read_conllu(content, "x", "form", Gold::given)[0].tags == Strings{"do", "n't", "go"});
  CHECK(read_conllu(content, "x", "", Gold::absent)[0].tags.empty());
  CHECK(read_conllu(content, "x", "", Gold::given, "lemma")[0].words == Strings{"lemma", "lemma", "lemma"});
  CHECK_THROWS_AS(read_conllu(content, "x", "pos", Gold::given), UsageError);
  CHECK_THROWS_AS(read_conllu(content, "x", "11", Gold::given), UsageError);
}

TEST_CASE("conllu: other lines are errors with file and line") {
  CHECK(contains(conllu_message("1\ta\tb\n"), "x.conllu:1: the number of columns is 3, not 10"));
  CHECK(contains(conllu_message(line("1", "a", "X", "X") + line("3", "b", "X", "X")),
                 "x.conllu:2: the ID is '3' where word 2 of the sentence is expected"));
  for (const std::string id : {"", "x", "1x", "-1", "1-", "1-x", ".1", "99999999999999999999"}) {
    CAPTURE(id);
    CHECK(contains(conllu_message(line(id, "a", "X", "X")), "x.conllu:1: the ID is "));
  }
  CHECK(conllu_message(line("1", "", "X", "X")) == "x.conllu:1: the word is empty");
  CHECK(conllu_message(line("1", "a", "", "X")) == "x.conllu:1: the label is empty");
}

TEST_CASE("conllu: English Web Treebank") {
  const std::string content = shared_content("ud-english-ewt/en_ewt-ud-train.conllu.gz");
  if (content.empty()) return;
  const auto sentences = read_conllu(content, "ewt", "upos", Gold::given);
  CHECK(sentences.size() == 12544);
  CHECK(words_of(sentences) == 204577);
  std::set<std::string> tags;
  for (const auto& sentence : sentences) tags.insert(sentence.tags.begin(), sentence.tags.end());
  CHECK(tags.size() == 17);
}

TEST_CASE("conll: WNUT-17") {
  const std::string train = shared_content("wnut17/wnut17train.conll"),
                    dev = shared_content("wnut17/emerging.dev.conll"),
                    test = shared_content("wnut17/emerging.test.annotated");
  if (train.empty()) return;
  const auto check = [](const std::string& content, std::size_t sentences, Index words) {
    const auto read = read_conll(content, "wnut", "", Gold::given);
    CHECK(read.size() == sentences);
    CHECK(words_of(read) == words);
  };
  check(train, 3394, 62730);
  check(dev, 1009, 15733);
  check(test, 1287, 23394);
}

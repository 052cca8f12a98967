// Sentences of our own in the exact layout of the published data sets that heddle is used with, so that each is read
// without the data: quirks are those of the real files, which other tests read where they are.
#include <doctest/doctest.h>

#include "formats/files.hpp"
#include "formats/labelled/marked_words.hpp"
#include "support/labelled.hpp"

using namespace heddle;
using namespace heddle::formats;
using namespace heddle::tests;

namespace {

using Strings = std::vector<std::string>;

const std::string byte_order_mark = "\xEF\xBB\xBF";

// Two sentences as Universal Dependencies has them: comments, a contraction that is two words and glued to what
// follows, features, and an empty node that enhanced dependencies refer to.
const std::string treebank =
    "# newdoc id = letters-0001\n"
    "# sent_id = letters-0001-0001\n"
    "# newpar id = letters-0001-p0001\n"
    "# text = Don't wait; she can't.\n"
    "1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "1\tDo\tdo\tAUX\tVB\tMood=Imp|VerbForm=Fin\t3\taux\t3:aux\t_\n"
    "2\tn't\tnot\tPART\tRB\tPolarity=Neg\t3\tadvmod\t3:advmod\t_\n"
    "3\twait\twait\tVERB\tVB\tMood=Imp|VerbForm=Fin\t0\troot\t0:root\tSpaceAfter=No\n"
    "4\t;\t;\tPUNCT\t,\t_\t3\tpunct\t3:punct\t_\n"
    "5\tshe\tshe\tPRON\tPRP\tCase=Nom|Gender=Fem|Number=Sing|Person=3\t6\tnsubj\t6:nsubj|7.1:nsubj\t_\n"
    "6-7\tcan't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n"
    "6\tca\tcan\tAUX\tMD\tVerbForm=Fin\t3\tparataxis\t3:parataxis\t_\n"
    "7\tn't\tnot\tPART\tRB\tPolarity=Neg\t6\tadvmod\t7.1:advmod\t_\n"
    "7.1\twait\twait\tVERB\tVB\tVerbForm=Inf\t_\t_\t3:parataxis\tCopyOf=3\n"
    "8\t.\t.\tPUNCT\t.\t_\t3\tpunct\t3:punct\t_\n"
    "\n"
    "# sent_id = letters-0001-0002\n"
    "# text = # 1 \xF0\x9F\x99\x82\n"
    "1\t#\t#\tSYM\tNN\t_\t0\troot\t0:root\t_\n"
    "2\t1\t1\tNUM\tCD\tNumForm=Digit|NumType=Card\t1\tnummod\t1:nummod\t_\n"
    "3\t\xF0\x9F\x99\x82\t\xF0\x9F\x99\x82\tSYM\tNFP\t_\t1\tdiscourse\t1:discourse\t_\n"
    "\n";

std::string with_carriage_returns(const std::string& text) {
  std::string result;
  for (const char letter : text) result += letter == '\n' ? "\r\n" : std::string(1, letter);
  return result;
}

// Converts files of the folder by a shell command, as the data sets' notes turn them into LABEL, tab, TEXT.
std::string made_by(const std::string& command, const TemporaryFolder& folder) {
  int status = 0;
  const std::string output = output_of("cd '" + folder.path().string() + "' && " + command, status);
  CHECK(status == 0);
  return output;
}

}  // namespace

TEST_CASE("layouts: Universal Dependencies' treebanks") {
  for (const std::string& content : {treebank, with_carriage_returns(treebank), byte_order_mark + treebank}) {
    const auto sentences = read_conllu(content, "x.conllu", "", Gold::given);
    REQUIRE(sentences.size() == 2);
    CHECK(sentences[0].words == Strings{"Do", "n't", "wait", ";", "she", "ca", "n't", "."});
    CHECK(sentences[0].tags == Strings{"AUX", "PART", "VERB", "PUNCT", "PRON", "AUX", "PART", "PUNCT"});
    CHECK(sentences[0].lines == std::vector<Index>{6, 7, 8, 9, 10, 12, 13, 15});
    CHECK(sentences[1].words == Strings{"#", "1", "\xF0\x9F\x99\x82"});
    CHECK(read_conllu(content, "x", "xpos", Gold::given)[1].tags == Strings{"NN", "CD", "NFP"});
    CHECK(read_conllu(content, "x", "lemma", Gold::given)[0].tags[5] == "can");
  }
}

TEST_CASE("layouts: WNUT-17's entities, whose files end sentences in two ways") {
  // The training file has a tab in the lines between sentences, the others have nothing.
  for (const std::string between : {"\t\n", "\n"}) {
    const std::string content = "@anna\tO\nflies\tO\nto\tO\nNew\tB-location\nYork\tI-location\n!\tO\n" + between +
                                "\xF0\x9F\x98\x82\tO\nRT\tO\n@Bob_2\tO\n:\tO\nhttp://t.co/x\tO\n&amp;\tO\n\"\tO\n" +
                                between;
    const auto sentences = read_conll(content, "x.conll", "", Gold::given);
    REQUIRE(sentences.size() == 2);
    CHECK(sentences[0].words == Strings{"@anna", "flies", "to", "New", "York", "!"});
    CHECK(sentences[0].tags == Strings{"O", "O", "O", "B-location", "I-location", "O"});
    CHECK(sentences[1].words == Strings{"\xF0\x9F\x98\x82", "RT", "@Bob_2", ":", "http://t.co/x", "&amp;", "\""});
  }
}

TEST_CASE("layouts: SQuAD 1.1 and XQuAD, with offsets in characters") {
  const std::string content =
      R"({"data": [{"title": "Oulu", "paragraphs": [{"context": "Die „Straße“ führt nach Älvsbyn, 12 km.", "qas": [)"
      R"({"id": "56beb4343aeaaa14008c925b", "question": "Wohin führt sie?", "answers": [)"
      R"({"answer_start": 24, "text": "Älvsbyn"}, {"answer_start": 19, "text": "nach Älvsbyn"}]}, )"
      R"({"id": "56beb4343aeaaa14008c925c", "question": "Wie weit?", "answers": [)"
      R"({"answer_start": 33, "text": "12 km"}]}]}]}], "version": "1.1"})";
  for (const std::string& file : {content, byte_order_mark + content}) {
    const auto questions = read_squad(file, "x.json", Gold::given);
    REQUIRE(questions.size() == 2);
    CHECK(questions[0].id == "56beb4343aeaaa14008c925b");
    REQUIRE(questions[0].answers.size() == 2);
    const std::string& context = *questions[0].context;
    for (const auto& question : questions) {
      for (const auto& answer : question.answers)
        CHECK(context.substr(answer.begin, answer.text.size()) == answer.text);
    }
    // „ and “ take three bytes each, ß and ü two, and so does the answer's own Ä.
    CHECK(questions[0].answers[0].begin == 24 + 2 + 2 + 1 + 1);
    CHECK(questions[1].answers[0].begin == 33 + 2 + 2 + 1 + 1 + 1);
  }
}

TEST_CASE("layouts: SQuAD 2.0, whose impossible questions have plausible answers") {
  const auto questions = read_squad(
      R"({"version":"v2.0","data":[{"title":"Rivers","paragraphs":[{"qas":[{"question":"Where does it rise?",)"
      R"("id":"68cf05f67fd29c6f129fe2fb9","answers":[{"text":"in the hills","answer_start":9},)"
      R"({"text":"the hills","answer_start":12}],"is_impossible":false},{"plausible_answers":[{"text":"the sea",)"
      R"("answer_start":35}],"question":"Where does it freeze?","id":"c42edddd0f45b968cc4c512e5","answers":[],)"
      R"("is_impossible":true}],"context":"It rises in the hills and flows to the sea."}]}]})",
      "x.json", Gold::given);
  REQUIRE(questions.size() == 2);
  CHECK_FALSE(questions[0].impossible);
  CHECK(questions[0].answers.size() == 2);
  CHECK(questions[1].impossible);
  CHECK(questions[1].answers.empty());
}

TEST_CASE("layouts: the spam collection, whose last line has no end") {
  const auto examples = read_tsv(
      "ham\tSee you at 5 &lt;#&gt; then.. \xC3\x9C :)\nspam\tWIN \xC2\xA3"
      "1000 \"now\"! Txt 'YES'\nham\tok",
      "SMSSpamCollection", Texts::one, Gold::given);
  REQUIRE(examples.size() == 3);
  CHECK(examples[0].text == "See you at 5 &lt;#&gt; then.. \xC3\x9C :)");
  CHECK(examples[1].label == "spam");
  CHECK(examples[1].text ==
        "WIN \xC2\xA3"
        "1000 \"now\"! Txt 'YES'");
  CHECK(examples[2].text == "ok");
}

TEST_CASE("layouts: SST-2, TREC, CoLA and WiC after the one command that each needs") {
  const TemporaryFolder folder;
  write_bytes(folder.file("sst2"), "0 a long string of \" clich\xC3\xA9s \" .\n1 you 'll laugh -lrb- twice -rrb- !\n");
  write_bytes(folder.file("trec"), "DESC:manner How did \x93it\x94 begin ?\n");
  write_bytes(folder.file("cola"), "gj04\t1\t\tThe boat sank.\ncj99\t0\t*\tThe more you it want, \"the\" less.\n");
  write_bytes(folder.file("wic"), "board\tN\t2-2\tRoom and board .\tHe nailed boards up .\n");
  write_bytes(folder.file("gold"), "F\n");

  const auto sst = read_tsv(made_by("sed 's/ /\\t/' sst2", folder), "x", Texts::one, Gold::given);
  REQUIRE(sst.size() == 2);
  CHECK(sst[0].label == "0");
  CHECK(sst[0].text == "a long string of \" clich\xC3\xA9s \" .");
  CHECK(sst[1].text == "you 'll laugh -lrb- twice -rrb- !");
  const auto trec =
      read_tsv(made_by("iconv -f WINDOWS-1252 -t UTF-8 trec | sed 's/ /\\t/'", folder), "x", Texts::one, Gold::given);
  CHECK(trec.at(0).label == "DESC:manner");
  CHECK(trec.at(0).text == "How did \u201Cit\u201D begin ?");
  const auto cola = read_tsv(made_by("cut -f2,4 cola", folder), "x", Texts::one, Gold::given);
  REQUIRE(cola.size() == 2);
  CHECK(cola[1].label == "0");
  CHECK(cola[1].text == "The more you it want, \"the\" less.");
  const auto wic = read_tsv(made_by("cut -f4,5 wic | paste gold -", folder), "x", Texts::two, Gold::given);
  CHECK(wic.at(0).label == "F");
  CHECK(wic.at(0).text == "Room and board .");
  CHECK(wic.at(0).second_text == "He nailed boards up .");
}

TEST_CASE("layouts: CoarseWSD-20, senses apart from sentences, no end of the last line") {
  const TemporaryFolder folder;
  write_bytes(folder.file("test.data.txt"), "2\tthe west bank ( of the river ) floods\n1\ta bank lends $ 5 , 000 .");
  write_bytes(folder.file("test.gold.txt"), "1\n0");
  for (const Gold gold : {Gold::absent, Gold::given}) {
    const std::string content =
        made_by(gold == Gold::given ? "paste test.gold.txt test.data.txt" : "cat test.data.txt", folder);
    const auto words = read_marked_words(content, "x", gold);
    REQUIRE(words.size() == 2);
    for (const auto& word : words) CHECK(word.words[static_cast<std::size_t>(word.position)] == "bank");
    CHECK(words[0].sense == (gold == Gold::given ? "1" : ""));
    CHECK(words[1].words.size() == 8);
  }
}

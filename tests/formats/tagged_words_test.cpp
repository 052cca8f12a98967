// Tagged sentences as objects and tables; separators, quotes and encodings of tables.
#include <doctest/doctest.h>

#include "formats/files.hpp"
#include "formats/files/text_decoder.hpp"
#include "libcore/base/strings.hpp"
#include "support/labelled.hpp"

using namespace heddle;
using namespace heddle::formats;
using namespace heddle::tests;

namespace tagged_words_tests {

namespace {

LabelledInput with_format(const std::string& format, const TextColumns& columns = {}) {
  LabelledInput input;
  input.format = FormatChoice::from_text(format);
  input.columns = columns;
  return input;
}

// "3: Bonn/B-LOC is/O" for each sentence, with the line of its first word.
std::string sentences(const std::string& content, const LabelledInput& input, Gold gold = Gold::given) {
  std::string all;
  for (const data::TaggedSentence& sentence : read_tagged_sentences(content, "x", input, gold)) {
    all += std::to_string(sentence.lines.front()) + ":";
    for (std::size_t w = 0; w < sentence.words.size(); ++w) {
      all += " " + sentence.words[w] + (gold == Gold::given ? "/" + sentence.tags[w] : "");
    }
    all += sentence.widened > 0 ? concatenate(" +", sentence.widened, "\n") : "\n";
  }
  return all;
}

std::string jsonl(const std::string& content, const std::string& format = "jsonl") {
  return sentences(content, with_format(format));
}

std::string problem(const std::string& content, const std::string& format = "jsonl") {
  return message_of([&] { jsonl(content, format); });
}

std::string texts(const std::string& content, const std::string& format, const TextColumns& columns = {},
                  Header header = Header::automatic) {
  LabelledInput input = with_format(format, columns);
  input.header = header;
  std::string all;
  for (const data::LabelledText& text : read_labelled_texts(content, "x", input, Texts::one, Gold::given)) {
    all += text.label + "|" + replaced(text.text, "\n", "^") + " ";
  }
  return all;
}

std::string decoded(const std::string& bytes, const std::string& encoding) {
  std::string all;
  TextDecoder decoder("x", encoding);
  for (const char byte : bytes) all += decoder.add({&byte, 1});
  return all + decoder.finish();
}

}  // namespace

TEST_CASE("tagged words: objects with words and tags, by names or numbers") {
  CHECK(
      jsonl(
          "{\"tokens\":[\"Bonn\",\"is\"],\"ner_tags\":[\"B-LOC\",\"O\"]}\n\n{\"words\":[\"a\"],\"tags\":[\"O\"]}\n") ==
      "1: Bonn/B-LOC is/O\n3: a/O\n");
  CHECK(jsonl("[{\"tokens\":[\"Bonn\"],\n \"ner_tags\":[1]},\n{\"tokens\":[\"is\"],\"ner_tags\":[0]}]",
              "jsonl:tags=O B-LOC") == "1: Bonn/B-LOC\n3: is/O\n");
  CHECK(jsonl("{\"tokens\":[\"a\"],\"ner_tags\":[7]}") == "1: a/7\n");
  CHECK(sentences("{\"form\":[\"a\"],\"pos\":[\"X\"]}", with_format("jsonl", {"form", "", "pos"})) == "1: a/X\n");
  CHECK(sentences("{\"tokens\":[\"a\",\"b\"]}", with_format("jsonl"), Gold::absent) == "1: a b\n");
  CHECK(contains(problem("{\"tokens\":[\"a\",\"b\"],\"ner_tags\":[\"O\"]}"),
                 "the numbers of words and tags are 2 and 1"));
  CHECK(contains(problem("{\"tokens\":[\"a\"],\"ner_tags\":[2]}", "jsonl:tags=O B"), "the tag 2 has no name"));
  CHECK(contains(problem("{\"tokens\":[\"\"],\"ner_tags\":[\"O\"]}"), "a word is empty"));
  CHECK(contains(problem("{\"tokens\":[],\"ner_tags\":[]}"), "has no words"));
  CHECK(contains(problem("{\"tokens\":[\"a\"],\"labels\":[\"O\"]}"),
                 "has no key 'ner_tags'; there are: 'tokens', 'labels'"));
}

TEST_CASE("tagged words: texts with spans of characters") {
  const std::string text = "{\"text\":\"\u00dcber Bonn, New York-based Ann\",\"entities\":";
  CHECK(jsonl(text + "[{\"start\":5,\"end\":9,\"label\":\"LOC\"},[11,19,\"LOC\"],[26,29,\"PER\"]]}") ==
        "1: \u00dcber/O Bonn/B-LOC ,/O New/B-LOC York/I-LOC -/O based/O Ann/B-PER\n");
  CHECK(jsonl(text + "[]}") == "1: \u00dcber/O Bonn/O ,/O New/O York/O -/O based/O Ann/O\n");
  CHECK(jsonl(text + "[[6,8,\"A\"],[20,22,\"B\"]]}") ==
        "1: \u00dcber/O Bonn/B-A ,/O New/O York/O -/O based/B-B Ann/O +2\n");
  CHECK(contains(problem(text + "[[5,9,\"A\"],[6,10,\"B\"]]}"), "two entities have the word 'Bonn'"));
  CHECK(contains(problem(text + "[[5,5,\"A\"]]}"), "is not within its text"));
  CHECK(contains(problem(text + "[[5,90,\"A\"]]}"), "is not within its text"));
  CHECK(contains(problem(text + "[[10,11,\"A\"]]}"), "has no word"));
  CHECK(contains(problem(text + "[[\"5\",9,\"A\"]]}"), "an entity is {"));
  CHECK(contains(problem(text + "[[5,9,\"\"]]}"), "the label is empty"));
}

TEST_CASE("tagged words: tables with the number of a sentence in the row of its first word") {
  const LabelledInput csv = with_format("csv");
  CHECK(sentences("Sentence #,Word,POS,Tag\nSentence: 1,Bonn,NNP,B-LOC\n,\",\",\",\",O\nSentence: 2,a,X,O\n", csv) ==
        "2: Bonn/B-LOC ,/O\n4: a/O\n");
  CHECK(sentences("sentence_idx,word,tag\n1,a,O\n1,b,O\n2,c,O\n", csv) == "2: a/O b/O\n4: c/O\n");
  CHECK(sentences("sentence;w;t\n1;a;O\n", with_format("csv", {"w", "", "3"})) == "2: a/O\n");
  const auto problem_of = [&](const std::string& content) { return message_of([&] { sentences(content, csv); }); };
  CHECK(contains(problem_of("text,label\na,b\n"), "x:1: has no column 'Sentence #'"));
  CHECK(contains(problem_of("sentence,word,pos\n1,a,b\n"), "has no column 'tag'; there are: sentence, word, pos"));
  CHECK(contains(problem_of("sentence,word,tag\n1,a,O\n,b\n2,c,O\n"), "x:3: the number of columns is 2, not 3"));
  CHECK(contains(problem_of("sentence,word,tag\n1,,O\n"), "x:2: the word is empty"));
}

TEST_CASE("tables: separators and quotes by settings of the format") {
  CHECK(texts("label\ttext\na\t\"x\ty\"\n", "csv:separator=tab") == "a|x\ty ");
  CHECK(texts("a\t\"x\ty\"\n", "tsv:quote=double") == "a|x\ty ");
  CHECK(texts("a|x, \"y\"\n", "tsv:separator=|") == "a|x, \"y\" ");
  CHECK(texts("a;x,y\n", "csv:separator=semicolon", {}, Header::absent) == "a|x,y ");
  CHECK(texts("text,label\n'x, ''y''',a\n\"z\",b\n", "csv:quote=single") == "a|x, 'y' b|\"z\" ");
  CHECK(texts("text,label\n\"x,a\n", "csv:quote=none") == "a|\"x ");
  CHECK(texts("text|label\nx;y,z|a\n", "csv:separator=|,quote=none") == "a|x;y,z ");
  for (const std::string& text : {std::string("csv:separator=|,quote=none"), std::string("tsv:separator=comma"),
                                  std::string("auto:encoding=latin1"), std::string("jsonl:tags=O B\\,X")}) {
    CHECK(FormatChoice::from_text(text).text() == text);
  }
  for (const auto& [text, says] : std::vector<std::pair<std::string, std::string>>{
           {"csv:separator=ab", "'ab' is not a separator"},
           {"csv:separator=\"", "'\"' is not a separator"},
           {"csv:quote=|", "quote: "},
           {"auto:separator=tab", "auto has no setting 'separator'; it has encoding"},
           {"conll:quote=none", "conll has no setting 'quote'"},
           {"jsonl:tags=O", "is not a list of tags"},
           {"csv:encoding=no-such", "'no-such' is not an encoding"},
           {"csv:encoding=latin1//IGNORE", "is not an encoding"},
           {"exe", "exe"}}) {
    const std::string choice = text;
    CAPTURE(choice);
    CHECK(contains(message_of<UsageError>([&] { FormatChoice::from_text(choice); }), says));
  }
}

TEST_CASE("tables: a text joined from several columns, in their order and without blanks") {
  const TextColumns columns{.text = "title,body", .text_b = "", .label = ""};
  CHECK(texts("body,label,title\nB,a,A\n,b,C\nD,c, \n", "csv", columns) == "a|A^B b|C c|D ");
  CHECK(texts("label\tA\tB\n", "tsv", {.text = "3,2", .text_b = "", .label = "1"}) == "label|B^A ");
  CHECK(texts("{\"title\":\"A\",\"body\":\"B\",\"label\":1}\n{\"title\":null,\"body\":\"C\",\"label\":2}\n", "jsonl",
              columns) == "1|A^B 2|C ");
  CHECK(texts("\"title,body\",label\nA,a\n", "csv", columns) == "a|A ");
  CHECK(contains(message_of([&] { texts("title,label\nA,a\n", "csv", columns); }), "has no column 'body'"));
  CHECK(contains(message_of([&] { texts("a\tb\n", "tsv", {.text = "2,2", .text_b = "", .label = ""}); }),
                 "are both column 2"));
  CHECK(contains(message_of<UsageError>(
                     [&] { texts("title,label\nA,a\n", "csv", {.text = "title,", .text_b = "", .label = ""}); }),
                 "'title,' lacks a name"));
}

TEST_CASE("text decoder: other encodings as UTF-8, wherever they are cut") {
  CHECK(decoded("caf\xe9\n", "latin1") == "caf\u00e9\n");
  CHECK(decoded("\x80 5 \x93x\x94", "windows-1252") == "\u20ac 5 \u201cx\u201d");
  const std::string little("\xff\xfe\xe9\x00\x3d\xd8\x00\xde", 8), big("\xfe\xff\x00\xe9\xd8\x3d\xde\x00", 8);
  CHECK(decoded(little, "utf-16") == "\ufeff\u00e9\U0001F600");
  CHECK(decoded(big, "UTF-16") == "\ufeff\u00e9\U0001F600");
  CHECK(decoded(little.substr(2), "utf-16") == "\u00e9\U0001F600");
  CHECK(message_of([&] { decoded(little.substr(0, 5), "utf-16"); }) == "x:1: is not text in utf-16");
  CHECK(message_of([&] { decoded("a\nb\nc\x81", "windows-1252"); }) == "x:3: is not text in windows-1252");
  CHECK_THROWS_AS(TextDecoder("x", "no-such"), UsageError);
  // A letter waits for its accent, and comes at the end without one.
  CHECK(decoded("e\xec e", "windows-1258") == "\u00e9 e");
  // Lines before the fault in the same bytes, in earlier ones, and beyond what is converted at once.
  const auto fault_after = [](const std::vector<std::string>& parts) {
    TextDecoder decoder("x", "windows-1252");
    return message_of([&] {
      for (const std::string& part : parts) decoder.add(part);
    });
  };
  CHECK(fault_after({"a\nb\nc\x81"}) == "x:3: is not text in windows-1252");
  CHECK(fault_after({"a\n", "b\n\n", "c\n\x81\n"}) == "x:5: is not text in windows-1252");
  std::string lines;
  for (int i = 0; i < 20'000; ++i) lines += i % 3 == 0 ? "\xe9\n" : "x\n";
  CHECK(fault_after({lines + "\x81"}) == "x:20001: is not text in windows-1252");
  CHECK(fault_after({lines, "\x81"}) == "x:20001: is not text in windows-1252");
}

}  // namespace tagged_words_tests

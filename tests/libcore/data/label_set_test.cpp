#include "libcore/data/label_set.hpp"

#include <doctest/doctest.h>

#include "libcore/base/error.hpp"

using namespace heddle;
using namespace heddle::data;

namespace {

std::vector<LabelledText> labelled(const std::vector<std::string>& labels) {
  std::vector<LabelledText> examples;
  for (const std::string& label : labels) {
    examples.push_back({"text", std::nullopt, label, static_cast<Index>(examples.size()) + 1});
  }
  return examples;
}

}  // namespace

TEST_CASE("label set: sorted by bytes, whatever the order of examples") {
  const LabelSet labels = labels_of(labelled({"spam", "ham", "spam", "Z", "\u00e9"}));
  CHECK(labels.names() == std::vector<std::string>{"Z", "ham", "spam", "\u00e9"});
  CHECK(labels == labels_of(labelled({"\u00e9", "Z", "ham", "spam"})));
  CHECK(labels.find("spam") == 2);
  CHECK_FALSE(labels.find("eggs"));
  CHECK(label_ids(labelled({"ham", "spam", "ham"}), labels, "x") == std::vector<Index>{1, 2, 1});
}

TEST_CASE("label set: tags of sentences") {
  const std::vector<TaggedSentence> sentences = {{{"a", "b"}, {"NOUN", "DET"}, {1, 2}}, {{"c"}, {"DET"}, {4}}};
  const LabelSet labels = labels_of(sentences);
  CHECK(labels.names() == std::vector<std::string>{"DET", "NOUN"});
  CHECK(tag_ids(sentences[0], labels, "x") == std::vector<Index>{1, 0});
  CHECK_THROWS_WITH_AS(tag_ids(sentences[1], LabelSet({"NOUN"}), "test.conllu"),
                       "test.conllu:4: unknown label 'DET'; the model has NOUN", DataError);
}

TEST_CASE("label set: long labels are cut in messages, and one that is a sentence is known for a text") {
  const LabelSet labels({std::string(50, 'a'), "b"});
  const std::string sentence = "this is no label but " + std::string(50, 'c');
  const std::string says = "x.tsv:3: unknown label 'this is no label but " + std::string(19, 'c') +
                           "…'; the model has " + std::string(40, 'a') +
                           "…, b; if it is a text, the columns are swapped: `label_column` and `text_column` name them";
  CHECK_THROWS_WITH_AS(labels.id(sentence, "x.tsv", 3), says.c_str(), DataError);
}

TEST_CASE("label set: unknown labels are named with what is known") {
  const LabelSet labels({"ham", "spam"});
  CHECK_THROWS_WITH_AS(label_ids(labelled({"ham", "spma"}), labels, "test.tsv"),
                       "test.tsv:2: unknown label 'spma'; the model has ham, spam; did you mean 'spam'?", DataError);
  CHECK(labels.unknown("hat", "f", 2).ends_with("; did you mean 'ham'?"));
  CHECK(labels.unknown("ha", "f", 2).ends_with("; the model has ham, spam"));
  std::vector<std::string> many;
  for (int i = 0; i < 30; ++i) many.push_back(std::to_string(100 + i));
  try {
    LabelSet(many).id("x", "f", 1);
    FAIL("the label was known");
  } catch (const DataError& error) {
    CHECK(std::string(error.what()).ends_with("118, 119 and 10 more"));
  }
  CHECK_THROWS_AS(LabelSet({"a", "b", "a"}), DataError);
  CHECK_THROWS_AS(LabelSet({""}), DataError);
}

TEST_CASE("label set: counts, and warnings for labels with one example or none") {
  const LabelSet labels({"a", "b", "c", "d"});
  const std::vector<Index> ids = {0, 2, 0, 1, 0};
  const std::vector<Index> counts = label_counts(ids, labels);
  CHECK(counts == std::vector<Index>{3, 1, 1, 0});
  CHECK(label_warnings(counts, labels, "t.tsv") ==
        std::vector<std::string>{"t.tsv: no example of d", "t.tsv: only one example each of b, c"});
  CHECK(label_warnings(std::vector<Index>{2, 1, 2, 2}, labels, "t.tsv") ==
        std::vector<std::string>{"t.tsv: only one example of b"});
  CHECK(label_warnings(std::vector<Index>{2, 2, 2, 2}, labels, "t.tsv").empty());
}

TEST_CASE("label set: labels as numbers") {
  CHECK(numeric_labels(labelled({"1", "-2.5", "1e-3"}), "x") == std::vector<double>{1, -2.5, 1e-3});
  for (const std::string bad : {"", "one", "1,5", "1 ", "nan", "inf", "1e999", "0x1"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(numeric_labels(labelled({bad}), "x"), DataError);
  }
  CHECK_THROWS_WITH_AS(numeric_labels(labelled({"1", "ham"}), "y.tsv"),
                       "y.tsv:2: the label 'ham' is not a finite number", DataError);
}

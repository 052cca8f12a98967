#include "formats/labelled/bias_tests.hpp"

#include "formats/files.hpp"

using namespace heddle;
using namespace heddle::formats;
using heddle::tests::message_of;

namespace {

const std::string templates =
    "# who\n[templates occupations]\ntemplate = [TARGET] is, say, a [ATTRIBUTE].\ntarget = he, she\n"
    "attribute = nurse, head of state\n attribute=engineer\nneutral = person\n\n";
const std::string weat =
    "[weat flowers and insects]\r\nx = rose, tulip\r\ny = ant, wasp\r\na = love\r\nb = ugly, bad\r\n";

std::vector<std::string> texts(const std::vector<data::PlacedText>& list) {
  std::vector<std::string> result;
  for (const data::PlacedText& text : list) result.push_back(text.text);
  return result;
}

std::string message(const std::string& content) {
  return message_of([&] { read_bias_tests(content, "t.txt"); });
}

}  // namespace

TEST_CASE("bias tests: sections of all kinds") {
  const std::string pairs = "[pairs sentences]\nfirst = She, a nurse, left.\nsecond = He, a nurse, left.\n";
  const data::BiasTests tests = read_bias_tests(templates + pairs + weat + "context = A [WORD] is here.", "t.txt");
  REQUIRE(tests.templates.size() == 1);
  REQUIRE(tests.words.size() == 1);
  const data::TemplateTest& first = tests.templates[0];
  CHECK(first.name == "occupations");
  CHECK(texts(first.templates) == std::vector<std::string>{"[TARGET] is, say, a [ATTRIBUTE]."});
  CHECK(texts(first.targets) == std::vector<std::string>{"he", "she"});
  CHECK(texts(first.attributes) == std::vector<std::string>{"nurse", "head of state", "engineer"});
  CHECK(first.attributes[2].line == 6);
  CHECK(texts(first.neutral) == std::vector<std::string>{"person"});
  REQUIRE(tests.pairs.size() == 1);
  CHECK(texts(tests.pairs[0].first) == std::vector<std::string>{"She, a nurse, left."});
  CHECK(texts(tests.pairs[0].second) == std::vector<std::string>{"He, a nurse, left."});
  CHECK(tests.pairs[0].second[0].line == 11);
  const data::WordTest& second = tests.words[0];
  CHECK(second.name == "flowers and insects");
  CHECK(texts(second.x) == std::vector<std::string>{"rose", "tulip"});
  CHECK(texts(second.b) == std::vector<std::string>{"ugly", "bad"});
  CHECK(texts(second.contexts) == std::vector<std::string>{"A [WORD] is here."});
}

TEST_CASE("bias tests: what is wrong, and in which line") {
  CHECK(message("") == "t.txt: has no section; there are [templates NAME], [pairs NAME] and [weat NAME]");
  CHECK(message("x = a").find("t.txt:1: 'x = a' stands before the first section; there are [templates NAME], ") == 0);
  CHECK(message("[weird x]").find("t.txt:1: '[weird x]' does not begin a section; there are [templates NAME], ") == 0);
  CHECK(message("[pairs p]\nfirst = a\nsecond = b\nfirst = c") ==
        "t.txt:1: the section pairs p has 2 for first and 1 for second, and needs as many");
  CHECK(message("[pairs p]\nfirst = a") == "t.txt:1: the section pairs p has 0 for second, and needs at least 1");
  CHECK(message("[weat x").find("t.txt:1: '[weat x' does not begin a section") == 0);
  CHECK(message("[weat f]\nz = 1") == "t.txt:2: 'z' is not a key of a section weat, which has x, y, a, b, context");
  for (const std::string bad : {"x = \xFF", "x = a\x01"}) {
    CHECK(message("[weat f]\n" + bad) == "t.txt:2: is not UTF-8 text, or has control characters");
  }
  CHECK(message("[weat f]\nwords") == "t.txt:2: 'words' is not KEY = VALUE");
  CHECK(message("[weat f]\nx = a,,b") == "t.txt:2: x has an empty text");
  CHECK(message("[weat f]\nx = a, b\ny = c\n") == "t.txt:1: the section weat f has 1 for y, and needs at least 2");
  CHECK(message(weat + "context = A word") == "t.txt:6: 'A word' must have [WORD] in one place");
  CHECK(message(templates + "target = they") == "t.txt:9: there are 3 targets, but exactly two are compared");
  CHECK(message(weat + "a = love") == "t.txt:6: 'love' is already in line 4; each text counts once");
  CHECK(message(weat + "y = rose") == "t.txt:6: 'rose' is already in line 2; each text counts once");
  CHECK(message(weat + "b = love") == "t.txt:6: 'love' is already in line 4; each text counts once");
  CHECK(message(weat + "context = A [WORD].\ncontext = A [WORD].") ==
        "t.txt:7: 'A [WORD].' is already in line 6; each text counts once");
  CHECK(message(templates + "neutral = person") == "t.txt:9: 'person' is already in line 7; each text counts once");
  CHECK(message(templates + "attribute = nurse") == "t.txt:9: 'nurse' is already in line 5; each text counts once");
  CHECK(message(weat + weat) == "t.txt:6: there is a section [weat flowers and insects] in line 1 already");
  CHECK(message(templates + "template = [TARGET] [TARGET] [ATTRIBUTE]") ==
        "t.txt:9: '[TARGET] [TARGET] [ATTRIBUTE]' must have [TARGET] in one place");
  CHECK(message(templates + "template = [TARGET] only").find("must have [ATTRIBUTE] in one place") !=
        std::string::npos);
}

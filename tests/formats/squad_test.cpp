#include <doctest/doctest.h>

#include <set>

#include "formats/files.hpp"
#include "formats/labelled/span_json.hpp"
#include "support/labelled.hpp"

using namespace heddle;
using namespace heddle::formats;
using namespace heddle::tests;

namespace {

// A file with one paragraph, whose questions are given.
std::string squad(const std::string& questions, const std::string& context = "Zo\u00eb met Max in Caf\u00e9 5.") {
  return R"({"version": "v2.0", "data": [{"title": "t", "paragraphs": [{"context": ")" + context + R"(", "qas": [)" +
         questions + "]}]}]}";
}

std::string question(const std::string& rest) {
  return R"({"id": "q1", "question": "Where?")" + rest + "}";
}

std::string squad_message(const std::string& content) {
  return message_of([&] { read_squad(content, "x.json", Gold::given); });
}

}  // namespace

TEST_CASE("squad: every character of a long context is found, and its end, and nothing beyond") {
  for (const int length : {0, 1, 255, 256, 257, 511, 512, 700}) {
    CAPTURE(length);
    std::string text;
    std::vector<std::size_t> begins;
    for (int i = 0; i < length; ++i) {
      begins.push_back(text.size());
      text += i % 3 == 0 ? "a" : i % 3 == 1 ? "\u00eb" : "\u65e5";
    }
    begins.push_back(text.size());
    const SpanContext context(text);
    for (std::size_t i = 0; i < begins.size(); ++i) CHECK(context.offset_of(i) == begins[i]);
    for (const std::uint64_t beyond : {1, 2, 300, 10'000'000}) {
      CHECK(context.offset_of(begins.size() - 1 + beyond) == std::string::npos);
    }
  }
}

TEST_CASE("squad: answers begin at a character, not a byte") {
  const auto questions = read_squad(
      squad(question(
          R"(, "answers": [{"text": "Caf\u00e9", "answer_start": 15}, {"text": "Zo\u00eb", "answer_start": 0}])")),
      "x", Gold::given);
  REQUIRE(questions.size() == 1);
  const data::SpanQuestion& q = questions[0];
  CHECK(q.id == "q1");
  CHECK(q.question == "Where?");
  CHECK_FALSE(q.impossible);
  REQUIRE(q.answers.size() == 2);
  CHECK(q.answers[0].begin == 16);
  CHECK(q.context->substr(q.answers[0].begin, 5) == "Caf\u00e9");
}

TEST_CASE("squad: impossible questions, and files without answers") {
  const auto both =
      read_squad(squad(question(R"(, "answers": [], "is_impossible": true)") + "," + question(R"(, "answers": [])")),
                 "x", Gold::given);
  CHECK(both.at(0).impossible);
  CHECK(both.at(1).impossible);
  CHECK(both[0].context == both[1].context);
  CHECK_FALSE(read_squad(squad(question("")), "x", Gold::absent).at(0).impossible);
  CHECK(contains(squad_message(squad(question(""))), "x.json: question 'q1': has no \"answers\""));
  CHECK(contains(squad_message(squad(question(R"(, "answers": [], "is_impossible": false)"))),
                 "question 'q1': has 0 answers"));
  CHECK(contains(
      squad_message(squad(question(R"(, "answers": [{"text": "Max", "answer_start": 8}], "is_impossible": true)"))),
      "question 'q1': has 1 answers, but \"is_impossible\" is true"));
}

TEST_CASE("squad: an answer that is not in the context at its place names file, question and the right place") {
  const auto answer = [](const std::string& text, const std::string& start) {
    return squad_message(
        squad(question(R"(, "answers": [{"text": ")" + text + R"(", "answer_start": )" + start + "}]")));
  };
  CHECK(answer("Max", "8") == "");
  CHECK(answer("Max", "9") ==
        "x.json: question 'q1': the answer 'Max' is not at character 9 of its context; the context has it at 8");
  CHECK(contains(answer("Moritz", "8"), "the context does not contain it"));
  CHECK(contains(answer("5. and", "20"), "is not at character 20"));
  for (const std::string start : {"1000", "18446744073709551615", "9223372036854775808"}) {
    CHECK(contains(answer("Max", start), "is not at character " + start));
  }
  for (const std::string start : {"-1", "8.0", "\"8\"", "null", "[8]"}) {
    CHECK(contains(answer("Max", start), "\"answer_start\" is not a number"));
  }
  CHECK(contains(answer("\u00a0", "0"), "the \"text\" of an answer is empty"));
  CHECK(
      contains(answer("", "0"), "the \"text\" of an answer is empty; a question without an answer has an empty list"));
}

TEST_CASE("squad: all wrong questions are named at once") {
  const auto asked = [](const std::string& id, const std::string& text, int start) {
    return concatenate(R"({"question": "?", "id": ")", id, R"(", "answers": [{"text": ")", text,
                       R"(", "answer_start": )", start, "}]}");
  };
  const std::string message =
      squad_message(squad(concatenate(asked("1", "Max", 1000), ", ", asked("2", "", 0), ", ", asked("3", "", 0))));
  CHECK(message.starts_with("x.json: question '1': the answer 'Max' is not at character 1000"));
  CHECK(contains(message, "; question '2': the \"text\" of an answer is empty"));
  CHECK(contains(message, "; question '3'"));
  CHECK(message.ends_with("; 3 of 3 records cannot be used"));
}

TEST_CASE("squad: files of another form") {
  CHECK(squad_message("{\n\"data\": [}\n") == "x.json:2: not valid JSON, at byte 10 of the line");
  CHECK(read_squad(R"([{"id": 7, "question": "?", "context": "Max", "answers": []}])", "x", Gold::given).at(0).id ==
        "7");
  CHECK(contains(squad_message(R"({"data": 5})"), "x.json: has no list \"data\""));
  CHECK(contains(squad_message(R"({"data": [{"paragraphs": []}, {}]})"),
                 "x.json: article 2: has no list \"paragraphs\""));
  CHECK(contains(squad_message(R"({"data": [{"paragraphs": [{"qas": []}]}]})"),
                 "x.json: article 1, paragraph 1: has no text \"context\""));
  CHECK(contains(squad_message(squad(R"({"question": "?", "answers": []})")),
                 "a question: has no text or number \"id\""));
  CHECK(contains(squad_message(squad(R"({"id": 5, "answers": []})")), "question '5': has no text \"question\""));
  CHECK(squad_message(R"({"data": []})") == "");
}

TEST_CASE("jsonl: spans, with answers in either of two forms") {
  const std::string head = R"({"question": "Who?", "context": "Ann saw Bo.", "answers": )";
  const auto questions =
      read_jsonl_spans(concatenate(head, R"([{"text": "Bo", "answer_start": 8}]})", "\n", head,
                                   R"({"text": ["Ann", "Bo"], "answer_start": [0, 8]}, "id": "x"})", "\n", head, "[]}"),
                       "x", Gold::given);
  REQUIRE(questions.size() == 3);
  CHECK(questions[0].id == "1");
  CHECK(questions[0].answers.at(0).text == "Bo");
  CHECK(questions[1].id == "x");
  CHECK(questions[1].answers.at(1).begin == 8);
  CHECK(questions[2].impossible);
  const auto message = [&](const std::string& answers) {
    return message_of([&] { read_jsonl_spans("\n" + head + answers + "}", "x.jsonl", Gold::given); });
  };
  CHECK(message("[]").empty());
  const auto second = [&](const std::string& answers) {
    return message_of([&] { read_jsonl_spans(head + "[]}\n" + head + answers + "}", "x.jsonl", Gold::given); });
  };
  CHECK(contains(second(R"([{"text": "Bo", "answer_start": 7}])"), "x.jsonl:2: the answer 'Bo' is not at character 7"));
  CHECK(contains(second(R"({"text": ["Bo"], "answer_start": []})"), "x.jsonl:2: \"answers\" has 1 texts and 0 starts"));
  CHECK(contains(second(R"("Bo")"), "x.jsonl:2: has no list \"text\""));
  CHECK(contains(second(R"([5])"), "x.jsonl:2: an answer has no \"text\""));
}

TEST_CASE("squad: published files") {
  struct File {
    const char* name;
    std::size_t contexts, questions, impossible;
  };
  const File files[] = {{"squadshifts-new_wiki_v1.0.json.gz", 1581, 7938, 0},
                        {"squadshifts-amazon_reviews_v1.0.json.gz", 2050, 9885, 0},
                        {"squad-dev-v1.1.json.gz", 2067, 10570, 0},
                        {"squad2-dev-half.json.gz", 646, 6078, 3168},
                        {"xquad.de.json", 240, 1190, 0}};
  for (const File& file : files) {
    const std::string content = shared_content(std::string("qa/") + file.name);
    if (content.empty()) return;
    CAPTURE(file.name);
    const auto questions = read_squad(content, file.name, Gold::given);
    CHECK(questions.size() == file.questions);
    std::set<const std::string*> contexts;
    std::size_t impossible = 0;
    for (const auto& question : questions) {
      contexts.insert(question.context.get());
      impossible += question.impossible ? 1 : 0;
    }
    CHECK(contexts.size() == file.contexts);
    CHECK(impossible == file.impossible);
  }
}

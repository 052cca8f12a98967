// Reports of metrics as programs read them.
#include <doctest/doctest.h>

#include "formats/archives/json_archive.hpp"
#include "libcore/metrics/classification.hpp"
#include "libcore/metrics/entities.hpp"
#include "libcore/metrics/span_answers.hpp"

using namespace heddle;
using formats::Json;
using formats::to_json;

TEST_CASE("json: classes and the confusion matrix stand under their names") {
  metrics::Confusion confusion(2);
  for (const auto& [gold, predicted] : {std::pair<Index, Index>{0, 0}, {0, 0}, {1, 0}, {1, 1}}) {
    confusion.add(gold, predicted);
  }
  const Json answer = to_json(metrics::report(confusion, std::vector<std::string>{"ham", "spam_1"}));
  CHECK(answer["examples"] == 4);
  CHECK(answer["accuracy"] == 0.75);
  CHECK(answer["macro_f1"].is_number_float());
  CHECK(answer["classes"]["ham"]["recall"] == 1.0);
  CHECK(answer["classes"]["spam_1"]["support"] == 2);
  CHECK(answer["confusion"].dump() == R"({"ham":{"ham":2,"spam_1":0},"spam_1":{"ham":1,"spam_1":1}})");
}

TEST_CASE("json: entities and answers have what counts at the top") {
  metrics::EntityMatches matches;
  metrics::add_entities(std::vector<std::string>{"B-loc"}, std::vector<std::string>{"B-loc"}, matches);
  const Json entities = to_json(metrics::report(matches));
  CHECK(entities["f1"] == 1.0);
  CHECK(entities["types"]["loc"]["support"] == 1);
  const Json answers = to_json(metrics::report(std::vector<metrics::AnswerScore>{{1, 1, false}}));
  CHECK(answers["exact_match"] == 1.0);
  CHECK(answers["impossible"]["questions"] == 1);
}

// A model to fine-tune, labelled texts, and what classify says of them.
#pragma once

#include <algorithm>

#include "support/json.hpp"
#include "tools/small_corpus.hpp"

namespace heddle::testing {

using nlohmann::json;

// The model has read the corpus; the sentences say what they are: cats and dogs, kings and queens.
struct Labelled : SmallCorpus {
  Labelled() {
    begin_with("labelled", [&] { write(); });
  }

  json evaluated(const std::string& command) const { return parse_json(must(command + " --evaluate --json").out); }

  // The probabilities of both classes for each line of the corpus, which has many more texts than have labels, or of
  // another file.
  std::vector<json> answers(const std::string& model, const std::string& file = "train.txt") const {
    const std::vector<json> list = json_lines(must("classify --jsonl --top 2 " + model + " " + file).out);
    REQUIRE(list.size() >= 120);
    return list;
  }

 private:
  void write() const {
    must("pretrain -q --train train.h5 -o model.h5 --steps 120" + tiny_model);
    std::string texts, pairs, tags;
    for (int i = 0; i < 120; ++i) {
      const bool animal = i % 2 == 0;
      const std::string subject =
          animal ? (i % 4 == 0 ? "the cat" : "a dog") : (i % 4 == 1 ? "the old king" : "my queen");
      const std::string verb = i % 3 == 0 ? "sees" : "forgets";
      texts += (animal ? "animal\t" : "royal\t") + subject + " " + verb + " a dog.\n";
      pairs += (animal ? "yes\t" : "no\t") + subject + "\t" + verb + "\n";
      tags += (animal ? "the\tDET\ncat\tNOUN\n" : "my\tDET\nqueen\tNOUN\n") + verb + "\tVERB\n\n";
    }
    write_file(path("texts.tsv"), texts);
    must("cut -f2 texts.tsv > texts.txt");
    write_file(path("pairs.tsv"), pairs);
    write_file(path("tags.conll"), tags);
  }
};

// Every label the same, and every probability within the tolerance.
inline void check_alike(const std::vector<json>& some, const std::vector<json>& others, double tolerance) {
  REQUIRE(some.size() == others.size());
  for (std::size_t i = 0; i < some.size(); ++i) {
    CAPTURE(some[i].dump());
    CAPTURE(others[i].dump());
    for (std::size_t k = 0; k < 2; ++k) {
      const json &one = some[i]["top"][k], &other = others[i]["top"][k];
      CHECK(one[0] == other[0]);
      CHECK(std::abs(one[1].get<double>() - other[1].get<double>()) <= tolerance);
    }
  }
}

// Options of a training that learns the labels.
inline const std::string quick = " -q --learning-rate 5e-3 --batch-size 8 --epochs 8 ";

}  // namespace heddle::testing

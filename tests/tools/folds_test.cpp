// finetune and classify --folds from outside.
#include <set>

#include "tools/labelled_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace folds_tests {

namespace {

constexpr int folds = 4;

// Texts that each have a label of their own, so that what a part has of labels tells which examples are in it; and a
// model that knows them all.
struct Folded : Labelled {
  Folded() {
    std::string own, uneven;
    for (int i = 0; i < 41; ++i) {
      own += "n" + std::to_string(i) + "\tthe cat sees " + std::string(static_cast<std::size_t>(i % 5), 'a') + "\n";
      uneven += std::string(i % 3 == 0 ? "animal" : "royal") + "\tthe cat sees\n";
    }
    write_file(path("own.tsv"), own);
    write_file(path("uneven.tsv"), uneven);
    must("finetune -q --from model.h5 --train own.tsv --steps 1 -o own.h5");
    must("finetune -q --from model.h5 --train texts.tsv --steps 1 -o two.h5");
  }

  // How many examples of each label the parts have that classify evaluates.
  using Parts = std::vector<std::map<std::string, int>>;
  Parts parts(const std::string& model, const std::string& file, const std::string& options = "") const {
    Parts result;
    for (int fold = 1; fold <= folds; ++fold) {
      const json report =
          evaluated("classify " + model + " " + file + " --folds 4 --fold " + std::to_string(fold) + options);
      std::map<std::string, int>& counts = result.emplace_back();
      for (const auto& [label, scores] : report["classes"].items()) {
        if (scores["support"] > 0) counts[label] = scores["support"];
      }
    }
    return result;
  }
};

int total(const std::map<std::string, int>& counts) {
  int sum = 0;
  for (const auto& [label, count] : counts) sum += count;
  return sum;
}

}  // namespace

TEST_CASE("folds: every example is in one part, the parts are as large, and only the seed changes them") {
  const Folded corpus;
  const Folded::Parts parts = corpus.parts("own.h5", "own.tsv");
  std::set<std::string> seen;
  for (const auto& part : parts) {
    CHECK((part.size() == 10 || part.size() == 11));
    for (const auto& [label, count] : part) {
      CAPTURE(label);
      CHECK(count == 1);
      CHECK(seen.insert(label).second);
    }
  }
  CHECK(seen.size() == 41);
  CHECK(corpus.parts("own.h5", "own.tsv", " --threads 1") == parts);
  CHECK(corpus.parts("own.h5", "own.tsv", " --threads 2") == parts);
  CHECK(corpus.parts("own.h5", "own.tsv", " --seed 5") != parts);
}

TEST_CASE("folds: finetune leaves out the part that classify evaluates, and judges itself by it") {
  const Folded corpus;
  const Folded::Parts parts = corpus.parts("own.h5", "own.tsv"),
                      others = corpus.parts("own.h5", "own.tsv", " --seed 5");
  for (int fold = 1; fold <= folds; ++fold) {
    const std::string command = "finetune --from model.h5 --train own.tsv --steps 1 --folds 4 --fold " +
                                std::to_string(fold) + " --restart -o f" + std::to_string(fold) + ".h5";
    const auto left_out = [&](const std::string& options) {
      const std::string said = corpus.must(command + options).err, begin = "own.tsv: no example of ";
      const std::size_t at = said.find(begin) + begin.size();
      REQUIRE(at >= begin.size());
      std::set<std::string> labels;
      for (const std::string& label : split(said.substr(at, said.find('\n', at) - at), ',')) {
        labels.insert(label.substr(label.find_first_not_of(' ')));
      }
      return labels;
    };
    const auto expected = [&](const Folded::Parts& all) {
      std::set<std::string> labels;
      for (const auto& [label, count] : all[static_cast<std::size_t>(fold - 1)]) labels.insert(label);
      return labels;
    };
    CHECK(left_out("") == expected(parts));
    CHECK(left_out(" --threads 1") == expected(parts));
    CHECK(left_out(" --seed 5") == expected(others));
  }
  corpus.must(
      "finetune --from model.h5 --train texts.tsv --folds 4 --fold 2 --steps 9 --eval-every 9 --log log -o f.h5 -q");
  const json last = json_lines(read_file(corpus.path("log"))).back();
  const json report = corpus.evaluated("classify f.h5 texts.tsv --folds 4 --fold 2");
  CHECK(report["examples"] == 30);
  CHECK(report["accuracy"].get<double>() == doctest::Approx(last["valid_accuracy"].get<double>()));
}

TEST_CASE("folds: have as much of every label, to within one example") {
  const Folded corpus;
  for (const char* options : {"", " --seed 5"}) {
    for (const auto& part : corpus.parts("two.h5", "uneven.tsv", options)) {
      CHECK((part.at("animal") == 3 || part.at("animal") == 4));
      CHECK((part.at("royal") == 6 || part.at("royal") == 7));
      CHECK((total(part) == 10 || total(part) == 11));
    }
  }
}

}  // namespace folds_tests

// finetune and classify --folds from outside.
#include <cmath>
#include <iterator>
#include <set>
#include <sstream>

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
      const std::string text = "\tthe cat sees " + std::string(static_cast<std::size_t>(i), 'a') + "\n";
      own += "n" + std::to_string(i) + text;
      uneven += (i % 3 == 0 ? "animal" : "royal") + text;
    }
    std::string distinct;
    for (int i = 0; i < 120; ++i) {
      distinct += std::string(i % 2 == 0 ? "animal\tthe cat" : "royal\tmy queen") + " sees " +
                  std::string(static_cast<std::size_t>(i), 'a') + "\n";
    }
    write_file(path("distinct.tsv"), distinct);
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

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream words(line);
  return {std::istream_iterator<std::string>(words), std::istream_iterator<std::string>()};
}

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
      "finetune --from model.h5 --train distinct.tsv --folds 4 --fold 2 --steps 9 --eval-every 9 --log log -o f.h5 -q");
  const json last = json_lines(read_file(corpus.path("log"))).back();
  const json report = corpus.evaluated("classify f.h5 distinct.tsv --folds 4 --fold 2");
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

TEST_CASE("folds: copies of a text are in one part, whatever their labels") {
  const Folded corpus;
  std::string copies;
  for (int i = 0; i < 40; ++i) {
    copies += "n" + std::to_string(i) + "\tthe cat sees " + std::string(static_cast<std::size_t>(i / 4), 'a') + "\n";
  }
  write_file(corpus.path("copies.tsv"), copies);
  corpus.must("finetune -q --from model.h5 --train copies.tsv --steps 1 -o copies.h5");
  std::set<std::string> seen;
  for (const auto& part : corpus.parts("copies.h5", "copies.tsv")) {
    std::map<int, int> texts;
    for (const auto& [label, count] : part) {
      ++texts[std::stoi(label.substr(1)) / 4];
      CHECK(seen.insert(label).second);
    }
    CHECK((texts.size() == 2 || texts.size() == 3));
    for (const auto& [text, count] : texts) CHECK(count == 4);
  }
  CHECK(seen.size() == 40);
  write_file(corpus.path("three.tsv"), "a\tone\nb\ttwo\na\tthree\na\tone\n");
  const Outcome few = corpus.run("finetune --from model.h5 --train three.tsv --folds 4 --fold 1 --steps 1 -o x.h5");
  CHECK(few.status == 1);
  CHECK(contains(few.err, "three.tsv: 3 different examples are not enough for 4 folds"));
}

TEST_CASE("folds: all of them in turn, with mean, standard deviation and the predictions of each example") {
  const Folded corpus;
  const std::string command = "finetune --arch bag --train distinct.tsv --folds 4 --fold all --steps 20 ";
  const Outcome outcome = corpus.must(command + "-o all.tsv");
  CHECK(contains(outcome.err, "fold 4 of 4: 30 examples, accuracy "));
  const std::vector<std::string> rows = lines_of(outcome.out),
                                 predictions = lines_of(read_file(corpus.path("all.tsv")));
  REQUIRE(rows.size() > 7);
  CHECK(words_of(rows[0])[2] == "accuracy");
  double sum = 0, squares = 0;
  std::vector<double> values;
  for (std::size_t fold = 1; fold <= 4; ++fold) values.push_back(std::stod(words_of(rows[fold])[2]));
  for (const double value : values) sum += value;
  for (const double value : values) squares += (value - sum / 4) * (value - sum / 4);
  CHECK(std::stod(words_of(rows[5])[1]) == doctest::Approx(sum / 4).epsilon(2e-4));
  CHECK(rows[6].starts_with("stddev"));
  CHECK(std::stod(words_of(rows[6])[1]) == doctest::Approx(std::sqrt(squares / 3)).epsilon(5e-3));
  // In the order of the file, and each fold as classify has it.
  REQUIRE(predictions.size() == 121);
  CHECK(predictions[0] == "text\tgold\tpredicted\tprobability\tfold");
  std::istringstream texts(read_file(corpus.path("distinct.tsv")));
  std::map<char, int> sizes;
  int right = 0;
  for (std::size_t i = 1; i < predictions.size(); ++i) {
    std::string line;
    REQUIRE(std::getline(texts, line));
    const std::vector<std::string> fields = split(predictions[i], '\t');
    CHECK(line == fields[1] + "\t" + fields[0]);
    right += fields[1] == fields[2] ? 1 : 0;
    ++sizes[predictions[i].back()];
  }
  CHECK(sizes == std::map<char, int>{{'1', 30}, {'2', 30}, {'3', 30}, {'4', 30}});
  CHECK(contains(outcome.out, "accuracy            " + std::to_string(right / 120.0).substr(0, 5)));
  CHECK(corpus.must(command + "-q --threads 1").out == outcome.out);
  for (const auto& [options, message] : std::vector<std::pair<std::string, std::string>>{
           {"-o x.h5", "with --fold all it takes the predictions, as NAME.tsv or NAME.jsonl"},
           {"-o distinct.tsv", "distinct.tsv"},
           {"--restart", "--restart: is for a model that is written"},
           {"--log log", "--log: is for a model that is written"},
           {"--eval-every 2", "--eval-every has no effect without --valid"}}) {
    CAPTURE(options);
    const Outcome refused = corpus.run(command + options);
    CHECK(refused.status == 2);
    CHECK(lines_in(refused.err) == 1);
    CHECK(contains(refused.err, message));
  }
}

}  // namespace folds_tests

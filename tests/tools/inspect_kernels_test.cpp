// inspect kernels: every variant is drawn and printed, as its kernel is; bad input is one line.
#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "formats/heddle/load_model.hpp"
#include "formats/samples.hpp"
#include "libcore/attention/attention.hpp"
#include "libcore/base/printable.hpp"
#include "support/json.hpp"
#include "support/models.hpp"
#include "support/png.hpp"
#include "tools/command.hpp"

using namespace heddle;
using heddle::testing::contains;
using heddle::testing::lines_in;
using heddle::testing::lines_of;
using heddle::testing::Outcome;
using heddle::testing::parse_json;
using heddle::testing::Png;
using heddle::testing::read_file;
using heddle::testing::run_command;
using heddle::testing::TemporaryFolder;
using nlohmann::json;

namespace {

class KernelsPlace {
 public:
  KernelsPlace() {
    const auto config = testing::decoder({.layers = 2,
                                          .width = 16,
                                          .heads = 2,
                                          .vocab_size = 257,
                                          .positions = "alibi",
                                          .attention = "gaussian:bandwidth=3,learned=1"});
    formats::ModelWriter file(folder_ / "model.h5");
    const models::Decoder model(config, 1);
    file.config(config);
    file.tokenizer(tests::byte_tokenizer_model());
    file.weights(formats::named_tensors(model.parameters()));
    file.commit(formats::start_provenance("pretrain"));
  }
  Outcome run(const std::string& words) const {
    return run_command("cd " + (folder_ / ".") + "; " INSPECT " " + words);
  }
  json numbers(const std::string& words) const {
    const Outcome outcome = run("kernels " + words + " --json");
    CAPTURE(outcome.err);
    REQUIRE(outcome.status == 0);
    return parse_json(outcome.out);
  }
  std::string path(const std::string& name) const { return folder_ / name; }

 private:
  TemporaryFolder folder_;
};

}  // namespace

TEST_CASE("inspect kernels: every variant prints finite weights, text of at most 100 columns, and a picture") {
  const KernelsPlace place;
  for (const AttentionVariant& variant : attention_variants()) {
    CAPTURE(variant.name);
    const std::string words = "--attention " + variant.name + " --head-width 8 --what distance,angle,plane";
    const json all = place.numbers(words);
    for (const char* name : {"distance", "angle", "plane_1"}) {
      const json& table = all.at(name);
      REQUIRE(table.at("values").size() == table.at("rows").size());
      for (const json& row : table.at("values")) {
        REQUIRE(row.size() == table.at("columns").size());
        for (const json& value : row) CHECK(value.is_number());
      }
    }
    CHECK(all.at("distance").at("values")[0][60].get<double>() == doctest::Approx(1).epsilon(1e-5));
    CHECK(all.at("angle").at("values")[0][0].get<double>() == doctest::Approx(1).epsilon(1e-5));
    const Outcome text = place.run("kernels " + words);
    CHECK(text.status == 0);
    for (const std::string& line : lines_of(text.out)) CHECK(display_width(line) <= 100);
    CHECK(place.run("kernels " + words + " -o x.svg").status == 0);
    CHECK(contains(read_file(place.path("x.svg")), "<svg xmlns=\"http://www.w3.org/2000/svg\""));
  }
}

TEST_CASE("inspect kernels: variants side by side, with settings after commas") {
  const KernelsPlace place;
  const json all = place.numbers(
      "--attention dot,gaussian:bandwidth=2,learned=1 --attention fourier --head-width 4 --length 1.5 --reach 3");
  const json& table = all.at("distance");
  CHECK(table.at("rows") == json({"dot", "gaussian:bandwidth=2,learned=1", "fourier"}));
  CHECK(all.at("before_training") == true);
  for (std::size_t i = 0; i < table.at("columns").size(); i += 10) {
    const double x = table["columns"][i].get<double>(), u = 2 * x;
    CHECK(table["values"][0][i].get<double>() == doctest::Approx(std::exp(1.5 * x / 2)).epsilon(1e-4));
    CHECK(table["values"][1][i].get<double>() == doctest::Approx(std::exp(-x * x / 4)).epsilon(1e-4));
    const double sinc = u == 0 ? 1 : std::sin(u) / u;
    CHECK(std::abs(table["values"][2][i].get<double>() - std::pow(sinc, 4)) < 1e-5);
    CHECK(std::abs(all["distance_score"]["values"][0][i].get<double>() - 1.5 * x / 2) < 1e-4);
  }
}

TEST_CASE("inspect kernels: an estimate is shown beside what it estimates, with errors that fall") {
  const KernelsPlace place;
  const json all = place.numbers("--attention performer:features=32 --what angle,error");
  CHECK(all.at("angle").at("rows") == json({"performer:features=32", "dot"}));
  CHECK(all.at("error").at("columns") == json({16, 64, 256, 1024}));
  const json& errors = all["error"]["values"][0];
  for (std::size_t i = 1; i < 4; ++i) CHECK(errors[i].get<double>() < errors[i - 1].get<double>());
  CHECK_FALSE(place.numbers("--attention performer:kernel=relu").contains("error"));
  CHECK_FALSE(place.numbers("--attention dot").contains("error"));
}

TEST_CASE("inspect kernels: a plane's pixels are round(255 weight / largest), the query's own key is white") {
  const KernelsPlace place;
  REQUIRE(place.run("kernels --attention gaussian --what plane --length 2 --reach 6 -o x.png").status == 0);
  const Png png(read_file(place.path("x.png")));
  const json table = place.numbers("--attention gaussian --what plane --length 2 --reach 6").at("plane_1");
  // 61 columns of 5.5 points from x = 76, below a heading of two lines and a title.
  const std::size_t top = 2 * (14 + 2 * 17 + 9 + 26);
  for (const std::size_t row : {30, 20, 5}) {
    for (const std::size_t column : {40, 35, 60}) {
      const auto wanted = std::lround(255 * table["values"][row][column].get<double>());
      const Png::Pixel pixel = png.at(2 * 76 + 11 * column + 5, top + 11 * row + 5);
      CHECK(std::abs(pixel[0] - wanted) <= 1);
      CHECK(pixel[0] == pixel[1]);
    }
  }
  CHECK(png.at(2 * 76 + 11 * 40 + 5, top + 11 * 30 + 5)[0] == 255);
}

TEST_CASE("inspect kernels: positions, and a model's layers") {
  const KernelsPlace place;
  const json alone = place.numbers("--attention dot --scheme alibi --heads 2 --causal --count 4 --what offset");
  CHECK(alone.at("offset").at("columns") == json({-3, -2, -1, 0}));
  CHECK(alone.at("offset").at("values")[0][0].get<double>() == doctest::Approx(std::exp(-3.0 / 16)).epsilon(1e-4));
  const json model = place.numbers("model.h5 --layer all --head 2 --attention dot");
  CHECK(model.at("head_width") == 8);
  CHECK(model.at("distance").at("rows") == json({"decoder layer 1 head 2", "decoder layer 2 head 2", "dot head 2"}));
  const double x = model["distance"]["columns"][50].get<double>();
  CHECK(model["distance"]["values"][1][50].get<double>() == doctest::Approx(std::exp(-x * x / 6)).epsilon(1e-4));
  const json offsets = place.numbers("model.h5 --what offset --count 4").at("offset");
  CHECK(offsets.at("values")[0][0].get<double>() == doctest::Approx(std::exp(-3.0 / 16)).epsilon(1e-4));
}

TEST_CASE("inspect kernels: tables and files") {
  const KernelsPlace place;
  REQUIRE(place.run("kernels --attention dot,gaussian --what angle -o x.tsv").status == 0);
  const auto lines = lines_of(read_file(place.path("x.tsv")));
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].starts_with("curve\t0\t2\t4\t"));
  CHECK(lines[1].starts_with("dot\t1\t0.99"));
  REQUIRE(place.run("kernels --attention dot,gaussian -o x.h5").status == 0);
  CHECK(place.run("verify x.h5").status == 0);
}

TEST_CASE("inspect kernels: bad input is one line that says what there is") {
  const KernelsPlace place;
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"", "give a MODEL, or --attention NAME,..."},
      {"--attention dott", "--attention: 'dott' is not one of dot, gaussian"},
      {"--attention dot,gaussian:width=3", "width"},
      {"--attention scale=3", "'scale=3'"},
      {"--attention dot --scheme nowhere", "--scheme: 'nowhere' is not one of learned"},
      {"--attention dot --scheme sinusoidal", "--scheme: sinusoidal does not act in attention"},
      {"--attention performer --scheme alibi", "performer computes no scores to which the bias"},
      {"--attention dot --what offset", "--what offset needs positions that act in attention: give --scheme NAME"},
      {"--attention dot --what error", "--what error: none of the variants is an estimate"},
      {"--attention dot --what shape", "'shape' is not one of distance, distance-score"},
      {"--attention dot --head 2", "--head 2: the layer has 1 head"},
      {"--attention dot --layer 1", "--layer belongs to a MODEL"},
      {"--attention dot --count 5", "--count"},
      {"--attention dot --head-width 5 --direction diagonal", "the diagonal needs an even head width, not 5"},
      {"--attention dot -o x.jpg", "x.jpg: kernels can be written to .svg, .png, .pdf, .tsv and .h5 files"},
      {"--attention dot -o x.tsv", "choose one of them with --what: distance, distance-score, angle, angle-score"},
      {"--attention dot -o x.png --json", "--json prints to standard output"},
      {"model.h5 --head-width 8", "--head-width is the model's own"},
      {"model.h5 --layer 3", "--layer 3: the model has layers 1 to 2"},
      {"model.h5 --stack encoder", "--stack 'encoder' is not one of decoder"},
      {"model.h5 --what angle -o model.h5", "model.h5"}};
  for (const auto& [words, message] : wrong) {
    CAPTURE(words);
    const Outcome outcome = place.run("kernels " + words);
    CAPTURE(outcome.err);
    CHECK(outcome.status == 2);
    CHECK(lines_in(outcome.err) == 1);
    CHECK(contains(outcome.err, message));
    CHECK(outcome.out.empty());
  }
  CHECK(place.run("kernels nothing.h5").status == 1);
}

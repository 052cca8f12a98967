// inspect positions: every scheme is drawn and printed, as its numbers are; bad input is one line.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <numbers>

#include "formats/heddle/load_model.hpp"
#include "formats/samples.hpp"
#include "libcore/base/printable.hpp"
#include "libcore/models/encoder_decoder.hpp"
#include "libcore/positions/positions.hpp"
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
using heddle::testing::write_file;
using nlohmann::json;

namespace {

void save(const models::Model& model, const std::string& path) {
  formats::ModelWriter file(path);
  file.config(model.config());
  file.tokenizer(tests::byte_tokenizer_model());
  file.weights(formats::named_tensors(model.parameters()));
  file.commit(formats::start_provenance("pretrain"));
}

class PositionsPlace {
 public:
  Outcome run(const std::string& words) const {
    return run_command("cd " + (folder_ / ".") + "; " INSPECT " " + words);
  }
  json numbers(const std::string& words) const {
    const Outcome outcome = run("positions " + words + " --json");
    CAPTURE(outcome.err);
    REQUIRE(outcome.status == 0);
    return parse_json(outcome.out);
  }
  std::string path(const std::string& name) const { return folder_ / name; }

  // A decoder of two layers and two heads.
  void decoder(const std::string& name, const std::string& positions, Index context = 20) const {
    const models::Decoder model(
        testing::decoder(
            {.layers = 2, .width = 16, .heads = 2, .context = context, .vocab_size = 257, .positions = positions}),
        1);
    save(model, path(name));
  }

 private:
  TemporaryFolder folder_;
};

void check_finite(const json& table) {
  REQUIRE(table.at("values").is_array());
  REQUIRE(table["values"].size() == table.at("rows").size());
  for (const json& row : table["values"]) {
    REQUIRE(row.size() == table.at("columns").size());
    for (const json& value : row) CHECK(value.is_number());  // null stands for what is not finite
  }
}

}  // namespace

TEST_CASE("inspect positions: every scheme prints finite numbers, text of at most 100 columns, and a picture") {
  const PositionsPlace place;
  for (const PositionScheme& scheme : position_schemes()) {
    for (const std::string causal : {"", " --causal"}) {
      CAPTURE(scheme.name);
      CAPTURE(causal);
      const std::string words = "--scheme " + scheme.name + causal + " --width 24 --heads 3 --count 12";
      const json all = place.numbers(words);
      CHECK(all.at("scheme") == scheme.name);
      int tables = 0;
      for (const auto& [name, table] : all.items()) {
        if (!table.is_object()) continue;
        ++tables;
        check_finite(table);
      }
      CHECK(tables > 0);
      const Outcome text = place.run("positions " + words);
      CHECK(text.status == 0);
      CHECK(text.err.empty());
      for (const std::string& line : lines_of(text.out)) CHECK(display_width(line) <= 100);
      const Outcome drawn = place.run("positions " + words + " -o x.svg");
      CHECK(drawn.status == 0);
      CHECK(drawn.out.empty());
      CHECK(contains(read_file(place.path("x.svg")), "<svg xmlns=\"http://www.w3.org/2000/svg\""));
    }
  }
}

TEST_CASE("inspect positions: sinusoids, their circles and their distances") {
  const PositionsPlace place;
  const json all = place.numbers("--scheme sinusoidal");
  CHECK(all.at("positions") == 50);
  CHECK(all.at("before_training") == false);
  const json& heat = all.at("heatmap").at("values");
  REQUIRE(heat.size() == 50);
  REQUIRE(heat[0].size() == 128);
  CHECK(heat[0][0] == 0);
  CHECK(heat[0][1] == 1);
  CHECK(heat[3][0].get<double>() == doctest::Approx(std::sin(3.0)).epsilon(1e-5));
  CHECK(heat[3][5].get<double>() == doctest::Approx(std::cos(3 * std::pow(10000.0, -4.0 / 128))).epsilon(1e-5));
  const json& circles = all.at("circles").at("values");
  REQUIRE(circles.size() == 64);
  CHECK(circles[0][2].get<double>() == doctest::Approx(1));
  CHECK(circles[0][3].get<double>() == doctest::Approx(-1).epsilon(1e-4));
  CHECK(circles[0][4].get<double>() == doctest::Approx(2 * std::numbers::pi).epsilon(1e-4));
  for (const json& row : all.at("distance").at("values"))
    CHECK(std::abs(row[2].get<double>() - row[1].get<double>()) < 1e-5);
  CHECK(all.contains("bias") == false);
}

TEST_CASE("inspect positions: a picture's cells have the colours that the page states") {
  const PositionsPlace place;
  REQUIRE(place.run("positions --scheme sinusoidal --what heatmap -o x.png").status == 0);
  const Png png(read_file(place.path("x.png")));
  // 128 columns of 4.5 points from x = 76, 50 rows of 7 points; the first row begins below heading and title.
  const json heat = place.numbers("--scheme sinusoidal --what heatmap").at("heatmap").at("values");
  const auto colour = [](double t) {
    const int l[] = {11, 31, 107}, h[] = {255, 243, 176};
    Png::Pixel pixel{};
    for (std::size_t i = 0; i < 3; ++i) {
      const double end = t < 0 ? l[i] : h[i];
      pixel[i] = static_cast<std::uint8_t>(std::lround(143 + std::abs(t) * (end - 143)));
    }
    return pixel;
  };
  const std::size_t top = 2 * (14 + 17 + 9 + 26);
  for (const std::size_t row : {0, 1, 20, 49}) {
    for (const std::size_t column : {0, 1, 2, 77, 127}) {
      CAPTURE(row);
      CAPTURE(column);
      const Png::Pixel pixel = png.at(2 * 76 + 9 * column + 4, top + 14 * row + 7);
      const Png::Pixel wanted = colour(heat[row][column].get<double>());
      for (std::size_t i = 0; i < 3; ++i) CHECK(std::abs(pixel[i] - wanted[i]) <= 1);
    }
  }
}

TEST_CASE("inspect positions: ALiBi's slopes, and a head alone") {
  const PositionsPlace place;
  const json bias = place.numbers("--scheme alibi --causal --count 4").at("bias");
  CHECK(bias.at("columns") == json({-3, -2, -1, 0}));
  CHECK(bias.at("rows").size() == 8);
  CHECK(bias.at("values")[0] == json({-1.5, -1, -0.5, 0}));
  CHECK(bias.at("values")[7] == json({-3.0 / 256, -2.0 / 256, -1.0 / 256, 0}));
  const json one = place.numbers("--scheme alibi --causal --count 4 --head 2").at("bias");
  CHECK(one.at("rows") == json({"2"}));
  CHECK(one.at("values")[0] == json({-0.75, -0.5, -0.25, 0}));
}

TEST_CASE("inspect positions: a model's learned numbers, of its layers and stacks") {
  const PositionsPlace place;
  place.decoder("linear.h5", "linear:start=-0.5");
  const json linear = place.numbers("linear.h5 --layer all --count 3");
  CHECK(linear.at("before_training") == false);
  CHECK(linear.at("scheme") == "linear:start=-0.5");
  CHECK(linear.at("bias").at("rows") == json({"1.1", "1.2", "2.1", "2.2"}));
  CHECK(linear.at("bias").at("values")[3] == json({-1, -0.5, 0}));  // lambda (i - j)
}

TEST_CASE("inspect positions: a model's vectors of positions are its table's") {
  const PositionsPlace place;
  place.decoder("learned.h5", "learned", 7);
  const json learned = place.numbers("learned.h5");
  CHECK(learned.at("positions") == 7);  // all that there are
  CHECK_FALSE(learned.contains("circles"));
  const auto loaded = formats::load_model(formats::ModelFile(place.path("learned.h5")));
  const Tensor& table = loaded.model->parameters().find("decoder/embedding/position/weight")->value();
  for (Index position = 0; position < 7; ++position) {
    for (Index i = 0; i < 16; ++i) {
      CHECK(learned["heatmap"]["values"][static_cast<std::size_t>(position)][static_cast<std::size_t>(i)] ==
            static_cast<double>(table[position * 16 + i]));
    }
  }
  models::EncoderDecoderConfig config;
  config.layers = 1;
  config.width = 16;
  config.heads = 2;
  config.vocab_size = 257;
  config.positions = "relative-scalar";
  save(models::EncoderDecoder(config, 1), place.path("two.h5"));
  CHECK(place.numbers("two.h5 --count 5").at("bias").at("columns").size() == 9);  // the encoder sees both sides
  CHECK(place.numbers("two.h5 --count 5 --stack decoder").at("bias").at("columns").size() == 5);
  const Outcome none = place.run("positions two.h5 --stack third");
  CHECK(none.status == 2);
  CHECK(contains(none.err, "--stack 'third' is not one of encoder, decoder"));
}

TEST_CASE("inspect positions: tables and files") {
  const PositionsPlace place;
  REQUIRE(place.run("positions --scheme alibi --heads 2 --width 8 --causal --count 3 -o x.tsv").status == 0);
  CHECK(read_file(place.path("x.tsv")) == "head\t-2\t-1\t0\n1\t-0.125\t-0.0625\t0\n2\t-0.0078125\t-0.00390625\t0\n");
  REQUIRE(place.run("positions --scheme rope --width 16 --heads 2 -o x.h5").status == 0);
  const Outcome verified = place.run("verify x.h5");
  CAPTURE(verified.out);
  CHECK(verified.status == 0);
  CHECK(contains(place.run("show x.h5").out, "tensors"));
  // cos(1), the first element of the heat map's second row
  std::string bytes = read_file(place.path("x.h5"));
  const auto element = static_cast<float>(std::cos(1.0));
  const std::size_t at = bytes.find(std::string(reinterpret_cast<const char*>(&element), sizeof element));
  REQUIRE(at != std::string::npos);
  bytes[at] ^= 1;
  write_file(place.path("damaged.h5"), bytes);
  const Outcome damaged = place.run("verify damaged.h5");
  CHECK(damaged.status == 1);
  CHECK(contains(damaged.out, "the checksum does not match"));
}

TEST_CASE("inspect positions: numbers that are not finite are shown as such, and the status says so") {
  const PositionsPlace place;
  place.decoder("learned.h5", "learned", 7);
  place.decoder("relative.h5", "relative-scalar", 7);
  const auto poison = [&](const std::string& model, const std::string& part) {
    std::string bytes = read_file(place.path(model));
    const formats::ModelFile file(place.path(model));
    const float nan = std::numeric_limits<float>::quiet_NaN();
    for (const formats::TensorInfo& tensor : file.weights().tensors()) {
      if (contains(tensor.name, part)) std::memcpy(bytes.data() + tensor.offset, &nan, sizeof nan);
    }
    write_file(place.path("bad.h5"), bytes);
  };
  poison("learned.h5", "position");
  const auto refused = [&](const std::string& words, const std::string& tables) {
    const Outcome outcome = place.run(words);
    CAPTURE(outcome.err);
    CHECK(outcome.status == 3);
    CHECK(contains(outcome.err, "bad.h5: some numbers of " + tables + " are not finite; train it again"));
    return outcome.out;
  };
  const json found = json::parse(refused("positions bad.h5 --json", "heatmap and similarity and distance"));
  const json& rows = found["similarity"]["values"];
  for (std::size_t i = 0; i < 7; ++i) {
    for (std::size_t j = 0; j < 7; ++j) CHECK(rows[i][j].is_null() == (i == 0 || j == 0));
    for (const json& value : found["distance"]["values"][i]) CHECK(value.is_null());
  }
  CHECK(contains(refused("positions bad.h5 --what similarity", "similarity"), "|???????|"));
  CHECK(contains(refused("positions bad.h5 --what distance", "distance"), " nan"));
  refused("positions bad.h5 --what similarity -o x.tsv", "similarity");
  CHECK(contains(read_file(place.path("x.tsv")), "\n0\tnan\tnan"));
  refused("positions bad.h5 --what similarity -o x.png", "similarity");
  CHECK(std::filesystem::exists(place.path("x.png")));
  poison("relative.h5", "position");
  refused("positions bad.h5 --what bias --json", "bias");
  refused("kernels bad.h5 --what offset --json", "offset");
}

TEST_CASE("inspect positions: bad input is one line that says what there is") {
  const PositionsPlace place;
  place.decoder("learned.h5", "learned", 7);
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"", "give one MODEL, or --scheme NAME"},
      {"learned.h5 --scheme rope", "give one MODEL, or --scheme NAME"},
      {"--scheme sinusiodal", "--scheme: 'sinusiodal' is not one of learned, sinusoidal, "},
      {"--scheme rope:bse=3", "bse"},
      {"--scheme rope --width 6 --heads 2", "--scheme: rope rotates pairs, so the head width must be even, not 3"},
      {"--scheme rope --width 6 --heads 4", "--width 6 is not a multiple of --heads 4"},
      {"--scheme alibi --what circles", "--what circles: alibi has no such picture; it has bias"},
      {"--scheme sinusoidal --what bias", "it has heatmap, circles, similarity, distance"},
      {"--scheme alibi --what colours", "'colours' is not one of heatmap, circles"},
      {"--scheme alibi --head 9", "--head 9: the layer has 8 heads"},
      {"--scheme alibi --layer 2", "--layer belongs to a MODEL"},
      {"--scheme alibi -o x.gif", "x.gif: positions can be written to .svg, .png, .pdf, .tsv and .h5 files"},
      {"--scheme alibi -o x.svg --json", "--json prints to standard output"},
      {"--scheme sinusoidal -o x.tsv", "choose one of them with --what: heatmap, circles, similarity, distance"},
      {"--scheme sinusoidal --count 3000 -o x.svg", "a picture at most 250,000; give a smaller --count"},
      {"--scheme sinusoidal --count 1", "--count"},
      {"learned.h5 --count 8", "--count 8: the model has 7 positions"},
      {"learned.h5 --layer 3", "--layer 3: the model has layers 1 to 2"},
      {"learned.h5 --width 8", "--width"},
      {"learned.h5 --what heatmap -o learned.h5", "learned.h5"}};
  for (const auto& [words, message] : wrong) {
    CAPTURE(words);
    const Outcome outcome = place.run("positions " + words);
    CAPTURE(outcome.err);
    CHECK(outcome.status == 2);
    CHECK(lines_in(outcome.err) == 1);
    CHECK(contains(outcome.err, message));
    CHECK(outcome.out.empty());
  }
  CHECK(place.run("positions nothing.h5").status == 1);
  const Outcome recurrent = run_command("cd " + place.path(".") + "; " INSPECT " positions /dev/null");
  CHECK(recurrent.status == 1);
  CHECK(lines_in(recurrent.err) == 1);
}

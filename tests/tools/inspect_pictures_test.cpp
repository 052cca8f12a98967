// The pictures that inspect draws: read back, and compared with points computed by hand.
#include <doctest/doctest.h>

#include <cmath>
#include <regex>

#include "formats/heddle/load_model.hpp"
#include "formats/samples.hpp"
#include "support/models.hpp"
#include "support/png.hpp"
#include "tools/command.hpp"

using namespace heddle;
using heddle::testing::contains;
using heddle::testing::Outcome;
using heddle::testing::Png;
using heddle::testing::read_file;
using heddle::testing::run_command;
using heddle::testing::TemporaryFolder;
using heddle::testing::write_file;

namespace {

using Points = std::vector<std::pair<double, double>>;

// Files run1.h5, run2.h5, ... of equal models with these losses at steps 0, 10, 20, ...; validation is 1 more, at the
// last step.
class Runs {
 public:
  explicit Runs(const std::vector<std::vector<double>>& runs) {
    const auto config = testing::decoder({.layers = 1, .width = 8, .heads = 2, .context = 16, .vocab_size = 257});
    const models::Decoder model(config, 1);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      formats::History history;
      for (std::size_t row = 0; row < runs[i].size(); ++row) {
        history.append({{"step", 10.0 * static_cast<double>(row)}, {"loss", runs[i][row]}});
      }
      const double last = 10.0 * static_cast<double>(runs[i].size() - 1);
      history.append({{"step", last}, {"valid_loss", runs[i].back() + 1}});
      formats::ModelWriter file(folder_ / ("run" + std::to_string(i + 1) + ".h5"));
      file.config(config);
      file.tokenizer(tests::byte_tokenizer_model());
      file.weights(formats::named_tensors(model.parameters()));
      file.history(history);
      file.commit(formats::start_provenance("pretrain"));
    }
  }

  Outcome run(const std::string& command) const {
    return run_command("cd " + (folder_ / ".") + "; I=" INSPECT "; " + command);
  }
  std::string drawn(const std::string& runs, const std::string& name, const std::string& environment = "") const {
    const Outcome outcome = run(environment + " $I history " + runs + " -o " + name);
    CAPTURE(outcome.err);
    CHECK(outcome.status == 0);
    CHECK(outcome.out.empty());
    return read_file(folder_ / name);
  }
  std::string path(const std::string& name) const { return folder_ / name; }

 private:
  TemporaryFolder folder_;
};

// The points of each path in an SVG that is stroked as wide as this, and its colour.
struct Stroke {
  std::string colour;
  Points points;
};
std::vector<Stroke> strokes(const std::string& svg, const std::string& width) {
  static const std::regex path("<path ([^>]*)>"), style("stroke-width:([0-9.]+);.*stroke:rgb\\(([^)]*)\\)"),
      point("[ML] ([-0-9.]+) ([-0-9.]+)");
  std::vector<Stroke> found;
  for (std::sregex_iterator at(svg.begin(), svg.end(), path), end; at != end; ++at) {
    const std::string attributes = (*at)[1];
    std::smatch styles;
    if (!std::regex_search(attributes, styles, style) || styles[1] != width) continue;
    Stroke stroke{styles[2], {}};
    const std::string places = attributes.substr(attributes.find(" d=\""));
    for (std::sregex_iterator each(places.begin(), places.end(), point); each != end; ++each) {
      stroke.points.emplace_back(std::stod((*each)[1]), std::stod((*each)[2]));
    }
    found.push_back(std::move(stroke));
  }
  return found;
}

void check_points(const Points& points, const Points& wanted) {
  REQUIRE(points.size() == wanted.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    CHECK(points[i].first == doctest::Approx(wanted[i].first).epsilon(1e-6));
    CHECK(points[i].second == doctest::Approx(wanted[i].second).epsilon(1e-6));
  }
}

const std::string blue = "0%,44.705882%,69.803922%";  // #0072b2

}  // namespace

// The plot is from x = 64 to 696 and from y = 352 up to 48; the lowest loss is 1, the highest 5. No three points of a
// series are on one line, since Cairo leaves out the middle one of those.
TEST_CASE("inspect history: an SVG has the points of the series") {
  const Runs runs({{5, 3, 2.5, 1, 1.5}});
  const std::string svg = runs.drawn("run1.h5", "loss.svg");
  CHECK(contains(svg, "<svg xmlns=\"http://www.w3.org/2000/svg\""));
  CHECK(contains(svg, "width=\"720px\" height=\"400px\""));
  const Points wanted{{64, 48}, {222, 200}, {380, 238}, {538, 352}, {696, 314}};
  bool found = false;
  for (const auto& [colour, points] : strokes(svg, "1")) {
    if (colour != blue || points.size() != wanted.size()) continue;
    check_points(points, wanted);
    found = true;
  }
  CHECK(found);
  // The loss has grid lines at 1, 2, 3, 4 and 5, the steps at 0, 10, 20, 30 and 40; then there is the legend's sample.
  CHECK(strokes(svg, "1").size() == 5 + 5 + 1 + 1);
  CHECK(strokes(svg, "2.5").size() == 1);  // the legend's sample; the one point of validation is a disc
  if (run_command("command -v xmllint").status == 0) CHECK(runs.run("xmllint --noout loss.svg").status == 0);
}

TEST_CASE("inspect history: of several runs each has a curve of its own colour and a place in the legend") {
  const Runs runs({{5, 2, 1}, {4, 3, 1}});
  const std::string svg = runs.drawn("run1.h5 run2.h5", "loss.svg");
  CHECK(contains(svg, "height=\"436px\""));  // wider by the names at the ends of the lines
  std::vector<Stroke> curves;
  for (Stroke& stroke : strokes(svg, "1")) {
    if (stroke.points.size() == 3) curves.push_back(std::move(stroke));
  }
  REQUIRE(curves.size() == 2);
  check_points(curves[0].points, {{64, 48}, {380, 276}, {696, 352}});
  check_points(curves[1].points, {{64, 124}, {380, 200}, {696, 352}});
  CHECK(curves[0].colour == blue);
  CHECK(curves[1].colour == "83.529412%,36.862745%,0%");
}

TEST_CASE("inspect history: a PNG has the curves' colours where they are") {
  const Runs runs({{5, 1, 1}});  // falls to the axis, and runs along it
  const Png png(runs.drawn("run1.h5", "loss.png"));
  CHECK(png.width() == 1440);
  CHECK(png.height() == 800);
  const Png::Pixel white{255, 255, 255}, grid{0xdd, 0xdd, 0xdd};
  for (const auto& [x, y] : {std::pair<std::size_t, std::size_t>{0, 0}, {1439, 799}, {1000, 450}})
    CHECK(png.at(x, y) == white);
  // The grid line of loss 3 is at y = 200; training is #0072b2, six tenths of it on white.
  CHECK(png.at(2 * 500, 2 * 200) == grid);
  const Png::Pixel curve = png.at(2 * 450, 2 * 352);
  CHECK(curve[0] < 160);
  CHECK(curve[2] > curve[0] + 40);
  // The only point of validation, of #d55e00, is at the last step and loss 2.
  CHECK(png.at(2 * 696, 2 * 276) == Png::Pixel{0xd5, 0x5e, 0x00});
  std::size_t dark = 0;  // the title's letters
  for (std::size_t x = 128; x < 300; ++x) {
    for (std::size_t y = 20; y < 42; ++y) dark += png.at(x, y)[0] < 120 ? 1 : 0;
  }
  CHECK(dark > 50);
}

TEST_CASE("inspect history: a PDF begins and ends as one, of one page") {
  const Runs runs({{5, 3, 1}});
  const std::string pdf = runs.drawn("run1.h5", "loss.pdf");
  CHECK(pdf.starts_with("%PDF-1."));
  CHECK(pdf.ends_with("%%EOF\n"));
  CHECK(contains(pdf, "/MediaBox [ 0 0 720 400 ]"));
  CHECK(contains(pdf, "/Count 1"));
}

TEST_CASE("inspect history: equal pictures are equal bytes, at any time") {
  const Runs runs({{5, 3, 1}, {4, 2, 1}});
  for (const std::string form : {"svg", "png", "pdf"}) {
    CAPTURE(form);
    const std::string first = runs.drawn("run1.h5 run2.h5", "a." + form);
    CHECK(runs.drawn("run1.h5 run2.h5", "b." + form, "TZ=Asia/Tokyo LC_ALL=C SOURCE_DATE_EPOCH=1") == first);
    CHECK_FALSE(contains(first, "CreationDate"));
  }
}

TEST_CASE("inspect history: names of any bytes, and a system without fonts") {
  const Runs runs({{5, 3, 1}});
  write_file(runs.path("fonts.conf"), "<fontconfig></fontconfig>\n");
  CHECK(runs.run("cp run1.h5 'a<b&c.h5'; cp run1.h5 $'\\xff\\x01\\u00e9.h5'").status == 0);
  for (const std::string environment : {"", "FONTCONFIG_FILE=$PWD/fonts.conf"}) {
    CAPTURE(environment);
    for (const std::string form : {"svg", "png", "pdf"}) {
      CAPTURE(form);
      CHECK(runs.drawn("'a<b&c.h5' $'\\xff\\x01\\u00e9.h5'", "x." + form, environment).size() > 1000);
    }
    const Png png(read_file(runs.path("x.png")));
    std::size_t dark = 0;
    for (std::size_t x = 2 * 90; x < 2 * 150; ++x) {
      for (std::size_t y = 2 * 400; y < 2 * 430; ++y) dark += png.at(x, y)[0] < 120 ? 1 : 0;
    }
    CHECK(dark > 50);
  }
}

TEST_CASE("inspect history: a picture appears whole or not at all") {
  const Runs runs({{5, 3, 1}});
  for (const std::string form : {"svg", "png", "pdf"}) {
    CAPTURE(form);
    CHECK(runs.run("$I history run1.h5 -o nowhere/x." + form)
              .err.starts_with("inspect: nowhere/x." + form + ": cannot create"));
    const Outcome full = runs.run("ln -s /dev/full full." + form + "; $I history run1.h5 -o full." + form);
    CHECK(full.status == 1);
    CHECK(contains(full.err, "No space left on device"));
    CHECK(runs.run("ulimit -f 1; $I history run1.h5 -o big." + form).status == 1);
    CHECK(runs.run("ls -A | grep big").status != 0);
  }
  const Outcome other = runs.run("$I history run1.h5 -o loss.gif");
  CHECK(other.status == 2);
  CHECK(contains(other.err, "loss.gif: a history is written into files that end in .svg, .png, .pdf, .html or .tsv"));
  CHECK(runs.run("cp run1.h5 in.svg; $I history in.svg -o in.svg").status == 2);
}

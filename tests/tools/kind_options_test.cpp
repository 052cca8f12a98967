// Options that choose a kind by name, with settings: on the command line, in the environment and in files.
#include <doctest/doctest.h>

#include <iostream>
#include <sstream>

#include "tools/cli/arguments.hpp"
#include "tools/cli/completion.hpp"
#include "tools/cli/config_file.hpp"
#include "tools/command.hpp"
#include "tools/surroundings.hpp"

namespace paint {

using heddle::Field;
using heddle::Index;

// Base of all kinds of painting.
struct Paint {
  Index coats = 1;

  virtual ~Paint() = default;
  virtual void validate() const {}

  static void visit(auto& self, auto& visitor) {
    visitor(Field("coats", "how often it is painted").range(1, 100).formerly("layers"), self.coats);
  }
};

}  // namespace paint

namespace heddle {

template <>
const KindList<paint::Paint>& kinds();

}  // namespace heddle

namespace paint {

struct Brush final : Paint {
  static constexpr const char* kind_name = "brush";
  double width = 0.5;
  bool soft = true;

  static void visit(auto& self, auto& visitor) {
    visitor(Field("width", "width of the brush").above(0, 10).takes("CM"), self.width);
    visitor(Field("soft_hair", "hair that is soft").formerly("softness"), self.soft);
    Paint::visit(self, visitor);
  }
};

struct Spray final : Paint {
  static constexpr const char* kind_name = "spray";
  std::string colour = "red", label = "none";
  double width = 2;
  Spray() { coats = 3; }

  static void visit(auto& self, auto& visitor) {
    visitor(Field("colour", "of the can").one_of({"red", "green"}).takes("NAME"), self.colour);
    visitor(Field("label", "what is written on it"), self.label);
    visitor(Field("width", "width of the jet").above(0, 10).takes("CM"), self.width);
    Paint::visit(self, visitor);
  }
};

struct Bare final : Paint {
  static constexpr const char* kind_name = "bare";
  static void visit(auto&, auto&) {}
};

using PaintKind = heddle::KindOf<Paint>;

}  // namespace paint

namespace heddle {

template <>
const KindList<paint::Paint>& kinds() {
  static const KindList<paint::Paint> list{"paint",
                                           {{"brush", "paints by hand", paint::Brush()},
                                            {"spray", "paints from a can", paint::Spray()},
                                            {"bare", "leaves it as it is", paint::Bare()}}};
  return list;
}

}  // namespace heddle

namespace kind_options_tests {

using namespace heddle;
using namespace heddle::cli;
using heddle::testing::contains;
using heddle::testing::Overheard;
using heddle::testing::TemporaryFolder;
using heddle::testing::Variable;
using heddle::testing::write_file;
using paint::PaintKind;

namespace {

// Coats have an option of their own; other keys stand after the name.
struct Options {
  KindChoice<paint::Paint> paint{{"coats"}, "brush"};
  Index height = 5;
  PaintKind resolved;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("height", "of the wall"), self.height);
    visitor(Field("paint", "how it is painted").essential(), self.paint);
  }
};

About about() {
  return {.name = "painter", .summary = "Paints.", .synopsis = {"[options]"}};
}

PaintKind read(const std::vector<std::string>& words, const PaintKind& base = {}) {
  return Arguments(about(), words)
      .read<Options>([&](Options& options) {
        options.resolved = options.paint.resolved(base, "paint");
        options.paint.show(options.resolved);
      })
      .resolved;
}

std::string complaint(const std::vector<std::string>& words) {
  try {
    read(words);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

// Standard output before reading ends.
std::string answer(const std::vector<std::string>& words) {
  std::ostringstream text;
  std::streambuf* const previous = std::cout.rdbuf(text.rdbuf());
  try {
    read(words);
    text << "no answer";
  } catch (const Finished&) {
  } catch (const UsageError& error) {
    text << error.what();
  }
  std::cout.rdbuf(previous);
  return text.str();
}

// A file of options for one reading.
class File {
 public:
  explicit File(const std::string& text) { write_file(path(), text); }
  std::string path() const { return folder_ / "run.ini"; }
  PaintKind with(std::vector<std::string> words) const {
    words.insert(words.end(), {"--config", path()});
    return read(words);
  }
  std::string complaint() const { return kind_options_tests::complaint({"--config", path()}); }

 private:
  TemporaryFolder folder_;
};

PaintKind of(const char* text) {
  return PaintKind::from(text);
}

}  // namespace

TEST_CASE("kinds as options: a name with settings, and the short names of some") {
  CHECK(read({}) == of("brush"));
  CHECK(read({"--paint", "spray"}) == of("spray"));
  CHECK(read({"--paint=spray:colour=green,label=a\\,b=c"}) == of("spray:colour=green,label=a\\,b=c"));
  CHECK(read({"--paint", "brush:soft_hair=no,coats=2"}) == of("brush:soft-hair=false,coats=2"));
  CHECK(read({"--coats", "4"}) == of("brush:coats=4"));
  CHECK(read({"--coats", "4", "--paint", "spray:width=1"}) == of("spray:coats=4,width=1"));
  CHECK(read({"--paint", "bare"}) == of("bare"));
}

TEST_CASE("kinds as options: what is left open is the base's, where that is the kind that is named") {
  const PaintKind base = of("spray:colour=green,coats=9");
  CHECK(read({}, base) == base);
  CHECK(read({"--coats", "2"}, base) == of("spray:colour=green,coats=2"));
  CHECK(read({"--paint", "spray:width=1"}, base) == of("spray:colour=green,coats=9,width=1"));
  CHECK(read({"--paint", "brush"}, base) == of("brush"));
}

TEST_CASE("kinds as options: unknown names and keys are refused with the option, and say what there is") {
  CHECK(complaint({"--paint", "sprai"}) == "--paint: 'sprai' is not one of brush, spray, bare; did you mean 'spray'?");
  CHECK(complaint({"--paint", ""}) == "--paint: '' is not one of brush, spray, bare");
  CHECK(complaint({"--paint", "brush:size=2"}) == "--paint: brush has no key 'size'; it has width, soft-hair, coats");
  CHECK(complaint({"--paint", "brush:colour=red"}) ==
        "--paint: brush has no key 'colour', which is one of spray; it has width, soft-hair, coats");
  CHECK(complaint({"--paint", "bare:coats=1"}) ==
        "--coats: bare has no key 'coats', which is one of brush, spray; it has none");
  CHECK(complaint({"--paint", "brush:width"}) ==
        "--paint: 'brush:width': 'width' is not a setting; write NAME:KEY=VALUE,…, and a comma inside a value as \\,");
  CHECK(complaint({"--paint", "brush:width=1,width=2"}) == "--paint: 'brush:width=1,width=2': width is given twice");
}

TEST_CASE("kinds as options: values out of range are refused with the option and the key") {
  CHECK(complaint({"--paint", "brush:width=0"}) ==
        "--paint: width: 0 is out of range; it must be more than 0 and at most 10");
  CHECK(complaint({"--paint", "spray:colour=blue"}) == "--paint: colour: 'blue' is not one of red, green");
  CHECK(complaint({"--coats", "many"}) == "--coats: 'many' is not a whole number; it must be from 1 to 100");
  CHECK(complaint({"--paint", "brush:coats=0"}) == "--paint: coats: 0 is out of range; it must be from 1 to 100");
}

TEST_CASE("kinds as options: a flag and a key that disagree are refused, wherever the key stands; equal ones are one") {
  const std::string refusal = "--coats 3 and coats=2 of --paint disagree; give one of them";
  CHECK(complaint({"--paint", "brush:coats=2", "--coats", "3"}) == refusal);
  CHECK(complaint({"--coats", "3", "--paint", "brush:coats=2"}) == refusal);
  CHECK(complaint({"--coats", "2", "--coats", "3", "--paint", "brush:coats=2"}) == refusal);
  CHECK(complaint({"--paint", "brush", "--paint", "spray"}) ==
        "--paint is given twice; give one name, with all settings");
  CHECK(File("[paint]\nname = brush:coats=2\ncoats = 3\n").complaint() == refusal);
  const Overheard overheard;
  CHECK(read({"--paint", "brush:coats=2", "--coats", "2"}) == of("brush:coats=2"));
  CHECK(overheard.text().empty());
}

TEST_CASE("kinds as options: a section of a file has the name and its settings") {
  CHECK(File("height = 3\n[paint]\nname = spray\ncolour = green\nlabel = \"a,b # c\"\ncoats = 7\n").with({}) ==
        of("spray:colour=green,label=a\\,b # c,coats=7"));
  CHECK(File("[paint]\nsoft_hair = no\n").with({}) == of("brush:soft-hair=false"));
  CHECK(File("paint = spray:width=1\ncoats = 2\n").with({}) == of("spray:width=1,coats=2"));
  CHECK(File("[paint]\nname = spray\n[Other]\nheight = 3\n").with({}) == of("spray"));
}

TEST_CASE("kinds as options: what is wrong in a section is told with its line") {
  const auto wrong = [](const std::string& text, const std::string& line, const std::string& message) {
    CAPTURE(text);
    const File file(text);
    CHECK(file.complaint() == file.path() + ":" + line + ": " + message);
  };
  wrong("[paint]\nname = sprai\n", "2", "name: 'sprai' is not one of brush, spray, bare; did you mean 'spray'?");
  wrong("[paint]\nname = brush\nwidht = 1\n", "3", "unknown option widht of [paint]");
  wrong("[paint]\nheight = 1\n", "2", "unknown option height of [paint]; did you mean --height?");
  wrong("colour = red\n", "1", "unknown option colour; write --paint spray:colour=NAME");
  wrong("[paint]\nwidth = 1\nwidth = 2\n", "3", "width is already set in line 2");
  wrong("[paint]\nname = brush\nwidth = 0\n", "3", "width: 0 is out of range; it must be more than 0 and at most 10");
  wrong("[paint]\ncoats = many\n", "2", "coats: 'many' is not a whole number; it must be from 1 to 100");
  wrong("paint = brush:width=0\n", "1", "paint: width: 0 is out of range; it must be more than 0 and at most 10");
  wrong("[paint]\nname = brush\nname = spray\n", "3", "name is already set in line 2");
  wrong("[paint]\nname = brush:size=3\n", "2", "name: brush has no key 'size'; it has width, soft-hair, coats");
}

TEST_CASE("kinds as options: defaults < file < environment < flags, for each key") {
  const File file("[paint]\nname = spray\ncolour = green\nlabel = file\nwidth = 1\ncoats = 4\n");
  CHECK(file.with({}) == of("spray:colour=green,label=file,width=1,coats=4"));
  const Variable coats("HEDDLE_PAINTER_COATS", "5");
  CHECK(file.with({}) == of("spray:colour=green,label=file,width=1,coats=5"));
  const Variable paint("HEDDLE_PAINTER_PAINT", "spray:label=environment,width=3");
  CHECK(file.with({}) == of("spray:colour=green,label=environment,width=3,coats=5"));
  CHECK(file.with({"--paint", "spray:width=4"}) == of("spray:colour=green,label=environment,width=4,coats=5"));
  CHECK(file.with({"--coats", "6"}) == of("spray:colour=green,label=environment,width=3,coats=6"));
  CHECK(file.with({"--paint", "spray:coats=6"}) == of("spray:colour=green,label=environment,width=3,coats=6"));
}

TEST_CASE("kinds as options: another name drops the keys of the one that a file or the environment names") {
  const File file("[paint]\nname = spray\ncolour = green\nwidth = 1\ncoats = 4\n");
  // A short name is that of any kind.
  CHECK(file.with({"--paint", "brush"}) == of("brush:coats=4"));
  CHECK(file.with({"--paint", "brush:width=3", "--coats", "2"}) == of("brush:width=3,coats=2"));
  CHECK(file.with({"--paint", "spray"}) == of("spray:colour=green,width=1,coats=4"));
  {
    const Variable paint("HEDDLE_PAINTER_PAINT", "brush:soft_hair=no");
    CHECK(file.with({}) == of("brush:soft-hair=no,coats=4"));
    CHECK(file.with({"--paint", "brush"}) == of("brush:soft-hair=no,coats=4"));
    CHECK(file.with({"--paint", "spray:width=3"}) == of("spray:width=3,colour=green,coats=4"));
  }
  // Settings without a name are of whatever is named elsewhere.
  CHECK(File("[paint]\nwidth = 1\n").with({"--paint", "spray"}) == of("spray:width=1"));
}

TEST_CASE("kinds as options: what is wrong in the environment is found there") {
  {
    const Variable paint("HEDDLE_PAINTER_PAINT", "brush:size=3");
    CHECK(complaint({}) == "HEDDLE_PAINTER_PAINT: brush has no key 'size'; it has width, soft-hair, coats");
  }
  {
    const Variable paint("HEDDLE_PAINTER_PAINT", "brush:soft-hair=3");
    CHECK(complaint({}) == "HEDDLE_PAINTER_PAINT: soft-hair: '3' is not true or false");
  }
  const Variable coats("HEDDLE_PAINTER_COATS", "0");
  CHECK(complaint({}) == "HEDDLE_PAINTER_COATS: 0 is out of range; it must be from 1 to 100");
  CHECK(read({"--coats", "2"}) == of("brush:coats=2"));
}

TEST_CASE("kinds as options: what --print-config prints reads back to the same values, and gives as much") {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{},
                                             {"--paint", "spray:label=\\, \"x\"#\\,y\\,width=3"},
                                             {"--coats", "4"},
                                             {"--paint", "brush:width=0.30000000000000004,soft-hair=false,coats=2"},
                                             {"--paint", "spray", "--height", "7"},
                                             {"--paint", "bare"}}) {
    CAPTURE(words.size());
    std::vector<std::string> asking = words;
    asking.push_back("--print-config");
    const std::string printed = answer(asking);
    CAPTURE(printed);
    const File file(printed);
    CHECK(file.with({}) == read(words));
    CHECK(answer({"--config", file.path(), "--print-config"}) == printed);
  }
  CHECK(contains(answer({"--paint", "spray:width=1", "--print-config"}),
                 "\n[paint]\nname = spray\n# colour = red\n# label = none\nwidth = 1\n# coats = 3\n"));
  CHECK(contains(answer({"--coats", "2", "--print-config"}),
                 "\n[paint]\n# name = brush\n# width = 0.5\n# soft-hair = true\ncoats = 2\n"));
  CHECK(answer({"--paint", "bare", "--print-config"}).ends_with("\n[paint]\nname = bare\n"));
}

TEST_CASE("kinds as options: --help=KIND lists the names, --help=KIND:NAME the keys of one") {
  const std::string names = answer({"--help=paint"});
  CHECK(names.starts_with("--paint NAME[:KEY=VALUE,...]: how it is painted\n"));
  for (const char* const line :
       {"  brush                 paints by hand\n", "  spray                 paints from a can\n",
        "\npainter --help=paint:NAME lists the keys of one.\n"}) {
    CAPTURE(line);
    CHECK(contains(names, line));
  }
  CHECK(answer({"--help=paint:spray"}) ==
        "--paint spray[:KEY=VALUE,...]: paints from a can\n"
        "  colour                of the can (one of red, green; default red)\n"
        "  label                 what is written on it (default none)\n"
        "  width                 width of the jet (more than 0 and at most 10; default 2)\n"
        "  coats                 how often it is painted (from 1 to 100; default 3; also\n"
        "                        --coats)\n");
  CHECK(answer({"--help=paint:bare"}) == "--paint bare: leaves it as it is\n");
  CHECK(answer({"--help=paint:sprai"}) ==
        "--help=paint:sprai: 'sprai' is not one of brush, spray, bare; did you mean 'spray'?");
  CHECK(contains(answer({"--help=pain"}), "--help=pain: 'pain' is not one of essential, all, paint; did you mean"));
}

TEST_CASE("kinds as options: help and completion have the option and the short names, and no other key") {
  std::istringstream words(answer({"--help=all"}));
  std::string help;
  for (std::string word; words >> word;) help += word + " ";
  CHECK(contains(help, " --paint NAME[:KEY=VALUE,...] how it is painted (one of brush, spray, bare; default brush) "));
  CHECK(contains(help, " --coats VALUE how often it is painted; 3 with spray (default 1) "));
  CHECK_FALSE(contains(help, "colour"));
  Options options;
  OptionTable table;
  table.add(options, "Options");
  const std::string fish = render_completion(Shell::fish, about(), table);
  CHECK(contains(fish, " -l paint -x -a '(__heddle_settings \"brush width "));
  CHECK(contains(fish, " -l coats "));
  CHECK_FALSE(contains(fish, "-l colour"));
  CHECK(contains(render_man_options(table), "## Settings of --paint\n\n*brush*\n\tpaints by hand\n\n\t*width*: "));
}

TEST_CASE("kinds as options: an unknown option that is a key says what to write, under a former name, too") {
  const std::string where = " (painter --help=all lists them)";
  CHECK(complaint({"--colour", "red"}) == "unknown option --colour; write --paint spray:colour=NAME" + where);
  CHECK(complaint({"--width=3"}) == "unknown option --width; write --paint brush:width=CM" + where);
  CHECK(complaint({"--no-soft-hair"}) == "unknown option --no-soft-hair; write --paint brush:soft-hair=false" + where);
  CHECK(complaint({"--softness", "3"}) == "unknown option --softness; write --paint brush:soft-hair=true" + where);
  CHECK(complaint({"--layers", "3"}) == "unknown option --layers; it is called --coats" + where);
  CHECK(complaint({"--coat", "3"}) == "unknown option --coat; did you mean --coats?" + where);
  CHECK(complaint({"--paint.width", "3"}).starts_with("unknown option --paint.width"));
  const Variable colour("HEDDLE_PAINTER_COLOUR", "green");
  const Overheard overheard;
  CHECK(read({"--paint", "spray"}) == of("spray"));
  CHECK(overheard.text() ==
        "painter: warning: the environment sets HEDDLE_PAINTER_COLOUR, which is ignored: painter has no such option; "
        "write --paint spray:colour=NAME\n");
}

TEST_CASE("kinds as options: given() knows the keys that were given, in whichever way") {
  Arguments arguments(about(), {"--paint", "spray:coats=2,width=1"});
  const auto options = arguments.read<Options>();
  CHECK(options.paint.is_given());
  CHECK(options.paint.name == "spray");
  CHECK(options.paint.settings == std::map<std::string, std::string>{{"coats", "2"}, {"width", "1"}});
  for (const char* const name : {"paint", "coats", "paint.width"}) CHECK(arguments.given(name));
  CHECK_FALSE(arguments.given("paint.colour"));
  CHECK_FALSE(Arguments(about(), {}).read<Options>().paint.is_given());
}

}  // namespace kind_options_tests

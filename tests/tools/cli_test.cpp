// Options from a visited struct: kinds, sources and their order, errors, files, help.
#include <doctest/doctest.h>

#include <cstdlib>
#include <iostream>
#include <limits>
#include <map>
#include <sstream>

#include "libcore/tensor/processors.hpp"
#include "tools/cli/arguments.hpp"
#include "tools/cli/config_file.hpp"
#include "tools/cli/fields_as_options.hpp"
#include "tools/command.hpp"
#include "tools/surroundings.hpp"
#include "tools/toy_options.hpp"

using namespace heddle;
using namespace heddle::cli;
using heddle::testing::contains;
using heddle::testing::Overheard;
using heddle::testing::read_file;
using heddle::testing::TemporaryFolder;
using heddle::testing::Variable;
using heddle::testing::write_file;

namespace {

toy::Options read(const std::vector<std::string>& words) {
  return Arguments(toy::about(), words).read<toy::Options>();
}

// The message of the UsageError that reading the words ends in.
std::string complaint(const std::vector<std::string>& words) {
  try {
    read(words);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

struct Seeded {
  Index seed = 1337;
  static void visit(auto& self, auto& visitor) { visitor(Field("seed", "the seed"), self.seed); }
};

struct Twice {
  Index a = 0, b = 0;
  static void visit(auto& self, auto& visitor) {
    visitor(Field("same_name", ""), self.a);
    visitor(Field("same-name", ""), self.b);
  }
};

GivenOptions all_of(const OptionTable& table) {
  GivenOptions names;
  for (const Option& option : table.options()) names.insert(option.field.option());
  return names;
}

OptionTable table_of(toy::Options& options) {
  OptionTable table;
  table.add(options, "Options");
  return table;
}

void apply(const OptionTable& table, const std::string& config) {
  std::map<std::string, std::vector<std::string>> values;
  for (const ConfigLine& line : parse_config(config, "x.ini")) values[line.name].push_back(line.value);
  for (const auto& [name, texts] : values) {
    const Option& option = *table.find(name);
    option.assign(option.parse(texts));
  }
}

}  // namespace

TEST_CASE("options: without any, the struct's own defaults") {
  const toy::Options options = read({});
  CHECK(options.shape.layers == 4);
  CHECK(options.shape.bias);
  CHECK(options.sizes == std::vector<Index>{1, 2});
}

TEST_CASE("options: every kind of field, with a space, an equals sign or a letter") {
  const toy::Options options =
      read({"--layers", "7", "--dropout=0.25", "--no-bias", "--fast", "--activation", "relu", "-ox.txt", "--sizes",
            "3,4", "--sizes=5", "--rates", "-1e-3,inf", "--stop", "a\\,b,c", "--stop=-q", "--learning-rate", "2e-4"});
  CHECK(options.shape.layers == 7);
  CHECK(options.shape.dropout == 0.25);
  CHECK_FALSE(options.shape.bias);
  CHECK(options.fast);
  CHECK(options.shape.activation == toy::Activation::relu);
  CHECK(options.output == "x.txt");
  CHECK(options.sizes == std::vector<Index>{3, 4, 5});
  CHECK(options.rates == std::vector<double>{-1e-3, std::numeric_limits<double>::infinity()});
  CHECK(options.stop == std::vector<std::string>{"a,b", "c", "-q"});
  CHECK(options.learning_rate == 2e-4);
}

TEST_CASE("options: the later flag wins, with a warning, and every flag can be turned back; a list takes all") {
  std::ostringstream shown;
  std::streambuf* const previous = std::cerr.rdbuf(shown.rdbuf());
  const toy::Options options = read({"--layers", "7", "--layers", "8", "--no-bias", "--bias", "--fast", "--no-fast"});
  CHECK(read({"--layers", "7", "--fast"}).fast);
  std::cerr.rdbuf(previous);
  CHECK(options.shape.layers == 8);
  CHECK(options.shape.bias);
  CHECK_FALSE(options.fast);
  CHECK(shown.str() ==
        "toy: warning: --bias is given twice; the last value is used\n"
        "toy: warning: --fast is given twice; the last value is used\n"
        "toy: warning: --layers is given twice; the last value is used\n");
  CHECK(read({"--stop=--fast", "--stop", ""}).stop == std::vector<std::string>{"--fast"});
}

TEST_CASE("options: errors name the option, the value and what would do") {
  CHECK(complaint({"--layers", "abc"}) == "--layers: 'abc' is not a whole number; it must be from 1 to 1000");
  CHECK(complaint({"--layers", "2.5"}) == "--layers: '2.5' is not a whole number; it must be from 1 to 1000");
  CHECK(complaint({"--layers", ""}) == "--layers: '' is not a whole number; it must be from 1 to 1000");
  CHECK(complaint({"--layers", "99999999999999999999"}) ==
        "--layers: '99999999999999999999' is too large; it must be from 1 to 1000");
  CHECK(complaint({"--layers", "0"}) == "--layers: 0 is out of range; it must be from 1 to 1000");
  CHECK(complaint({"--learning-rate", "0"}) == "--learning-rate: 0 is out of range; it must be more than 0");
  CHECK(complaint({"--dropout", "nan"}) == "--dropout: 'nan' is not a number; it must be from 0 to 1");
  CHECK(complaint({"--sizes", "1,10"}) == "--sizes: 10 is out of range; it must be from 1 to 9");
  CHECK(complaint({"--activation", "relo"}) == "--activation: 'relo' is not one of relu, gelu; did you mean 'relu'?");
  CHECK(complaint({"--layers", "--fast"}) == "--layers needs a value, and --fast is an option");
  CHECK(complaint({"--layers"}) == "--layers needs a value");
  CHECK(complaint({"--layers="}) == "--layers: '' is not a whole number; it must be from 1 to 1000");
  CHECK(complaint({"--fast=3"}) == "--fast takes no value");
}

TEST_CASE("options: an unknown one is named, with the nearest known") {
  CHECK(complaint({"--layer", "3"}) == "unknown option --layer; did you mean --layers? (toy --help=all lists them)");
  CHECK(complaint({"--leyers=3"}) == "unknown option --leyers; did you mean --layers? (toy --help=all lists them)");
  CHECK(complaint({"-layers", "3"}).starts_with("unknown option -l"));
  CHECK(complaint({"--lyaers"}) == "unknown option --lyaers; did you mean --layers? (toy --help=all lists them)");
  CHECK(complaint({"--fog"}) == "unknown option --fog (toy --help=all lists them)");
  CHECK(complaint({"--qwertyuiop"}) == "unknown option --qwertyuiop (toy --help=all lists them)");
  CHECK(complaint({"-z"}) == "unknown option -z (toy --help=all lists them)");
}

TEST_CASE("options: defaults < file < environment < flags, and given() knows") {
  const TemporaryFolder folder;
  write_file(folder / "run.ini", "layers = 10\ndropout = 0.5\nbias = false\nseed = 3\n");
  const Variable dropout("HEDDLE_TOY_DROPOUT", "0.75"), layers("HEDDLE_TOY_LAYERS", "20");
  Arguments arguments(toy::about(), {"--config", folder / "run.ini", "--layers", "30"});
  const auto options = arguments.read<toy::Options>();
  CHECK(options.shape.layers == 30);
  CHECK(options.shape.dropout == 0.75);
  CHECK_FALSE(options.shape.bias);
  CHECK(options.shape.activation == toy::Activation::gelu);
  CHECK(arguments.common().seed == 3);
  for (const char* name : {"layers", "dropout", "bias", "seed"}) CHECK(arguments.given(name));
  for (const char* name : {"activation", "learning_rate", "learning-rate"}) CHECK_FALSE(arguments.given(name));
}

TEST_CASE("options: a flag that is on by default can be turned off as --help shows it, in files and the environment") {
  const TemporaryFolder folder;
  write_file(folder / "run.ini", "\xEF\xBB\xBFno-bias = true\n");
  CHECK_FALSE(read({"--config", folder / "run.ini"}).shape.bias);
  CHECK(read({"--config", folder / "run.ini", "--bias"}).shape.bias);
  write_file(folder / "run.ini", "no-bias = false\n");
  CHECK(read({"--config", folder / "run.ini"}).shape.bias);
  const Variable bias("HEDDLE_TOY_NO_BIAS", "true");
  CHECK_FALSE(read({}).shape.bias);
}

TEST_CASE("options: every word for true and false, and no other") {
  const TemporaryFolder folder;
  const auto fast = [&](const std::string& word) {
    write_file(folder / "run.ini", "fast = " + word + "\n");
    return read({"--config", folder / "run.ini"}).fast;
  };
  for (const char* word : {"true", "yes", "on", "1"}) CHECK(fast(word));
  for (const char* word : {"false", "no", "off", "0"}) CHECK_FALSE(fast(word));
  for (const char* word : {"True", "y", "2", "\"\""}) CHECK_THROWS_AS(fast(word), UsageError);
}

TEST_CASE("options: a file that the command line names stands for that of HEDDLE_CONFIG") {
  const TemporaryFolder folder;
  write_file(folder / "named.ini", "layers = 5\n");
  write_file(folder / "variable.ini", "layers = 6\ndropout = 0.5\n");
  const Variable config("HEDDLE_CONFIG", (folder / "variable.ini").c_str());
  CHECK(read({}).shape.layers == 6);
  const toy::Options options = read({"--config", folder / "named.ini"});
  CHECK(options.shape.layers == 5);
  CHECK(options.shape.dropout == toy::Options().shape.dropout);
}

TEST_CASE("options: what is wrong in a file or the environment is found there") {
  const TemporaryFolder folder;
  const std::string file = folder / "run.ini";
  write_file(file, "# comment\nlayers = 0\n");
  CHECK(complaint({"--config", file}) == file + ":2: layers: 0 is out of range; it must be from 1 to 1000");
  write_file(file, "[Shape]\nlayer = 3\n");
  CHECK(complaint({"--config", file}) == file + ":2: unknown option layer; did you mean --layers?");
  write_file(file, "help = true\n");
  CHECK(complaint({"--config", file}) == file + ":1: help is for the command line; it cannot be set in a file");
  write_file(file, "no-layers = true\n");
  CHECK(complaint({"--config", file}).starts_with(file + ":1: unknown option no-layers"));
  write_file(file, "layers = 1\n[Shape]\nlayers = 1\n");
  CHECK(complaint({"--config", file}) == file + ":3: layers is already set in line 1");
  write_file(file, "no-bias = true\nbias = true\n");
  CHECK(complaint({"--config", file}) == file + ":2: bias is already set in line 1");
  write_file(file, "sizes = 1\nsizes = 2\n");
  CHECK(read({"--config", file}).sizes == std::vector<Index>{1, 2});
  write_file(file, "no-bias = perhaps\n");
  CHECK(complaint({"--config", file}) == file + ":1: no-bias: 'perhaps' is not true or false");
  write_file(file, std::string("layers = 1\0\n", 13));
  CHECK_THROWS_WITH_AS(read({"--config", file}), (file + ":1: contains a NUL byte; it is not a text file").c_str(),
                       DataError);
  CHECK_THROWS_AS(read({"--config", folder / "absent.ini"}), DataError);
  const Variable bias("HEDDLE_TOY_BIAS", "maybe");
  CHECK(complaint({}) == "HEDDLE_TOY_BIAS: 'maybe' is not true or false");
}

TEST_CASE("options: a preset fills in what was not given, before the options are printed") {
  Arguments arguments(toy::about(), {"--layers", "7"});
  const auto options = arguments.read<toy::Options>([&](toy::Options& o) {
    if (!arguments.given("layers")) o.shape.layers = 100;
    if (!arguments.given("dropout")) o.shape.dropout = 0;
  });
  CHECK(options.shape.layers == 7);
  CHECK(options.shape.dropout == 0);
}

TEST_CASE("options: one that needs another is refused without it, unless the environment sets it") {
  const std::string refusal =
      "--speed has no effect without --fast or --action flood; add one of them or leave --speed out";
  CHECK(complaint({"--speed", "2"}) == refusal);
  CHECK(complaint({"--speed", "1"}) == refusal);
  CHECK(complaint({"--speed", "2", "--no-fast"}) == refusal);
  CHECK(alternatives({"task=a", "task=b", "task=c", "all_of_it"}) == "--task a, b, c or --all-of-it");
  CHECK(read({"--speed", "2", "--fast"}).speed == 2);
  CHECK(read({"--speed", "2", "--action", "flood"}).speed == 2);
  const TemporaryFolder folder;
  write_file(folder / "run.ini", "speed = 2\n");
  CHECK(complaint({"--config", folder / "run.ini"}) == refusal);
  const Variable speed("HEDDLE_TOY_SPEED", "3");  // may be set for another command
  CHECK(read({}).speed == 3);
  CHECK(complaint({"--speed", "2"}) == refusal);
  toy::Options options;
  CHECK(render_help(toy::about(), table_of(options), true).find("(with --fast or --action flood; default 1)") !=
        std::string::npos);
}

TEST_CASE("values: lengths of time in units and as Slurm writes them") {
  using heddle::parse_duration;
  for (const auto& [text, seconds] : std::vector<std::pair<const char*, double>>{{"45s", 45},
                                                                                 {"90m", 5400},
                                                                                 {"1d12h", 129600},
                                                                                 {"11h30m", 41400},
                                                                                 {"1.5h", 5400},
                                                                                 {"90", 5400},
                                                                                 {"10:30", 630},
                                                                                 {"11:30:00", 41400},
                                                                                 {"1-12", 129600},
                                                                                 {"1-12:30", 131400},
                                                                                 {"0-0:0:7", 7}}) {
    CAPTURE(text);
    CHECK(parse_duration(text) == doctest::Approx(seconds));
  }
  for (const char* wrong : {"", "0", "0s", "m", "5x", "-5", "1:2:3:4", "10s5m", "nan", "infs", "1-", "1e999h", "5 m"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(parse_duration(wrong), UsageError);
  }
}

TEST_CASE("config: quotes, comments and headings") {
  const auto settings =
      parse_config("[Head ing] # why\n a = 1 # one\nb=x#y\n; no\nc = \"# \\\"\\x41\\n\" # c\nd =\r\n", "x");
  REQUIRE(settings.size() == 4);
  CHECK(settings[0].value == "1");
  CHECK(settings[1].value == "x#y");
  CHECK(settings[2].value == "# \"A\n");
  CHECK(settings[2].line == 5);
  CHECK(settings[3].value.empty());
  CHECK(parse_config("a = 1\rb = 2\r", "x").at(1).value == "2");
  CHECK(parse_config("a = \"\\t|\\r|\\\\\"", "x").at(0).value == "\t|\r|\\");
  for (const char* bad : {"a", "= 3", "[a", "a = \"b", "a = \"b\\q\"", "a = \"b\" c", "a = \"\\x4\""}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(parse_config(bad, "x.ini"), DataError);
  }
}

TEST_CASE("config: what is wrong is told with file and line") {
  for (const auto& [line, says] : std::vector<std::pair<const char*, const char*>>{
           {"a", "expected 'option = value', a [heading] or a # comment"},
           {"= 3", "expected 'option = value', a [heading] or a # comment"},
           {"[a", "the heading lacks its ]"},
           {"a = \"b", "the quote is not closed"},
           {"a = \"b\\q\"", "unknown escape in quotes; known are \\\" \\\\ \\n \\t \\r \\xHH"},
           {"a = \"b\" c", "text after the closing quote"}}) {
    CAPTURE(line);
    CHECK_THROWS_WITH_AS(parse_config(concatenate("x = 1\n\n", line, "\ny = 2\n"), "x.ini"),
                         concatenate("x.ini:3: ", says).c_str(), DataError);
  }
}

TEST_CASE("config: what is printed reads back as the same values") {
  toy::Options original;
  original.output = " a # \"b\"\n\t\\ \x01 ";
  original.learning_rate = 0.1 + 0.2;
  original.shape.bias = false;
  original.sizes = {};
  original.rates = {1.0 / 3, -1e300};
  original.stop = {"a,b", "\\,", "#", "c\\", "\n"};
  toy::Options copy;
  const OptionTable table = table_of(copy);
  const std::string printed = render_config(table_of(original), all_of(table));
  apply(table, printed);
  CHECK(copy.output == original.output);
  CHECK(copy.learning_rate == original.learning_rate);
  CHECK(copy.shape.bias == original.shape.bias);
  CHECK(copy.sizes == original.sizes);
  CHECK(copy.rates == original.rates);
  CHECK(copy.stop == original.stop);
  CHECK(render_config(table, all_of(table)) == printed);
}

TEST_CASE("config: what was not given is printed as a comment, and is not given when it is read back") {
  toy::Options options;
  options.stop = {"c\\", "\n"};
  const std::string printed = render_config(table_of(options), {"layers"});
  CHECK(printed.find("\nlayers = 4\n") != std::string::npos);
  CHECK(printed.find("\n# learning-rate = 0.001\n") != std::string::npos);
  CHECK(printed.find("\n# stop = c\\\n# stop = \"\\n\"\n") != std::string::npos);
  REQUIRE(parse_config(printed, "x.ini").size() == 1);
  const TemporaryFolder folder;
  write_file(folder / "run.ini", printed);
  Arguments arguments(toy::about(), {"--config", folder / "run.ini"});
  arguments.read<toy::Options>();
  CHECK(arguments.given("layers"));
  CHECK_FALSE(arguments.given("learning_rate"));
}

TEST_CASE("common options: threads come from OMP_NUM_THREADS, SLURM or the machine") {
  const auto threads = [](std::vector<std::string> words) {
    Arguments arguments(toy::about(), std::move(words));
    arguments.read<toy::Options>();
    return arguments.common().threads;
  };
  unsetenv("OMP_NUM_THREADS");
  unsetenv("SLURM_CPUS_PER_TASK");
  CHECK(threads({}) >= 1);
  const auto at_most = [](Index count) { return std::min<Index>(count, processors().count()); };
  const Variable slurm("SLURM_CPUS_PER_TASK", "5");
  CHECK(threads({}) == at_most(5));
  {
    const Variable omp("OMP_NUM_THREADS", "1,2");
    CHECK(threads({}) == 1);
    CHECK(threads({"--threads", "2"}) == 2);
  }
  const Variable omp("OMP_NUM_THREADS", "abc");
  const Overheard overheard;
  CHECK(threads({"--threads", "1"}) == 1);
  CHECK(overheard.text().empty());
  CHECK(threads({}) == at_most(5));
  CHECK(overheard.text() == "toy: warning: OMP_NUM_THREADS='abc' is not a number of threads; ignored\n");
}

TEST_CASE("common options: -v tells how many threads there are, and why") {
  unsetenv("OMP_NUM_THREADS");
  unsetenv("SLURM_CPUS_PER_TASK");
  const auto note = [](std::vector<std::string> words) {
    words.push_back("-v");
    const Overheard overheard;
    Arguments(toy::about(), words).read<toy::Options>();
    return overheard.text();
  };
  CHECK(heddle::testing::contains(note({"--threads", "3"}), ", threads: 3 (as requested)\n"));
  {
    const Variable slurm("SLURM_CPUS_PER_TASK", "1");
    CHECK(heddle::testing::contains(note({}), ", threads: 1 (SLURM_CPUS_PER_TASK)\n"));
  }
  {
    const Variable omp("OMP_NUM_THREADS", "100000");
    CHECK(heddle::testing::contains(note({}),
                                    concatenate(", threads: ", processors().count(), " (OMP_NUM_THREADS = 100000, but ",
                                                processors().reason(), ")\n")));
  }
  CHECK(heddle::testing::contains(note({}), processors().reason() + ")\n"));
  CHECK(complaint({"-q", "-v"}) == "--quiet and --verbose contradict each other; give one of them");
}

TEST_CASE("common options: of several processes one speaks, and each has its part of the processors") {
  unsetenv("OMP_NUM_THREADS");
  unsetenv("SLURM_CPUS_PER_TASK");
  const Index all = processors().count();
  for (const bool speaks : {true, false}) {
    const Overheard overheard;
    Arguments arguments(toy::about(), {"-v"});
    arguments.be_one_of(2, speaks);
    arguments.read<toy::Options>();
    CHECK(arguments.common().threads == std::max<Index>(1, all / 2));
    CHECK(arguments.common().quiet == !speaks);
    CHECK(arguments.common().verbose == speaks);
    arguments.say("a note");
    arguments.warn("a warning");
    const std::string heard = overheard.text();
    CHECK(heddle::testing::contains(heard, ", divided by 2 processes)\n") == speaks);
    CHECK(heddle::testing::contains(heard, "toy: a note\ntoy: warning: a warning\n") == speaks);
    CHECK(heard.empty() == !speaks);
  }
  const Variable omp("OMP_NUM_THREADS", "1");
  Arguments arguments(toy::about(), {});
  arguments.be_one_of(1000, true);
  arguments.read<toy::Options>();
  CHECK(arguments.common().threads == 1);
}

TEST_CASE("common options: a tool's own field stands for the common one") {
  Arguments with_default(toy::about(), {}), with_flag(toy::about(), {"--seed", "5"});
  CHECK(with_default.read<Seeded>().seed == 1337);
  CHECK(with_default.common().seed == 1337);
  CHECK(with_flag.read<Seeded>().seed == 5);
  CHECK(with_flag.common().seed == 5);
}

TEST_CASE("options: two of one name are a mistake of the program") {
  CHECK_THROWS_AS(Arguments(toy::about(), {}).read<Twice>(), std::logic_error);
}

TEST_CASE("operands: words go from left to right, and each operand gets what it needs") {
  About about = toy::about();
  about.operands = {{"MODEL", "", 1, 1}, {"FILE", "", 0, any_number}, {"LAST", "", 1, 1}};
  Arguments arguments(about, {"m.h5", "a", "--fast", "-", "--", "--z"});
  arguments.read<toy::Options>();
  CHECK(arguments.operand("MODEL") == "m.h5");
  CHECK(arguments.operands("FILE") == std::vector<std::string>{"a", "-"});
  CHECK(arguments.operand("LAST") == "--z");
  CHECK_THROWS_WITH_AS(Arguments(about, {"m.h5"}).read<toy::Options>(), "LAST is missing (toy --help shows the usage)",
                       UsageError);
  about.operands.clear();
  CHECK_THROWS_WITH_AS(Arguments(about, {"x"}).read<toy::Options>(),
                       "unexpected argument 'x' (toy --help shows the usage)", UsageError);
}

TEST_CASE("arguments: notes and warnings cannot control a terminal") {
  const Arguments arguments(toy::about(), {});
  std::ostringstream shown;
  std::streambuf* const previous = std::cerr.rdbuf(shown.rdbuf());
  arguments.say("a\x1b[31m\u009b\xff\n");
  arguments.warn("b\x1b[31m");
  std::cerr.rdbuf(previous);
  CHECK(shown.str() == "toy: a\\x1b[31m\\xc2\\x9b\\xff\\x0a\ntoy: warning: b\\x1b[31m\n");
}

TEST_CASE("arguments: the command line is UTF-8 text, whatever its words are") {
  const Arguments arguments(toy::about(), {"tr\xe9.h5", "a\u009b", "new\nline"});
  CHECK(arguments.command_line() == R"(toy $'tr\xe9.h5' $'a\xc2\x9b' $'new\x0aline')");
}

TEST_CASE("arguments: the command line is quoted as a shell takes it") {
  const Arguments arguments(toy::about(), {"-o", "a b", "it's", "", "x=1"});
  CHECK(arguments.command_line() == R"(toy -o 'a b' 'it'\''s' '' x=1)");
}

TEST_CASE("help: grouped, within 80 columns, with defaults and choices") {
  toy::Options options;
  const std::string help = render_help(toy::about(), table_of(options), true);
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    CHECK(line.size() <= 80);
  }
  const std::size_t group = help.find("\nShape of the model:\n");
  REQUIRE(group != std::string::npos);
  CHECK(help.find("--layers N") > group);
  CHECK(help.find("--fast") < group);
  CHECK(help.find("Usage: toy [--action NAME] [-o FILE] [FILE...]\n") == 0);
  for (const char* part : {"  -o, --output FILE", "--no-bias ", "(default 4)",
                           "(one of relu,\n                        gelu; default gelu)", "--learning-rate X",
                           "--sizes N,...", "(default 1,2)", "  FILE... "}) {
    CAPTURE(part);
    CHECK(help.find(part) != std::string::npos);
  }
}

TEST_CASE("help: the essential options, and how many more there are") {
  toy::Options options;
  const std::string help = render_help(toy::about(), table_of(options), false);
  CHECK(contains(help, "-o, --output FILE"));
  CHECK_FALSE(contains(help, "--fast"));
  CHECK(help.ends_with("\ntoy --help=all lists 12 more options; the man page explains them.\n"));
}

namespace {

struct Place {
  std::string letter = "a";
  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    std::vector<std::string> letters;
    for (char letter = 'a'; letter <= 'n'; ++letter) letters.emplace_back(1, letter);
    visitor(Field("letter", "where").one_of(letters).takes("NAME").essential(), self.letter);
  }
};

}  // namespace

TEST_CASE("help: a long list of names is whole in complete help and in man pages alone") {
  Place place;
  OptionTable table;
  table.add(place, "Shape");
  CHECK(contains(render_help(toy::about(), table, false), "(one of 14, such as a, b, c;"));
  CHECK(contains(render_help(toy::about(), table, true), "where (one of a, b, c, d, e, f, g, h, i, j, k, l,"));
  CHECK(contains(render_man_options(table), "a, b, c, d, e, f, g, h, i, j, k, l, m, n"));
}

TEST_CASE("options: numbers that are written as words") {
  const auto depth = [](const std::string& text) { return read({"--depth", text}).depth; };
  CHECK(depth("7") == 7);
  CHECK(depth("auto") == 0);
  CHECK(complaint({"--depth", "0"}) == "--depth: 0 is out of range; it must be at least 1, or auto");
  CHECK(complaint({"--depth", "most"}) == "--depth: 'most' is not a whole number; it must be at least 1, or auto");
  toy::Options options;
  const OptionTable table = table_of(options);
  CHECK(table.find("depth")->initial == "auto");
  CHECK(contains(render_help(toy::about(), table, true), "default auto"));
  CHECK(contains(render_config(table, {"depth"}), "\ndepth = auto\n"));
  check_ranges(options);
  options.depth = -1;
  CHECK_THROWS_AS(check_ranges(options), UsageError);
}

TEST_CASE("rendered: fields that messages name are the tool's options, as a user writes them") {
  toy::Options options;
  const OptionTable table = table_of(options);
  for (const auto& [text, expected] : std::map<std::string, std::string>{
           {"", ""},
           {"no field, `two words`, `Layers` and '`layers`'", "no field, `two words`, `Layers` and '`layers`'"},
           {"`learning_rate`: too high; lower `learning_rate`", "--learning-rate: too high; lower --learning-rate"},
           {"`layers` = 3 is not `depth` = 4", "--layers 3 is not --depth 4"},
           {"(`sizes` = 1,2)", "(--sizes 1,2)"},
           {"give `bias` = false, or `fast` = true", "give --no-bias, or --fast"},
           {"`fast` = auto, `bias`", "--fast = auto, --bias"},
           {"`kv_heads` = 3 without `gated`", "kv-heads = 3 without gated"},
       }) {
    CHECK(rendered(text, table) == expected);
  }
}

TEST_CASE("rendered: settings without an option of their own are keys of the option that chooses") {
  OptionTable table;
  table.add({.field = Field("arch", "architecture"), .kind = OptionKind::value});
  table.add({.field = Field("layers", "blocks"), .kind = OptionKind::value, .kind_option = "arch"});
  table.add({.field = Field("arch.share_embeddings", "one table"),
             .kind = OptionKind::value,
             .kind_option = "arch",
             .is_named = false});
  CHECK(rendered("`layers` = 3", table) == "--layers 3");
  CHECK(rendered("`share_embeddings` is new", table) == "--arch NAME:share-embeddings is new");
  CHECK(rendered("give `share_embeddings` = false", table) == "give --arch NAME:share-embeddings=false");
  CHECK(rendered("`cell` = cho", table) == "cell = cho");

  KindHelp kind{"rnn", "as `layers` = 1", {{Field("cell", "with `layers`"), "gru"}}};
  table.find("arch")->kinds = {kind};
  const KindHelp shown = with_rendered_help(table).find("arch")->kinds.front();
  CHECK(shown.summary == "as --layers 1");
  CHECK(shown.fields.front().field.help == "with --layers");
}

TEST_CASE("rendered: in notes, errors, help, man pages and completion") {
  Arguments arguments(toy::about(), {});
  const Overheard overheard;
  arguments.say("`layers` = 3");
  arguments.read<toy::Options>();
  arguments.say("`layers` = 3");
  arguments.warn("`fast`");
  CHECK(overheard.text() == "toy: layers = 3\ntoy: --layers 3\ntoy: warning: --fast\n");
  const auto fail = [] { throw DataError("x.h5: `layers` = 3"); };
  CHECK_THROWS_WITH_AS(with_rendered_errors(arguments, fail), "x.h5: --layers 3", DataError);

  toy::Options options;
  const OptionTable table = table_of(options);
  for (const std::string& text :
       {render_help(toy::about(), table, true), render_completion(Shell::zsh, toy::about(), table),
        render_completion(Shell::fish, toy::about(), table)}) {
    CHECK(contains(text, "step length; --fast doubles it"));
  }
  CHECK(contains(render_man_options(table), "step length; --fast doubles it"));
}

TEST_CASE("options: a former name says the new one") {
  CHECK(complaint({"--deepness", "3"}) ==
        "unknown option --deepness; it is called --depth (toy --help=all lists them)");
}

TEST_CASE("options: a variable of the tool that names no option is reported") {
  const Variable layers("HEDDLE_TOY_LAYER", "3"), other("HEDDLE_OTHER_LAYERS", "3"), plain("HEDDLE_LAYERS", "9");
  const Overheard overheard;
  CHECK(read({}).shape.layers == 4);
  CHECK(
      overheard.text() ==
      "toy: warning: the environment sets HEDDLE_TOY_LAYER, which is ignored: toy has no such option; did you mean "
      "--layers?\n"
      "toy: warning: the environment sets HEDDLE_LAYERS, which is ignored; the variable is called HEDDLE_TOY_LAYERS\n");
}

TEST_CASE("options: variables with former names of options, with and without the tool's name, say the new one") {
  for (const char* name : {"HEDDLE_DEEPNESS", "HEDDLE_TOY_DEEPNESS"}) {
    const Variable deepness(name, "3");
    const Overheard overheard;
    CHECK(read({}).depth == 0);
    CHECK(overheard.text() == concatenate("toy: warning: the environment sets ", name,
                                          ", which is ignored; the variable is called HEDDLE_TOY_DEPTH\n"));
  }
}

TEST_CASE("man table: headings, terms with their ranges, in scdoc's markup") {
  toy::Options options;
  const std::string table = render_man_options(table_of(options));
  CHECK(table.find("## Shape of the model\n\n*--layers* _N_\n"
                   "\tnumber of blocks (from 1 to 1000; default 4)\n\n") != std::string::npos);
  CHECK(table.find("*-o*, *--output* _FILE_\n") != std::string::npos);
}

namespace {

// Help texts with all that scdoc and roff treat specially.
struct OddOptions {
  std::string first = "a_b*c";
  std::string second, third, fourth, fifth, sixth;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("first", "*bold* _underlined_ a\\b ```code``` end++").takes("A_B,..."), self.first);
    visitor(Field("second", ".TH 'x' 1"), self.second);
    visitor(Field("third", "'br \"quoted\""), self.third);
    visitor(Field("fourth", "- a list\n# a heading\n; a comment"), self.fourth);
    visitor(Field("fifth", "[[ a table\n| of cells"), self.fifth);
    visitor(Field("sixth", "~/.config ^caret, 1+1 = 2 und \u00fcber"), self.sixth);
  }
};

}  // namespace

TEST_CASE("man table: what scdoc and roff treat specially is printed as it is") {
  OddOptions options;
  OptionTable odd;
  odd.add(options, "Odd\\group_of *texts*");
  const std::string table = render_man_options(odd);
  CHECK(
      contains(table, "*--first* _A\\_B,..._\n\t\\*bold\\* \\_underlined\\_ a\\\\b \\`\\`\\`code\\`\\`\\` end\\+\\+"));
  CHECK(contains(table, "\t**.TH 'x' 1\n\n"));
  if (std::system("command -v scdoc > /dev/null && command -v mandoc > /dev/null") != 0) {
    MESSAGE("skipped: no mandoc");
    return;
  }
  const TemporaryFolder folder;
  write_file(folder / "page.scd", "odd(1)\n\n# OPTIONS\n\n" + table);
  const std::string page = folder / "page";
  REQUIRE(std::system(("scdoc < " + page + ".scd > " + page + ".1").c_str()) == 0);
  REQUIRE(std::system(("mandoc -T utf8 -O width=200 " + page + ".1 | col -b > " + page + ".txt").c_str()) == 0);
  const std::string shown = read_file(page + ".txt");
  CAPTURE(shown);
  for (const char* part :
       {"Odd\\group_of *texts*\n", "--first A_B,...\n", "*bold* _underlined_ a\\b ```code``` end++ (default a_b*c)\n",
        " .TH 'x' 1\n", " 'br \"quoted\"\n", " - a list # a heading ; a comment\n", " [[ a table | of cells\n",
        " ~/.config ^caret, 1+1 = 2 und \u00fcber\n"}) {
    CAPTURE(part);
    CHECK(contains(shown, part));
  }
}

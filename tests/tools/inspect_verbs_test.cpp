// inspect's verbs from outside: how they are called, listed, completed, and what happens to words that are none.
#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "support/json.hpp"
#include "tools/command.hpp"
#include "tools/shells.hpp"

using heddle::testing::contains;
using heddle::testing::is_there;
using heddle::testing::lines_in;
using heddle::testing::lines_of;
using heddle::testing::Outcome;
using heddle::testing::parse_json;
using heddle::testing::read_file;
using heddle::testing::run_command;
using heddle::testing::TemporaryFolder;
using heddle::testing::write_file;

namespace {

const std::vector<std::string> all_verbs{
#define HEDDLE_VERB(room, name) #name,
#include "tools/inspect/verbs.def"
#undef HEDDLE_VERB
};

using Words = std::vector<std::string>;

Outcome inspect(const std::string& words) {
  return run_command(INSPECT " " + words);
}

Words offers(const std::string& words) {
  return heddle::testing::Shells(INSPECT, "inspect").bash(words);
}

Words fish_offers(const std::string& line) {
  return heddle::testing::Shells(INSPECT, "inspect").fish(line);
}

std::string zsh_line(const std::string& line) {
  return heddle::testing::Shells(INSPECT, "inspect").zsh(line);
}

}  // namespace

TEST_CASE("inspect: --help lists the verbs, and each has its own") {
  const Outcome overview = inspect("--help");
  CHECK(overview.status == 0);
  CHECK(inspect("help").out == overview.out);
  CHECK(contains(inspect("--help=all").out, "--completion"));
  CHECK(inspect("-h").out == overview.out);
  std::set<std::string> helps;
  for (const std::string& verb : all_verbs) {
    CAPTURE(verb);
    CHECK(contains(overview.out, "\n  " + verb + " "));
    const Outcome help = inspect(verb + " --help");
    CHECK(help.status == 0);
    CHECK(help.out.starts_with("Usage: inspect " + verb + " "));
    CHECK(inspect("help " + verb).out == help.out);
    CHECK(contains(help.out, "--json"));
    CHECK_FALSE(contains(inspect(verb + " --help=all").out, "--completion"));
    CHECK_FALSE(contains(help.out, "--seed"));
    helps.insert(help.out);
  }
  CHECK(helps.size() == all_verbs.size());
  CHECK(contains(inspect("embed --help").out, "--pooling"));
  CHECK_FALSE(contains(inspect("diff --help").out, "--pooling"));
  CHECK(inspect("--version").out == inspect("show --version").out);
  CHECK(inspect("--version").out.starts_with("inspect (heddle) "));
}

TEST_CASE("inspect: without a verb it is show") {
  CHECK(inspect("--preset nano").out == inspect("show --preset nano").out);
  const auto preset = parse_json(inspect("--preset nano --json").out);
  CHECK(preset["parameters"].is_number());
}

TEST_CASE("inspect: a word that is almost a verb, and options that moved, are answered with what to write") {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"dif a.h5 b.h5", "inspect: 'dif' is neither a verb nor a file; did you mean diff?\n"},
      {"verfy a.h5", "inspect: 'verfy' is neither a verb nor a file; did you mean verify?\n"},
      {"price a.h5", "inspect: 'price' is neither a verb nor a file; the verbs are show, verify, diff, history, "},
      {"bench a.h5 text", "inspect: 'bench' is neither a verb nor a file; the verbs are show, "},
      {"gpt2", "inspect: 'gpt2' is neither a verb nor a file; inspect --preset gpt2 shows the preset\n"},
      {"hist a.h5", "inspect: 'hist' is neither a verb nor a file; did you mean history?\n"},
      {"help dif", "inspect: 'dif' is not a verb; did you mean diff? (inspect --help lists the verbs)\n"},
      {"help nonsense", "inspect: 'nonsense' is not a verb (inspect --help lists the verbs)\n"},
      {"a.h5 --diff b.h5", "inspect: --diff is a verb now: inspect diff A B [--json]\n"},
      {"--verify a.h5", "inspect: --verify is a verb now: inspect verify FILE... [--json|--jsonl]\n"},
      {"a.h5 --evaluate b.h5", "inspect: --evaluate is a verb now: inspect evaluate MODEL DATA "},
      {"a.h5 -o x.svg",
       "inspect: inspect show has no option -o, but inspect history, tokens, surprise, embed, neighbours, senses, "
       "explain, attention, align, positions, kernels, cost, lyapunov have it\n"},
      {"a.h5 --voters 3", "inspect: inspect show has no option --voters, but inspect senses has it\n"},
      {"diff a.h5 b.h5 --jsno",
       "inspect: unknown option --jsno; did you mean --json? (inspect diff --help=all lists them)\n"},
      {"diff a.h5", "inspect: B is missing (inspect diff --help shows the usage)\n"},
      {"", "inspect: give one FILE, or --preset NAME (inspect --help lists the verbs)\n"}};
  for (const auto& [words, message] : cases) {
    CAPTURE(words);
    const Outcome outcome = inspect(words);
    CHECK(outcome.status == 2);
    CHECK(outcome.err.starts_with(message));
    CHECK(lines_in(outcome.err) == 1);
    CHECK(outcome.out.empty());
  }
  CHECK(inspect("price").status == 1);
  CHECK(
      inspect("price").err.starts_with("inspect: price: cannot open: No such file or directory; the verbs are show, "));
  CHECK(inspect("absent.h5").status == 1);
  CHECK(inspect("absent.h5").err == "inspect: absent.h5: cannot open: No such file or directory\n");
}

TEST_CASE("inspect: a file named like a verb, or nearly so") {
  const TemporaryFolder folder;
  const auto in_folder = [&](const std::string& words) {
    return run_command("cd '" + (folder / "") + "' && " INSPECT " " + words);
  };
  write_file(folder / "diff", "text\n");
  write_file(folder / "dif", "text\n");
  CHECK(in_folder("./diff").err.starts_with("inspect: ./diff: is plain text"));
  CHECK(in_folder("dif").err.starts_with("inspect: dif: is plain text"));
  CHECK(in_folder("show diff").err.starts_with("inspect: diff: is plain text"));
  CHECK(in_folder("diff").err == "inspect: A is missing (inspect diff --help shows the usage)\n");
}

TEST_CASE("inspect: files of options and the environment work for each verb") {
  const TemporaryFolder folder;
  write_file(folder / "options.ini", "json = true\npreset = nano\n");
  const std::string file = folder / "options.ini";
  CHECK(parse_json(run_command("HEDDLE_CONFIG=" + file + " " INSPECT " show").out)["name"] == "nano");
  CHECK(run_command("HEDDLE_CONFIG=" + file + " " INSPECT " show --print-config").out ==
        run_command(INSPECT " show --json --preset nano --print-config").out);
  const Outcome other = inspect("verify --config " + file + " " + file);
  CHECK(other.status == 2);
  CHECK(contains(other.err, "options.ini:2: unknown option preset"));
  CHECK(contains(inspect("embed --print-config").out, "# pooling = none\n"));
  CHECK_FALSE(contains(inspect("diff --print-config").out, "pooling"));
  // A variable is for the verbs that have such an option; one that is for none is reported.
  const auto with = [&](const std::string& variable, const std::string& words) {
    return run_command(variable + " " INSPECT " " + words);
  };
  CHECK(contains(with("HEDDLE_INSPECT_POOLING=mean", "embed --print-config").out, "\npooling = mean\n"));
  CHECK(with("HEDDLE_INSPECT_POOLING=mean", "diff --print-config").err.empty());
  CHECK(contains(with("HEDDLE_INSPECT_POLING=mean", "diff --print-config").err, "HEDDLE_INSPECT_POLING"));
}

TEST_CASE("inspect: bash completes verbs first, then the verb's options and files") {
  Words verbs = all_verbs;
  verbs.emplace_back("help");
  verbs.insert(verbs.end(), {"model.h5", "my text"});
  std::ranges::sort(verbs);
  CHECK(offers("''") == verbs);
  CHECK(offers("di") == Words{"diff"});
  CHECK(offers("mod") == Words{"model.h5"});
  CHECK(offers("--hist") == Words{"--history"});  // option of show
  CHECK(offers("--comp") == Words{"--completion"});
  CHECK(offers("model.h5 --wei") == Words{"--weights"});
  CHECK(offers("embed --pool") == Words{"--pooling"});
  CHECK(offers("embed --pooling m") == Words{"mean"});
  CHECK(offers("embed --part") == Words{""});
  CHECK(offers("diff mod") == Words{"model.h5"});
  CHECK(offers("help di") == Words{"diff"});
}

TEST_CASE("inspect: fish completes verbs and their options") {
  if (!is_there("fish")) return;
  CHECK(fish_offers("inspect di") == Words{"diff"});
  CHECK(fish_offers("inspect --hist") == Words{"--history"});
  CHECK(fish_offers("inspect embed --pool") == Words{"--pooling"});
  CHECK(fish_offers("inspect embed --part").empty());
  CHECK(fish_offers("inspect diff mod") == Words{"model.h5"});
  CHECK(fish_offers("inspect help di") == Words{"diff"});
}

TEST_CASE("inspect: zsh completes verbs and their options") {
  if (!is_there("zsh")) return;
  CHECK(zsh_line("inspect dif") == "inspect diff \n");
  CHECK(zsh_line("inspect --hist") == "inspect --history \n");
  CHECK(zsh_line("inspect embed --pool") == "inspect embed --pooling=\n");
  CHECK(zsh_line("inspect embed --pooling=m") == "inspect embed --pooling=mean \n");
  CHECK(zsh_line("inspect diff mod") == "inspect diff model.h5 \n");
  CHECK(zsh_line("inspect help dif") == "inspect help diff \n");
}

// Completion, as bash itself does it.
#include <doctest/doctest.h>

#include <algorithm>

#include "tools/command.hpp"
#include "tools/shells.hpp"

using heddle::testing::contains;
using heddle::testing::is_there;
using heddle::testing::lines_of;
using heddle::testing::Outcome;
using heddle::testing::run_command;
using heddle::testing::TemporaryFolder;
using heddle::testing::write_file;

namespace {

using Offers = std::vector<std::string>;

Offers offers(const std::string& words) {
  return heddle::testing::Shells(TOY_TOOL, "toy").bash(words);
}

Offers fish_offers(const std::string& line) {
  return heddle::testing::Shells(TOY_TOOL, "toy").fish(line);
}

std::string zsh_line(const std::string& line) {
  return heddle::testing::Shells(TOY_TOOL, "toy").zsh(line);
}

}  // namespace

TEST_CASE("completion: options, as help shows them") {
  CHECK(offers("--la") == Offers{"--layers"});
  CHECK(offers("--no-") == Offers{"--no-bias"});
  CHECK(offers("--help") == Offers{"--help"});  // not --help-man, which is hidden
  CHECK(offers("--nonsense") == Offers{""});
  CHECK(offers("--fast --la") == Offers{"--layers"});
}

TEST_CASE("completion: values of enumerations, behind a blank and behind =") {
  CHECK(offers("--activation ''") == Offers{"gelu", "relu"});
  CHECK(offers("--activation g") == Offers{"gelu"});
  CHECK(offers("--activation =") == Offers{"gelu", "relu"});
  CHECK(offers("--activation = r") == Offers{"relu"});
}

TEST_CASE("completion: files where an option takes one and as operands, and nothing where only the user knows") {
  CHECK(offers("--output m") == Offers{"model.h5", "my text"});
  CHECK(offers("-o my") == Offers{"my text"});
  CHECK(offers("mod") == Offers{"model.h5"});
  CHECK(offers("--layers ''") == Offers{""});
  CHECK(offers("--layers 3 mod") == Offers{"model.h5"});
}

TEST_CASE("completion: fish offers options, values and files") {
  if (!is_there("fish")) return;
  CHECK(fish_offers("toy --la") == Offers{"--layers"});
  CHECK(fish_offers("toy --no-") == Offers{"--no-bias"});
  CHECK(fish_offers("toy --activation ") == Offers{"gelu", "relu"});
  CHECK(fish_offers("toy --output mod") == Offers{"model.h5"});
  CHECK(fish_offers("toy -o mod") == Offers{"model.h5"});
  CHECK(fish_offers("toy --layers ").empty());
}

TEST_CASE("completion: zsh completes options, values and files") {
  if (!is_there("zsh")) return;
  CHECK(zsh_line("toy --la") == "toy --layers=\n");
  CHECK(zsh_line("toy --activation=g") == "toy --activation=gelu \n");
  CHECK(zsh_line("toy --activation r") == "toy --activation relu \n");
  CHECK(zsh_line("toy -o mod") == "toy -o model.h5 \n");
  CHECK(zsh_line("toy mod") == "toy model.h5 \n");
}

TEST_CASE("completion: zsh and fish are told the same") {
  const std::string zsh = run_command(TOY_TOOL " --completion zsh").out;
  for (const char* part : {"#compdef toy\n", "'(-o --output)'{-o+,--output=}'[where the result goes]:FILE:_files'",
                           "'--activation=[", ":NAME:(relu gelu)'", "'--no-bias[", "'*:file:_files'"}) {
    CAPTURE(part);
    CHECK(contains(zsh, part));
  }
  const std::string fish = run_command(TOY_TOOL " --completion fish").out;
  for (const char* part : {"complete -c toy -s o -l output -r -F -d 'where the result goes'\n",
                           "complete -c toy -l activation -x -a 'relu gelu' -d ", "complete -c toy -l no-bias -d "}) {
    CAPTURE(part);
    CHECK(contains(fish, part));
  }
  CHECK(run_command(TOY_TOOL " --completion ksh").status == 2);
}

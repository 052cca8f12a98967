// What shells complete, asked of bash itself.
#include <doctest/doctest.h>

#include <algorithm>

#include "tools/command.hpp"

using heddle::testing::contains;
using heddle::testing::lines_of;
using heddle::testing::Outcome;
using heddle::testing::run_command;
using heddle::testing::TemporaryFolder;
using heddle::testing::write_file;

namespace {

// What bash offers for the last of the words, in a folder with the files "model.h5" and "my text".
std::vector<std::string> offers(const std::string& words) {
  const TemporaryFolder folder;
  write_file(folder / "model.h5", "");
  write_file(folder / "my text", "");
  const Outcome outcome = run_command("cd '" + (folder / "") + "' && eval \"$('" TOY_TOOL "' --completion bash)\"\n" +
                                      "COMP_WORDS=(toy " + words + "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n" +
                                      "_heddle_toy; printf '%s\\n' \"${COMPREPLY[@]}\"");
  CHECK(outcome.status == 0);
  CHECK(outcome.err.empty());
  std::vector<std::string> lines = lines_of(outcome.out);
  std::ranges::sort(lines);
  return lines;
}

using Offers = std::vector<std::string>;

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

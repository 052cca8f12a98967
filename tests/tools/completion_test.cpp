// What shells complete, asked of bash itself.
#include <doctest/doctest.h>

#include <algorithm>

#include "support/skips.hpp"
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

bool is_there(const std::string& shell) {
  const bool there = run_command("command -v " + shell).status == 0;
  if (!there) heddle::testing::skipped(shell + " is not installed");
  return there;
}

// What fish offers to write for the last word, each with its description, in the same folder.
Offers fish_offers(const std::string& line) {
  const TemporaryFolder folder;
  write_file(folder / "model.h5", "");
  const Outcome outcome = run_command(
      "cd '" + (folder / "") +
      "' && export HOME=$PWD && fish -N -c \"'" TOY_TOOL "' --completion fish | source; complete -C '" + line + "'\"");
  CHECK(outcome.status == 0);
  Offers words = lines_of(outcome.out);
  for (std::string& word : words) word.erase(std::min(word.size(), word.find('\t')));
  std::ranges::sort(words);
  return words;
}

// What zsh makes of the line when someone presses the tabulator key behind it.
std::string zsh_line(const std::string& line) {
  const TemporaryFolder folder;
  write_file(folder / "model.h5", "");
  write_file(folder / "session", R"(
    zmodload zsh/zpty
    zpty -b shell zsh -f -i
    zpty -w shell 'PS1=; fpath=($PWD $fpath); autoload -Uz compinit; compinit -u -D'
    zpty -w shell 'show() { print -r -- "<$BUFFER>" }; zle -N show; bindkey "^T" show; print "READ""Y"'
    zpty -r -m shell text '*READY*'
    zpty -w -n shell "$1"$'\t\C-t'
    zpty -r -m shell text '*<*>*'
    print -r -- "${${text##*<}%%>*}"
  )");
  const Outcome outcome = run_command("cd '" + (folder / "") + "' && '" TOY_TOOL "' --completion zsh > _toy && " +
                                      "timeout 600 zsh -f session '" + line + "'");
  CHECK(outcome.status == 0);
  return outcome.out;
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

// Completions of a tool's command line, from the shells themselves.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "support/skips.hpp"
#include "tools/command.hpp"

namespace heddle::testing {

// In a folder with the files "model.h5" and "my text".
class Shells {
 public:
  Shells(std::string program, std::string name) : program_(std::move(program)), name_(std::move(name)) {}

  // Completions by bash of the last word.
  std::vector<std::string> bash(const std::string& words) const {
    const Outcome outcome =
        run("eval \"$('" + program_ + "' --completion bash)\"\nCOMP_WORDS=(" + name_ + " " + words +
            "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_heddle_" + name_ + "; printf '%s\\n' \"${COMPREPLY[@]}\"");
    CHECK(outcome.err.empty());
    return sorted(lines_of(outcome.out));
  }

  // Completions by fish of the last word of the line.
  std::vector<std::string> fish(const std::string& line) const {
    std::vector<std::string> words = lines_of(run("export HOME=$PWD && fish -N -c \"'" + program_ +
                                                  "' --completion fish | source; complete -C '" + line + "'\"")
                                                  .out);
    for (std::string& word : words) word.erase(std::min(word.size(), word.find('\t')));  // its description
    return sorted(words);
  }

  // The line after zsh completes it at its end.
  std::string zsh(const std::string& line) const {
    constexpr const char* session = R"(
      zmodload zsh/zpty
      zpty -b shell zsh -f -i
      zpty -w shell 'PS1=; fpath=($PWD $fpath); autoload -Uz compinit; compinit -u -D'
      zpty -w shell 'show() { print -r -- "<$BUFFER>" }; zle -N show; bindkey "^T" show; print "READ""Y"'
      zpty -r -m shell text '*READY*'
      zpty -w -n shell "$1"$'\t\C-t'
      zpty -r -m shell text '*<*>*'
      print -r -- "${${text##*<}%%>*}"
    )";
    write_file(folder_ / "session", session);
    return run("'" + program_ + "' --completion zsh > _" + name_ + " && timeout 600 zsh -f session '" + line + "'").out;
  }

 private:
  Outcome run(const std::string& command) const {
    write_file(folder_ / "model.h5", "");
    write_file(folder_ / "my text", "");
    Outcome outcome = run_command("cd '" + (folder_ / "") + "' && " + command);
    CHECK(outcome.status == 0);
    return outcome;
  }
  static std::vector<std::string> sorted(std::vector<std::string> words) {
    std::ranges::sort(words);
    return words;
  }

  std::string program_, name_;
  TemporaryFolder folder_;
};

inline bool is_there(const std::string& shell) {
  const bool there = run_command("command -v " + shell).status == 0;
  if (!there) skipped(shell + " is not installed");
  return there;
}

}  // namespace heddle::testing

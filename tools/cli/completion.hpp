// Completion for shells, from the same OptionTable as --help.
#pragma once

#include <string>

#include "tools/cli/help.hpp"

namespace heddle::cli {

enum class Shell { none, bash, zsh, fish };

}  // namespace heddle::cli

template <>
struct heddle::Names<heddle::cli::Shell> {
  using Shell = heddle::cli::Shell;
  static constexpr std::pair<Shell, std::string_view> list[] = {
      {Shell::none, "none"}, {Shell::bash, "bash"}, {Shell::zsh, "zsh"}, {Shell::fish, "fish"}};
};

namespace heddle::cli {

// Whether a value with this placeholder is the name of a file: FILE, MODEL, TOKENS and so on.
bool is_file(const std::string& placeholder);

// A script that makes the shell complete the tool under its installed name: verbs, options, values of enumerations, and
// file names for operands and options that take them. Needs bash 4.4 or newer. Precondition: a shell other than none.
std::string render_completion(Shell shell, const About& about, const OptionTable& table);

}  // namespace heddle::cli

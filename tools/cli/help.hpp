// --help and the option table of the man page, both from the same OptionTable.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/cli/options.hpp"

namespace heddle::cli {

// Arguments of a tool besides options. Words fill operands from the left, each as far as its maximum.
struct Operand {
  std::string name;  // FILE
  std::string help;
  std::size_t minimum = 0;
  std::size_t maximum = 1;
  bool may_be_empty = false;  // a text that says something without a character
};
inline constexpr std::size_t any_number = static_cast<std::size_t>(-1);

// A verb as listed by the tool's help and completion.
struct VerbEntry {
  std::string name;     // diff
  std::string summary;  // one sentence
  OptionTable options;  // including those that all tools share
};

// A subject that --help=NAME explains.
struct Topic {
  std::string name;  // variants
  std::function<std::string()> text;
};

// Description of a tool, or of one of its verbs.
struct About {
  std::string name = {};                   // tokenize
  std::string summary = {};                // one sentence: what it does
  std::vector<std::string> synopsis = {};  // each way to call it, without the name: "-t TOKENIZER [FILE...]"
  std::vector<Operand> operands = {};
  int failure_status = 0;             // the exit status of every failure; 0: each has its own
  std::string verb = {};              // diff, of inspect diff
  std::vector<VerbEntry> verbs = {};  // verbs of the whole tool; the first is the default
  std::vector<Topic> topics = {};
  bool has_ranks = false;  // divides its work among ranks under mpirun or srun
  // For a verb: whether another verb has an option of this name, so that its environment variable gives no warning.
  std::function<bool(const std::string& option)> is_of_other_verb = {};

  // Command as typed: "tokenize", "inspect diff".
  std::string command() const { return verb.empty() ? name : name + " " + verb; }
};

// Usage, summary, verbs, operands, then options in their groups: the essential ones, or all. No line is longer than 80
// characters unless a word is.
std::string render_help(const About& about, const OptionTable& options, bool all);

// Choices of an option: all names, or the settings of one. Throws UsageError for an unknown name.
std::string render_kinds(const About& about, const Option& option, const OptionTable& table, const std::string& name);

// A term and its explanation in two columns.
std::string help_entry(const std::string& term, const std::string& text);

// The options in scdoc(5) markup, for the man page: a heading per group, a term and an indented paragraph per option,
// with ranges and defaults.
std::string render_man_options(const OptionTable& options);

}  // namespace heddle::cli

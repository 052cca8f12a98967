// Every option of every tool, as its man page's table has it: values of the wrong type and out of range are refused in
// one line that names the option, and limits, choices and words are taken.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>

#include "tools/command.hpp"

using namespace heddle::testing;

namespace option_values_tests {

namespace {

const std::vector<std::string> tools{
#define HEDDLE_VERB(room, name) "inspect " #name,
#include "tools/inspect/verbs.def"
#undef HEDDLE_VERB
    "tokenize", "pretrain", "finetune", "generate", "classify", "convert"};

// Placeholders of values that are any text, or are checked against a model or data.
const std::set<std::string> free_texts{"FILE", "FILE[:WEIGHT],...", "FILE|N%", "MODEL",  "TOKENS",
                                       "TEXT", "TEXT,...",          "LIST",    "COLUMN", "N|ID"};

struct Option {
  std::string name, placeholder, help;  // --layers, N, "number of blocks (from 0 to 10000; default 4)"

  bool is_checked() const { return placeholder.empty() || (!free_texts.contains(placeholder) && name != "--metric"); }
  // The text that follows in the parentheses at the end of the help, up to the next semicolon; "" if there is none.
  std::string detail(const std::string& beginning) const {
    const std::size_t parenthesis = help.rfind(" (");
    if (parenthesis == std::string::npos) return "";
    for (const std::string prefix : {"(", "; "}) {
      const std::size_t at = help.find(prefix + beginning, parenthesis);
      if (at == std::string::npos) continue;
      const std::size_t begin = at + prefix.size() + beginning.size();
      return help.substr(begin, help.find_first_of(";)", begin) - begin);
    }
    return "";
  }
};

std::vector<std::string> parts(const std::string& list, const std::string& separator) {
  std::vector<std::string> all;
  std::size_t begin = 0;
  for (std::size_t at = 0; at != std::string::npos; begin = at + separator.size()) {
    at = list.find(separator, begin);
    all.push_back(list.substr(begin, at - begin));
  }
  return all;
}

// From the table in scdoc: "*-o*, *--output* _FILE_", then a line of help.
std::vector<Option> options_of(const std::string& tool) {
  const Outcome table = run_command("'" HEDDLE_TOOLS "'/" + tool + " --help-man");
  REQUIRE(table.status == 0);
  static const std::regex heading(R"((\*-.\*, )?\*(--[a-z0-9-]+)\*( _(.*)_|\[=_(TEXT)_\]|\[.*\])?)");
  std::vector<Option> options;
  for (const std::string& line : lines_of(std::regex_replace(table.out, std::regex(R"(\\(.))"), "$1"))) {
    std::smatch match;
    if (std::regex_match(line, match, heading))
      options.push_back({match[2], match[4].matched ? match[4] : match[5], ""});
    if (line.starts_with('\t') && !options.empty()) options.back().help = line.substr(1);
  }
  return options;
}

// The options of each tool, without those that an earlier tool has with the same help.
const std::vector<std::pair<std::string, std::vector<Option>>>& all_options() {
  static const auto all = [] {
    std::vector<std::pair<std::string, std::vector<Option>>> tables;
    std::set<std::string> seen;
    for (const std::string& tool : tools) {
      tables.push_back({tool, options_of(tool)});
      REQUIRE(tables.back().second.size() > 3);
      std::erase_if(tables.back().second, [&](const Option& option) {
        return !seen.insert(option.name + " " + option.placeholder + " " + option.help).second;
      });
    }
    return tables;
  }();
  return all;
}

struct Range {
  std::vector<std::string> inside, outside;
};

// Parses "from 1 to 1000, or auto", and the other forms that Field::range_text() writes.
Range range_of(const Option& option) {
  const auto detail = [&](const char* beginning) { return parts(option.detail(beginning), ", or "); };
  Range range;
  const auto use = [&](const std::vector<std::string>& texts) {
    range.inside.insert(range.inside.end(), texts.begin() + 1, texts.end());
    return texts.front();
  };
  if (const std::string both = use(detail("from ")); !both.empty()) {
    const auto limits = parts(both, " to ");
    range.inside.insert(range.inside.end(), {limits.at(0), limits.at(1)});
    range.outside = {"-1e300", "1e300"};
  } else if (const std::string above = use(detail("more than ")); !above.empty()) {
    const auto limits = parts(above, " and at most ");
    range.outside = {limits.at(0), "-1"};
    if (limits.size() == 2) range.inside.push_back(limits[1]);
    if (limits.size() == 2) range.outside.push_back("1e300");
  } else if (const std::string least = use(detail("at least ")); !least.empty()) {
    range.inside.push_back(least);
    range.outside = {"-1"};
  }
  return range;
}

struct Answer {
  int status;
  long lines;
  std::string first;
};

// Runs the tool with each word, in one shell.
std::vector<Answer> answers(const std::string& tool, const std::vector<std::string>& words) {
  std::string script =
      "answer() { local err; err=$(exec \"$@\" 2>&1 >/dev/null); local status=$? ends=${err//[^$'\\n']}\n"
      "printf '%s\\t%s\\t%s\\n' $status $((${#ends} + (${#err} > 0))) \"${err%%$'\\n'*}\"; }\n";
  for (const std::string& word : words) script += "answer '" HEDDLE_TOOLS "'/" + tool + " " + word + "\n";
  std::vector<Answer> all;
  for (const std::string& line : lines_of(run_command(script).out)) {
    const auto fields = parts(line, "\t");
    all.push_back({std::stoi(fields.at(0)), std::stol(fields.at(1)), fields.at(2)});
  }
  REQUIRE(all.size() == words.size());
  return all;
}

// Options whose values exclude those of others: an architecture, which need not have all of the short names, --preset,
// and --epochs, which excludes --steps.
const std::set<std::string> alone{"--arch", "--preset", "--epochs"};

// The values that an option takes by its help.
std::vector<std::string> right_values(const Option& option) {
  std::vector<std::string> right = range_of(option).inside;
  for (const std::string& choice : parts(option.detail("one of "), ", ")) right.push_back(choice);
  right.push_back(option.detail("default "));
  std::erase(right, "");
  return right;
}

}  // namespace

TEST_CASE("options: a wrong value is refused in one line that names the option, in every tool") {
  for (const auto& [tool, options] : all_options()) {
    std::vector<std::string> names, words;
    for (const Option& option : options) {
      if (!option.is_checked()) continue;
      std::vector<std::string> wrong = range_of(option).outside;
      if (!wrong.empty()) wrong.push_back("nan");
      if (!option.placeholder.empty()) wrong.push_back("");
      wrong.push_back("wrong");
      for (const std::string& value : wrong) {
        names.push_back(option.name);
        words.push_back(option.name + "='" + value + "'");
      }
    }
    const std::vector<Answer> all = answers(tool, words);
    for (std::size_t i = 0; i < all.size(); ++i) {
      CAPTURE(tool + " " + words[i]);
      CAPTURE(all[i].first);
      CHECK(all[i].status == 2);
      CHECK(all[i].lines == 1);
      CHECK(contains(all[i].first, ": " + names[i]));
    }
  }
}

TEST_CASE("options: limits, choices, words and the default are taken, in every tool") {
  for (const auto& [tool, options] : all_options()) {
    // In the first command each option has its first value, in the second its second, and so on.
    std::map<std::string, std::vector<std::string>> commands_of;  // by the option that is alone, or ""
    for (const Option& option : options) {
      if (!option.is_checked() || option.placeholder.empty() || option.name == "--completion") continue;
      const std::vector<std::string> values = right_values(option);
      std::vector<std::string>& commands = commands_of[alone.contains(option.name) ? option.name : ""];
      commands.resize(std::max(commands.size(), values.size()), "--print-config");
      for (std::size_t i = 0; i < values.size(); ++i) commands[i] += " " + option.name + "='" + values[i] + "'";
    }
    std::vector<std::string> words;
    for (const auto& [name, commands] : commands_of) words.insert(words.end(), commands.begin(), commands.end());
    const std::vector<Answer> all = answers(tool, words);
    for (std::size_t i = 0; i < all.size(); ++i) {
      CAPTURE(tool + " " + words[i]);
      CAPTURE(all[i].first);
      CHECK(all[i].status == 0);
      CHECK(all[i].lines == 0);
    }
  }
}

TEST_CASE("options: the essential ones fit two screens of 40 lines") {
  for (const std::string& tool : tools) {
    CAPTURE(tool);
    CHECK(lines_of(run_command("'" HEDDLE_TOOLS "'/" + tool + " --help").out).size() <= 80);
  }
}

TEST_CASE("options: a name has one type in all tools") {
  // tokenize trains on its operands, the input of classify holds the answers that it is compared with, and inspect show
  // has a flag for each part of a file.
  const std::set<std::string> flags_in_one_tool{"--train", "--evaluate", "--config", "--tokenizer", "--tokens"};
  std::map<std::string, std::set<std::string>> types;
  for (const std::string& tool : tools) {
    for (const Option& option : options_of(tool)) {
      const std::string& type = option.placeholder;
      types[option.name].insert(type.ends_with(",...") ? type.substr(0, type.size() - 4) : type);
    }
  }
  for (const auto& [name, placeholders] : types) {
    CAPTURE(name);
    CHECK(placeholders.size() == (flags_in_one_tool.contains(name) ? 2 : 1));
  }
}

TEST_CASE("options: no number stands for something else; there are words for that") {
  const std::regex sentinel(
      R"(\b(0|-1) (means?|allows|for|is (no|all|the default)|samples|disables)\b|\b(0|-1): (no|all)|\bempty means\b)");
  for (const auto& [tool, options] : all_options()) {
    for (const Option& option : options) {
      CAPTURE(tool + " " + option.name + ": " + option.help);
      CHECK_FALSE(std::regex_search(option.help, sentinel));
    }
  }
}

}  // namespace option_values_tests

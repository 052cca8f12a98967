#include "heddle/cli/arguments.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <iostream>
#include <map>
#include <stdexcept>

#include "heddle/base/printable.hpp"
#include "heddle/cli/command_line.hpp"
#include "heddle/cli/config.hpp"
#include "heddle/cli/streams.hpp"
#include "heddle/cli/version.hpp"
#include "heddle/formats/heddle/provenance.hpp"
#include "heddle/tensor/processors.hpp"

namespace heddle::cli {

namespace {

constexpr auto common_group = "Common options";

// HEDDLE_LAYERS of layers.
std::string variable_of(std::string_view option) {
  std::string name = "HEDDLE_" + std::string(option);
  for (char& letter : name) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  return name;
}

[[noreturn]] void answer(const std::string& text) {
  std::cout << text;
  throw Finished();
}

}  // namespace

Arguments::Arguments(const About& about, std::vector<std::string> words)
    : about_(about), words_(std::move(words)), operands_(about.operands.size()) {}

// The common options and the requests, but for those that the tool has itself.
void Arguments::add_shared(OptionTable& table) {
  OptionTable common;
  common.add(common_, common_group);
  for (const Option& option : common.options()) {
    if (table.find(option.field.name) == nullptr) table.add(option);
  }
  OptionTable requests;
  requests.add(requests_, common_group);
  for (Option option : requests.options()) {
    if (Option* const own = table.find(option.field.name); own != nullptr) {
      own->in_environment = false;  // HEDDLE_CONFIG names a file even where --config means something else
      continue;
    }
    option.in_files = false;
    option.hidden = option.field.name == "help_man";
    table.add(std::move(option));
  }
}

void Arguments::parse(OptionTable& table) {
  add_shared(table);
  const CommandLine line = parse_command_line(words_, table);
  for (const auto& [name, texts] : line.values) {
    const bool once = texts.size() == 1 || table.find(name)->kind == OptionKind::list;
    if (!once) warn(concatenate("--", name, " is given twice; the last one counts"));
  }
  for (const auto& [name, texts] : line.values) {
    if (const Option& option = *table.find(name); !option.in_files) set(option, texts, "--" + name);
  }
  answer_requests(table);
  check<UsageError>(line.unknown.empty(), "unknown option ", line.unknown, table.suggestion(line.unknown), " (", tool(),
                    " --help lists them)");
  read_config(table);
  read_environment(table);
  for (const auto& [name, texts] : line.values) {
    if (const Option& option = *table.find(name); option.in_files) set(option, texts, "--" + name);
  }
  assign_operands(line.operands);
}

void Arguments::answer_requests(const OptionTable& table) const {
  if (requests_.help) answer(render_help(about_, table));
  if (requests_.version) answer(version_text(tool()));
  if (requests_.help_man) answer(render_man_options(table));
  if (requests_.completion != Shell::none) answer(render_completion(requests_.completion, about_, table));
}

void Arguments::read_config(const OptionTable& table) {
  const char* variable = std::getenv("HEDDLE_CONFIG");
  config_file_ = requests_.config.empty() && variable != nullptr ? variable : requests_.config;
  if (config_file_.empty()) return;
  Input file(config_file_);
  std::map<std::string, std::vector<std::string>> values;
  std::map<std::string, Index> lines;
  for (const Setting& setting : parse_config(read_all(file), file.name())) {
    const Addressed to = table.addressed(setting.name);
    const Option* const option = to.option;
    check<UsageError>(option != nullptr, file.name(), ":", setting.line, ": unknown option ", setting.name,
                      table.suggestion(setting.name));
    check<UsageError>(option->in_files, file.name(), ":", setting.line, ": ", setting.name,
                      " is for the command line; it cannot stand in a file");
    const std::string where = concatenate(file.name(), ":", setting.line, ": ", dashed(setting.name));
    const auto [earlier, is_first] = lines.emplace(option->field.option(), setting.line);
    check<UsageError>(is_first || option->kind == OptionKind::list, where, " is there already, in line ",
                      earlier->second);
    values[option->field.option()].push_back(to.meant(setting.value, where));
  }
  for (const auto& [name, texts] : values) {
    set(*table.find(name), texts, concatenate(file.name(), ":", lines[name], ": ", name));
  }
}

void Arguments::read_environment(const OptionTable& table) {
  for (const Option& option : table.options()) {
    if (!option.in_files || !option.in_environment) continue;
    for (const bool negated : {false, true}) {
      if (negated && option.kind != OptionKind::flag) continue;
      const std::string variable = variable_of((negated ? "no_" : "") + option.field.name);
      const char* const text = std::getenv(variable.c_str());
      if (text != nullptr) set(option, {Addressed{&option, negated}.meant(text, variable)}, variable);
    }
  }
}

void Arguments::set(const Option& option, const std::vector<std::string>& texts, const std::string& where) {
  try {
    option.set(texts);
  } catch (const UsageError& error) {
    throw UsageError(where + ": " + error.what());
  }
  given_.insert(option.field.option());
}

// Fills operands from the left, leaving later ones the words that they need.
void Arguments::assign_operands(const std::vector<std::string>& words) {
  std::size_t next = 0, needed = 0;
  for (const Operand& operand : about_.operands) needed += operand.minimum;
  for (std::size_t i = 0; i < about_.operands.size(); ++i) {
    const Operand& operand = about_.operands[i];
    needed -= operand.minimum;
    const std::size_t left = words.size() - next;
    const std::size_t wanted = std::max(operand.minimum, left > needed ? left - needed : 0);
    const std::size_t count = std::min({wanted, operand.maximum, left});
    check<UsageError>(count >= operand.minimum || requests_.print_config, operand.name, " is missing (", tool(),
                      " --help shows the usage)");
    operands_[i].assign(words.begin() + static_cast<std::ptrdiff_t>(next),
                        words.begin() + static_cast<std::ptrdiff_t>(next + count));
    next += count;
  }
  check<UsageError>(next == words.size(), "unexpected argument '", next < words.size() ? words[next] : "", "' (",
                    tool(), " --help shows the usage)");
}

void Arguments::settle(const OptionTable& table) {
  OptionTable common;
  common.add(common_, common_group);
  for (const Option& option : common.options()) option.set(table.find(option.field.name)->get());
  Threads threads{common_.threads, "as asked for"};
  if (common_.threads == 0) threads = default_threads();
  common_.threads = threads.count;
  if (requests_.print_config) answer(render_config(table, given_));
  table.check_needs(given_);
  check<UsageError>(!common_.quiet || !common_.verbose,
                    "--quiet and --verbose contradict each other; give one of them");
  context_.emplace(Context(static_cast<int>(common_.threads)));
  if (common_.verbose) detail(concatenate(engine(), ", threads: ", threads.count, " (", threads.reason, ")"));
}

Arguments::Threads Arguments::default_threads() const {
  const Processors available = processors();
  for (const char* variable : {"OMP_NUM_THREADS", "SLURM_CPUS_PER_TASK"}) {
    const char* text = std::getenv(variable);
    if (text == nullptr) continue;
    try {
      // OpenMP allows a list, one number for each level of nesting.
      const Index count = parse_index(split(text, ',').front());
      if (count >= 1 && count <= available.count()) return {count, variable};
      if (count >= 1) return {available.count(), concatenate(variable, " = ", count, ", but ", available.reason())};
    } catch (const UsageError&) {
    }
    warn(concatenate(variable, "='", text, "' is not a number of threads; ignored"));
  }
  return {available.count(), available.reason()};
}

bool Arguments::given(std::string_view option) const {
  return given_.count(dashed(option)) != 0;
}

const std::vector<std::string>& Arguments::operands(std::string_view name) const {
  for (std::size_t i = 0; i < about_.operands.size(); ++i) {
    if (about_.operands[i].name == name) return operands_[i];
  }
  throw std::logic_error(concatenate("no operand is called ", name));
}

std::string Arguments::operand(std::string_view name) const {
  const std::vector<std::string>& words = operands(name);
  return words.empty() ? "" : words.front();
}

std::vector<std::string> Arguments::input_or_usage(std::string_view name) const {
  if (!operands(name).empty()) return operands(name);
  check<UsageError>(isatty(STDIN_FILENO) == 0, "no ", name,
                    " given and standard input is a terminal; name a file, or - to type the text");
  return {"-"};
}

std::string Arguments::command_line() const {
  std::vector<const char*> words{about_.name.c_str()};
  for (const std::string& word : words_) words.push_back(word.c_str());
  return formats::quote_command_line(words);
}

void Arguments::say(std::string_view text) const {
  if (!common_.quiet) std::cerr << concatenate(tool(), ": ", printable(text), "\n");
}

void Arguments::detail(std::string_view text) const {
  if (common_.verbose) std::cerr << concatenate(tool(), ": ", printable(text), "\n");
}

void Arguments::warn(std::string_view text) const {
  std::cerr << concatenate(tool(), ": warning: ", printable(text), "\n");
}

Input Arguments::open_text(const std::string& path) const {
  return {path, [this](const std::string& message) { warn(message); }};
}

}  // namespace heddle::cli

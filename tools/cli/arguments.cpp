#include "tools/cli/arguments.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <stdexcept>

#include "formats/heddle/provenance.hpp"
#include "libcore/base/printable.hpp"
#include "libcore/tensor/processors.hpp"
#include "tools/cli/command_line.hpp"
#include "tools/cli/config_file.hpp"
#include "tools/cli/fields_as_options.hpp"
#include "tools/cli/streams.hpp"
#include "tools/cli/version.hpp"

namespace heddle::cli {

namespace {

constexpr auto common_group = "Common options";

bool is_section(const std::string& heading, const OptionTable& table) {
  const Option* const option = table.find(heading);
  return option != nullptr && option->expands;
}

// The option that a line of a file sets.
Addressed addressed_in(const ConfigLine& line, const OptionTable& table) {
  if (!is_section(line.heading, table)) {
    const Addressed to = table.addressed(line.name);
    return to.option != nullptr && !to.option->is_named ? Addressed{nullptr, false} : to;
  }
  if (line.name == "name") return {table.find(line.heading), false};
  return {table.find_key(line.heading, line.name), false};
}

[[noreturn]] void answer(const std::string& text, bool speaks) {
  if (speaks) std::cout << text;
  throw Finished();
}

}  // namespace

Arguments::Arguments(const About& about, std::vector<std::string> words)
    : about_(about), words_(std::move(words)), operands_(about.operands.size()) {}

std::vector<std::string> Arguments::help_topics(const OptionTable& table) const {
  std::vector<std::string> names{"essential", "all"};
  for (const Topic& topic : about_.topics) names.push_back(topic.name);
  for (const Option& option : table.options()) {
    if (!option.kinds.empty() && option.is_named) names.push_back(option.field.option());
  }
  return names;
}

// Adds the common options and requests, except those that the tool defines itself.
void Arguments::add_shared(OptionTable& table) {
  OptionTable common;
  common.add(common_, common_group);
  for (Option option : common.options()) {
    option.common = true;
    if (Option* const own = table.find(option.field.name); own != nullptr) {
      own->common = true;
    } else {
      table.add(std::move(option));
    }
  }
  OptionTable requests;
  requests.add(requests_, common_group);
  for (Option option : requests.options()) {
    if (table.find(option.field.name) != nullptr) continue;
    if (option.field.name == "completion" && !about_.verb.empty()) continue;  // an option of the whole tool
    if (option.field.name == "config" && !about_.verbs.empty()) continue;     // an option of each verb
    option.in_files = false;
    option.hidden = option.field.name == "help_man";
    if (option.field.name == "help") option.choices = help_topics(table);
    table.add(std::move(option));
  }
}

namespace {

// The table without access to the values.
OptionTable without_values(const OptionTable& table) {
  OptionTable result;
  for (Option option : table.options()) {
    option.parse = {};
    option.assign = {};
    option.locate = {};
    option.get = {};
    result.add(std::move(option));
  }
  return result;
}

}  // namespace

OptionTable Arguments::described(OptionTable table) {
  add_shared(table);
  return without_values(table);
}

// Requests are handled first, so that --help works whatever else is wrong on the command line.
void Arguments::parse(OptionTable& table) {
  add_shared(table);
  described_ = without_values(table);
  const CommandLine line = parse_command_line(words_, table);
  const auto is_request = [&](const Setting& setting) { return !table.find(setting.name)->in_files; };
  std::vector<Setting> requests, settings;
  for (const Setting& setting : line.settings) (is_request(setting) ? requests : settings).push_back(setting);
  auto source_of = [&table, before = std::vector<Setting>()](const std::vector<Setting>& of) mutable {
    std::vector<Setting> all = expanded(of, table);
    drop_other_kinds(all, before, table);
    before.insert(before.end(), all.begin(), all.end());
    return all;
  };
  Variables variables(table);
  warn_of_repeated(variables.store(requests));
  variables.assign();
  answer_requests(table);
  if (!line.unknown.empty()) {
    throw UnknownOption(line.unknown, concatenate("unknown option ", line.unknown, table.suggestion(line.unknown), " (",
                                                  about_.command(), " --help=all lists them)"));
  }
  settings = source_of(settings);
  warn_of_repeated(variables.store(settings));
  const std::vector<Setting> environment = source_of(environment_settings(table));
  variables.store(environment);
  variables.store(source_of(config_settings(table)));
  variables.assign();
  given_ = explicit_ = variables.given();
  for (const Setting& setting : environment) explicit_.erase(setting.name);
  for (const Setting& setting : settings) explicit_.insert(setting.name);
  const Option* const config = table.find("config");
  operand_hint_ = config->in_files && given("config")
                      ? "; --config is a part of the file here, and HEDDLE_CONFIG names a file with options"
                      : "";
  assign_operands(line.operands);
}

void Arguments::warn_of_repeated(const std::vector<std::string>& options) const {
  for (const std::string& name : options) warn(concatenate("--", name, " is given twice; the last value is used"));
}

void Arguments::answer_requests(const OptionTable& table) const {
  for (const Topic& topic : about_.topics) {
    if (requests_.help == topic.name) answer(cli::rendered(topic.text(), table), speaks_);
  }
  const std::vector<std::string> topics = help_topics(table);
  const OptionTable explained = with_rendered_help(table);
  for (const Option& option : explained.options()) {
    const std::string topic = requests_.help.substr(0, requests_.help.find(':'));
    if (option.kinds.empty() || !option.is_named || option.field.option() != topic) continue;
    const bool is_one = topic.size() < requests_.help.size();
    answer(render_kinds(about_, option, explained, is_one ? requests_.help.substr(topic.size() + 1) : ""), speaks_);
  }
  check<UsageError>(requests_.help.empty() || std::ranges::count(topics, requests_.help) > 0, "--help=", requests_.help,
                    ": ", not_one_of(requests_.help, topics));
  if (!requests_.help.empty()) answer(render_help(about_, table, requests_.help == "all"), speaks_);
  if (requests_.version) answer(version_text(tool()), speaks_);
  if (requests_.help_man) answer(render_man_options(table), speaks_);
  if (requests_.completion != Shell::none) answer(render_completion(requests_.completion, about_, table), speaks_);
}

std::vector<Setting> Arguments::config_settings(const OptionTable& table) {
  const char* variable = std::getenv("HEDDLE_CONFIG");
  config_file_ = requests_.config.empty() && variable != nullptr ? variable : requests_.config;
  if (config_file_.empty()) return {};
  constexpr std::size_t most_bytes = std::size_t{16} << 20;
  Input file(config_file_);
  std::vector<Setting> settings;
  std::map<std::string, Index> lines;
  for (const ConfigLine& line : parse_config(read_all(file, most_bytes), file.name())) {
    const Addressed to = addressed_in(line, table);
    const Option* const option = to.option;
    check<UsageError>(option != nullptr, file.name(), ":", line.line, ": unknown option ", line.name,
                      is_section(line.heading, table) ? " of [" + line.heading + "]" : "", table.suggestion(line.name));
    check<UsageError>(option->in_files, file.name(), ":", line.line, ": ", line.name,
                      " is for the command line; it cannot be set in a file");
    const std::string where = concatenate(file.name(), ":", line.line, ": ", dashed(line.name));
    const auto [earlier, is_first] = lines.emplace(option->field.option(), line.line);
    check<UsageError>(is_first || option->kind == OptionKind::list, where, " is already set in line ", earlier->second);
    settings.push_back({option->field.option(), to.resolved(line.value, where), where});
  }
  return settings;
}

std::vector<Setting> Arguments::environment_settings(const OptionTable& table) const {
  EnvironmentSettings found = parse_environment(tool(), table);
  for (const std::string& variable : found.unknown) {
    if (about_.is_of_other_verb && about_.is_of_other_verb(option_of(variable, tool()))) continue;
    warn(concatenate("the environment sets ", variable, ", which is ignored: ", tool(), " has no such option",
                     table.suggestion(option_of(variable, tool()))));
  }
  for (const auto& [variable, now] : found.former) {
    warn(concatenate("the environment sets ", variable, ", which is ignored; the variable is called ", now));
  }
  return std::move(found.settings);
}

// Assigns words to operands from the left; each leaves later operands the minimum that they need.
void Arguments::assign_operands(const std::vector<std::string>& words) {
  std::size_t next = 0, needed = 0;
  for (const Operand& operand : about_.operands) needed += operand.minimum;
  for (std::size_t i = 0; i < about_.operands.size(); ++i) {
    const Operand& operand = about_.operands[i];
    needed -= operand.minimum;
    const std::size_t left = words.size() - next;
    const std::size_t wanted = std::max(operand.minimum, left > needed ? left - needed : 0);
    const std::size_t count = std::min({wanted, operand.maximum, left});
    check<UsageError>(count >= operand.minimum || requests_.print_config, operand.name, " is missing (",
                      about_.command(), " --help shows the usage)");
    operands_[i].assign(words.begin() + static_cast<std::ptrdiff_t>(next),
                        words.begin() + static_cast<std::ptrdiff_t>(next + count));
    // As a variable of the shell is that is not set.
    check<UsageError>(operand.may_be_empty || std::ranges::find(operands_[i], "") == operands_[i].end(), "the ",
                      operand.name, " is empty (", about_.command(), " --help shows the usage)");
    next += count;
  }
  check<UsageError>(next == words.size(), "unexpected argument '", next < words.size() ? words[next] : "", "'",
                    operand_hint_, " (", about_.command(), " --help shows the usage)");
}

void Arguments::settle(const OptionTable& table) {
  for (const Option& option : table.options()) {  // messages name the kinds that were chosen
    if (option.expands) described_.find(option.field.name)->initial = option.get().front();
  }
  OptionTable common;
  common.add(common_, common_group);
  for (const Option& option : common.options()) option.assign(option.parse(table.find(option.field.name)->get()));
  Threads threads{common_.threads, "as requested"};
  if (common_.threads == 0) threads = threads_by_default();
  common_.threads = threads.count;
  if (requests_.print_config) answer(render_config(table, given_), speaks_);
  table.check_needs(explicit_);
  check<UsageError>(!common_.quiet || !common_.verbose,
                    "--quiet and --verbose contradict each other; give one of them");
  common_.quiet = common_.quiet || !speaks_;
  common_.verbose = common_.verbose && speaks_;
  trust_.emplace(common_.trust);
  context_.emplace(Context(static_cast<int>(common_.threads)));
  if (common_.verbose) detail(concatenate(engine(), ", threads: ", threads.count, " (", threads.reason, ")"));
}

Arguments::Threads Arguments::threads_by_default() const {
  const DefaultThreads threads = default_threads(sharing_);
  for (const std::string& warning : threads.warnings) warn(warning);
  return {threads.count, threads.reason};
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

std::vector<std::string> Arguments::operands() const {
  std::vector<std::string> all;
  for (const std::vector<std::string>& words : operands_) all.insert(all.end(), words.begin(), words.end());
  return all;
}

std::string Arguments::operand(std::string_view name) const {
  const std::vector<std::string>& words = operands(name);
  return words.empty() ? "" : words.front();
}

std::vector<std::string> Arguments::input_or_usage(std::string_view name) const {
  if (!operands(name).empty()) return operands(name);
  check<UsageError>(isatty(STDIN_FILENO) == 0, "no ", name,
                    " given and standard input is a terminal; name a file, or - to read from the terminal");
  return {"-"};
}

std::string Arguments::command_line(const std::set<std::string>& without) const {
  std::vector<const char*> words{about_.name.c_str()};
  if (!about_.verb.empty()) words.push_back(about_.verb.c_str());
  for (std::size_t i = 0; i < words_.size(); ++i) {
    const std::string& word = words_[i];
    const std::size_t equals = word.find('=');
    const Option* const option =
        word.starts_with("--") ? described_.find(std::string_view(word).substr(2, equals - 2)) : nullptr;
    if (option == nullptr || !without.contains(option->field.name)) {
      words.push_back(word.c_str());
    } else if (option->kind != OptionKind::flag && equals == std::string::npos) {
      ++i;
    }
  }
  return formats::quote_command_line(words);
}

std::string Arguments::rendered(std::string_view text) const {
  return cli::rendered(text, described_);
}

void Arguments::say(std::string_view text) const {
  if (!common_.quiet) std::cerr << concatenate(tool(), ": ", printable_message(rendered(text)), "\n");
}

void Arguments::detail(std::string_view text) const {
  if (common_.verbose) std::cerr << concatenate(tool(), ": ", printable_message(rendered(text)), "\n");
}

void Arguments::warn(std::string_view text) const {
  if (!speaks_ || !warnings_.insert(std::string(text)).second) return;
  std::cerr << concatenate(tool(), ": warning: ", printable_message(rendered(text)), "\n");
}

Input Arguments::open_text(const std::string& path) const {
  return {path, [this](const std::string& message) { warn(message); }};
}

Input Arguments::open_text(const std::string& path, const Input::Encoding& encoding) const {
  return {path, [this](const std::string& message) { warn(message); }, encoding};
}

}  // namespace heddle::cli

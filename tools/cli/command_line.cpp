#include "tools/cli/command_line.hpp"

#include <boost/program_options.hpp>

namespace heddle::cli {

namespace {

namespace po = boost::program_options;

po::options_description describe(const OptionTable& table) {
  po::options_description description;
  auto add = description.add_options();
  for (const Option& option : table.options()) {
    if (!option.is_named) continue;
    const std::string name = option.field.option();
    const std::string names = option.field.short_option == 0 ? name : name + "," + option.field.short_option;
    if (option.kind == OptionKind::flag) {
      add(names.c_str(), "");
      if (option.in_files) add(("no-" + name).c_str(), "");
    } else {
      add(names.c_str(), po::value<std::string>(), "");
    }
  }
  return description;
}

[[noreturn]] void rethrow(const po::invalid_command_line_syntax& error) {
  const std::string name = error.get_option_name();
  switch (error.kind()) {
    case po::invalid_syntax::missing_parameter:
      throw UsageError(name + " needs a value");
    case po::invalid_syntax::extra_parameter:
      throw UsageError(name + " takes no value");
    default:
      throw UsageError(error.what());
  }
}

// Program_options does not accept "--name=" (an empty value) in one word, nor options with an optional value.
std::vector<std::string> with_all_values(const std::vector<std::string>& words, const OptionTable& table) {
  const auto without_value = [&](const std::string& word) -> const Option* {
    for (const Option& option : table.options()) {
      const bool named = word == "--" + option.field.option() || word == std::string{'-', option.field.short_option};
      if (named && !option.field.bare.empty()) return &option;
    }
    return nullptr;
  };
  std::vector<std::string> result;
  bool options = true;
  for (const std::string& word : words) {
    options = options && word != "--";
    const Option* const bare = options ? without_value(word) : nullptr;
    if (bare != nullptr) {
      result.push_back("--" + bare->field.option() + "=" + bare->field.bare);
      continue;
    }
    const Option* denied = options && word.starts_with("--no-") ? table.find(word.substr(5)) : nullptr;
    if (denied != nullptr && denied->field.bare == "true") {
      result.push_back("--" + word.substr(5) + "=false");
      continue;
    }
    const bool empty_value = word.starts_with("--") && word.find('=') == word.size() - 1;
    const Option* option = empty_value ? table.find(word.substr(2, word.size() - 3)) : nullptr;
    if (option != nullptr && option->kind != OptionKind::flag) {
      result.push_back(word.substr(0, word.size() - 1));
      result.emplace_back();
    } else {
      result.push_back(word);
    }
  }
  return result;
}

po::parsed_options parse_words(const std::vector<std::string>& words, const po::options_description& description) {
  const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
  try {
    return po::command_line_parser(words).options(description).style(style).allow_unregistered().run();
  } catch (const po::invalid_command_line_syntax& error) {
    rethrow(error);
  } catch (const po::error& error) {
    throw UsageError(error.what());
  }
}

// A long option where a value is expected: the value is missing. (Program_options itself detects short options there.)
void check_value(const po::option& item, const OptionTable& table) {
  const std::string& value = item.value.front();
  const bool forgotten = item.original_tokens.size() > 1 && value.starts_with("--") &&
                         table.find(value.substr(2, value.find('=') - 2)) != nullptr;
  check<UsageError>(!forgotten, item.original_tokens.front(), " needs a value, and ", value, " is an option");
}

}  // namespace

CommandLine parse_command_line(const std::vector<std::string>& words, const OptionTable& table) {
  const po::options_description description = describe(table);
  CommandLine line;
  for (const po::option& item : parse_words(with_all_values(words, table), description).options) {
    if (item.unregistered) {
      const std::string& word = item.original_tokens.front();
      if (line.unknown.empty()) line.unknown = word.substr(0, word.find('='));
    } else if (item.string_key.empty()) {
      line.operands.insert(line.operands.end(), item.value.begin(), item.value.end());
    } else if (const Option* option = table.find(item.string_key); option == nullptr) {
      line.settings.push_back({item.string_key.substr(3), "false", "--" + item.string_key});  // --no-x
    } else if (option->kind == OptionKind::flag) {
      line.settings.push_back({item.string_key, "true", "--" + item.string_key});
    } else {
      check_value(item, table);
      line.settings.push_back({item.string_key, item.value.front(), "--" + item.string_key});
    }
  }
  return line;
}

}  // namespace heddle::cli

#include "tools/inspect/files/run_settings.hpp"

#include <algorithm>
#include <set>

#include "libcore/base/strings.hpp"

namespace heddle {

namespace {

const std::string seed_option = "seed";

// The words of a command line, with quotes taken away.
std::vector<std::string> words_of_command(const std::string& line) {
  std::vector<std::string> words;
  char quote = 0;
  bool open = false;
  for (const char letter : line) {
    if (quote != 0 && letter == quote) {
      quote = 0;
    } else if (quote == 0 && (letter == '\'' || letter == '"')) {
      quote = letter;
      if (!open) words.emplace_back();
      open = true;
    } else if (quote == 0 && letter == ' ') {
      open = false;
    } else {
      if (!open) words.emplace_back();
      open = true;
      words.back() += letter;
    }
  }
  return words;
}

// "width 64, steps default" of the values beside the seed.
std::string described(const std::vector<std::string>& options, const std::vector<std::string>& values) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (options[i] == seed_option) continue;
    parts.push_back(values[i] == "yes" ? options[i] : options[i] + " " + (values[i].empty() ? "default" : values[i]));
  }
  return join(parts, ", ");
}

}  // namespace

std::map<std::string, std::string> options_of_command(const std::string& command_line) {
  std::map<std::string, std::string> options;
  const std::vector<std::string> words = words_of_command(command_line);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!words[i].starts_with("--") || words[i].size() == 2) continue;
    const std::size_t equals = words[i].find('=');
    const std::string name = words[i].substr(2, equals == std::string::npos ? equals : equals - 2);
    const bool has_word = i + 1 < words.size() && !words[i + 1].starts_with("-");
    options[name] = equals != std::string::npos ? words[i].substr(equals + 1) : has_word ? words[i + 1] : "yes";
  }
  for (const char* ignored : {"output", "restart", "resume", "quiet", "verbose"}) options.erase(ignored);
  return options;
}

RunSettings run_settings(const std::vector<std::string>& run_names, const std::vector<std::string>& commands) {
  std::vector<std::map<std::string, std::string>> all;
  std::set<std::string> names;
  for (const std::string& command : commands) {
    all.push_back(options_of_command(command));
    for (const auto& [name, value] : all.back()) names.insert(name);
  }
  const auto value_of = [&](std::size_t run, const std::string& name) {
    const auto found = all[run].find(name);
    return found == all[run].end() ? std::string() : found->second;
  };
  RunSettings result;
  const auto differs = [&](const std::string& name) {
    for (std::size_t run = 1; run < all.size(); ++run) {
      if (value_of(run, name) != value_of(0, name)) return true;
    }
    return false;
  };
  std::ranges::copy_if(names, std::back_inserter(result.options), differs);
  std::stable_partition(result.options.begin(), result.options.end(),
                        [](const std::string& name) { return name != seed_option; });
  std::map<std::string, std::size_t> known;
  std::set<std::string> seeds;  // seeds of each known setting
  for (std::size_t run = 0; run < all.size(); ++run) {
    std::vector<std::string> values;
    for (const std::string& name : result.options) values.push_back(value_of(run, name));
    const std::string described_here = described(result.options, values);
    // If runs do not differ at all, something else must name them.
    const bool is_repeat = !seeds.insert(described_here + "\n" + value_of(run, seed_option)).second;
    const std::string key = commands[run].empty() || is_repeat ? concatenate("run ", run) : described_here;
    const auto [found, is_new] = known.try_emplace(key, result.names.size());
    if (is_new) result.names.push_back(described_here.empty() || is_repeat ? run_names[run] : described_here);
    result.settings.push_back(found->second);
    result.values.push_back(std::move(values));
  }
  return result;
}

}  // namespace heddle

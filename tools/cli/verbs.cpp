#include "tools/cli/verbs.hpp"

#include <algorithm>
#include <filesystem>

namespace heddle::cli {

namespace {

const std::string help_word = "help";

// Options that are valid without a verb.
struct NoOptions {
  template <class Self, class Visitor>
  static void visit(Self&, Visitor&) {}
};

bool is_request(const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  return name == "-h" || name == "--help" || name == "--version" || name == "--completion" || name == "--help-man";
}

// Whether the word may be meant as a verb, such as "dif", not as a file, such as "x.h5" or "runs/x".
bool could_be_verb(const std::string& word) {
  return !word.empty() && word.find_first_of("./") == std::string::npos && !word.starts_with('-');
}

bool has_option(const OptionTable& table, const std::string& option) {
  if (option.starts_with("--")) return table.find(option.substr(2)) != nullptr;
  return option.size() > 1 &&
         std::ranges::any_of(table.options(), [&](const Option& each) { return each.field.short_option == option[1]; });
}

}  // namespace

void VerbTool::add(const std::string& name, Verb verb) {
  verb.about.name = name_;
  verb.about.verb = name;
  verbs_.push_back(std::move(verb));
}

const Verb* VerbTool::find(const std::string& word) const {
  const auto at = std::ranges::find_if(verbs_, [&](const Verb& verb) { return verb.about.verb == word; });
  return at == verbs_.end() ? nullptr : &*at;
}

std::vector<std::string> VerbTool::names() const {
  std::vector<std::string> names;
  for (const Verb& verb : verbs_) names.push_back(verb.about.verb);
  return names;
}

About VerbTool::about() const {
  return {.name = name_, .summary = summary_, .synopsis = {"FILE [OPTION...]", "VERB [OPTION...] [ARGUMENT...]"}};
}

std::string VerbTool::suggestion(const std::string& word) const {
  const std::vector<std::string> near = similar(word, names());
  if (!near.empty()) return "; did you mean " + join(near, " or ") + "?";
  return explain_ ? explain_(word) : "";
}

int VerbTool::call(const std::vector<std::string>& words) const {
  const std::string list = " (" + name_ + " --help lists the verbs)";
  if (words.empty()) return call(verbs_.front(), words);  // options may come from files or the environment
  const std::string& first = words.front();
  if (const Verb* const verb = find(first)) return call(*verb, {words.begin() + 1, words.end()});
  if (first == help_word && words.size() > 1) {
    const Verb* const verb = find(words[1]);
    check<UsageError>(verb != nullptr, "'", words[1], "' is not a verb", suggestion(words[1]), list);
    return call(*verb, {"--help"});
  }
  if (first == help_word) return answer({"--help"});
  if (is_request(first)) return answer(words);
  std::error_code unknown;
  if (could_be_verb(first) && !std::filesystem::exists(first, unknown)) {
    const std::string near = suggestion(first);
    const bool has_more = std::any_of(words.begin() + 1, words.end(), [](const auto& word) { return word[0] != '-'; });
    check<DataError>(has_more || !near.empty(), first,
                     ": cannot open: No such file or directory; the verbs are " + join(names()));
    throw UsageError(concatenate("'", first, "' is neither a verb nor a file",
                                 near.empty() ? "; the verbs are " + join(names()) : near));
  }
  return call(verbs_.front(), words);
}

int VerbTool::call(const Verb& verb, const std::vector<std::string>& words) const {
  About about = verb.about;
  about.is_of_other_verb = [this](const std::string& option) {
    return std::ranges::any_of(
        verbs_, [&](const Verb& other) { return other.options(other.about).addressed(option).option != nullptr; });
  };
  try {
    refuse_ranks(about);
    Arguments arguments(about, words);
    return with_rendered_errors(arguments, [&] { return verb.body(arguments); });
  } catch (const UnknownOption& error) {
    throw UsageError(explanation(error, verb));
  }
}

// Handles the options of the whole tool: help, which lists the verbs, version and completion.
int VerbTool::answer(const std::vector<std::string>& words) const {
  About whole = about();
  for (const Verb& verb : verbs_) {
    whole.verbs.push_back({verb.about.verb, verb.about.summary, verb.options(verb.about)});
  }
  Arguments arguments(whole, words);
  arguments.read<NoOptions>();
  throw UsageError("give a FILE, or a verb with its arguments (" + name_ + " --help lists the verbs)");
}

std::string VerbTool::explanation(const UnknownOption& error, const Verb& verb) const {
  const std::string& option = error.option();
  const Verb* const same = option.starts_with("--") ? find(option.substr(2)) : nullptr;
  if (same != nullptr) {
    return option + " is a verb now: " + same->about.command() + " " + same->about.synopsis.front();
  }
  std::vector<std::string> others;
  for (const Verb& other : verbs_) {
    if (has_option(other.options(other.about), option)) others.push_back(other.about.verb);
  }
  if (others.empty()) return error.what();
  return concatenate(verb.about.command(), " has no option ", option, ", but ", name_, " ", join(others),
                     others.size() == 1 ? " has" : " have", " it");
}

int run(int argc, char** argv, const VerbTool& tool) {
  const Verb* const verb = argc > 1 ? tool.find(argv[1]) : nullptr;
  return detail::run(argc, argv, verb != nullptr ? verb->about : tool.about(),
                     [&tool](const std::vector<std::string>& words) { return tool.call(words); });
}

}  // namespace heddle::cli

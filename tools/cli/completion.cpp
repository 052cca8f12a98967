#include "tools/cli/completion.hpp"

#include <algorithm>
#include <array>

#include "tools/cli/fields_as_options.hpp"

namespace heddle::cli {

namespace {

using Options = std::vector<const Option*>;

Options shown_options(const OptionTable& table) {
  Options options;
  for (const Option& option : table.options()) {
    if (!option.hidden) options.push_back(&option);
  }
  return options;
}

// All letters of `letters` with a backslash before them.
std::string with_backslashes(std::string_view text, std::string_view letters) {
  std::string escaped;
  for (const char letter : text) {
    if (letters.find(letter) != letters.npos) escaped += '\\';
    escaped += letter;
  }
  return escaped;
}

// In single quotes, as bash and zsh read them.
std::string in_quotes(std::string_view text) {
  std::string result = "'";
  for (const char letter : text) result += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return result + "'";
}

// "-o|--output", for the options of these that `wanted` picks; "" when there are none.
template <class Wanted>
std::string bash_pattern(const Options& options, const Wanted& wanted) {
  std::vector<std::string> names;
  for (const Option* option : options) {
    if (!wanted(*option)) continue;
    if (option->field.short_option != 0) names.push_back(std::string{'-', option->field.short_option});
    names.push_back(option->shown());
  }
  return join(names, "|");
}

// Whether the shell can complete the settings after a name: rnn:layers=
bool has_settings(const Option& option) {
  return std::ranges::any_of(option.kinds, [](const KindHelp& kind) { return !kind.fields.empty(); });
}

// Completes the keys of NAME:KEY=VALUE,…; bash takes ":" and "=" for ends of words.
std::string bash_settings(const Options& options) {
  std::string cases;
  for (const Option* option : options) {
    for (const KindHelp& kind : option->kinds) {
      if (kind.fields.empty()) continue;
      cases += "      " + in_quotes(option->shown() + " " + kind.name) + ") keys=" + in_quotes(join(kind.keys(), " ")) +
               " ;;\n";
    }
  }
  if (cases.empty()) return "";
  return R"(  local i=$COMP_CWORD typed=${COMP_WORDS[COMP_CWORD]} keys= last
  while (( i > 1 )) && [[ ${COMP_WORDS[i]} == [:=] || ${COMP_WORDS[i-1]} == [:=] ]]; do
    (( --i ))
    typed=${COMP_WORDS[i]}$typed
  done
  local option=${COMP_WORDS[i-1]}
  if [[ $typed == --*=* ]]; then option=${typed%%=*} typed=${typed#*=}; fi
  if [[ $typed == *:* ]]; then
    case "$option ${typed%%:*}" in
)" + cases +
         R"(    esac
    last=${typed#*:} last=${last##*,} typed=${typed##*[:=]}
    if [[ -n $keys ]]; then
      [[ $last == *=* ]] || mapfile -t COMPREPLY < <(compgen -P "${typed%"$last"}" -S = -W "$keys" -- "$last")
      compopt -o nospace 2> /dev/null
      return
    fi
  fi
)";
}

std::string bash_function(const std::string& function, const Options& options) {
  const auto takes_file = [](const Option& option) { return option.choices.empty() && is_file(option.placeholder); };
  const auto takes_other = [&](const Option& option) {
    return option.kind != OptionKind::flag && option.choices.empty() && !takes_file(option);
  };
  // An optional value can only follow "=".
  const std::string alone = bash_pattern(options, [](const Option& option) { return !option.field.bare.empty(); });
  std::vector<std::string> names;
  std::string cases;
  for (const Option* option : options) {
    names.push_back(option->shown());
    if (option->choices.empty()) continue;
    cases += "    " + bash_pattern({option}, [](const Option&) { return true; }) +
             ") mapfile -t COMPREPLY < <(compgen -W " + in_quotes(join(option->choices, " ")) +
             " -- \"$word\"); return ;;\n";
  }
  // No completion for values that are neither files nor one of a list.
  for (const auto& [pattern, action] : {std::pair{bash_pattern(options, takes_file), std::string("")},
                                        std::pair{bash_pattern(options, takes_other), std::string(" return")}}) {
    if (!pattern.empty()) cases += "    " + pattern + ")" + action + " ;;\n";
  }
  return function + R"(() {
  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
  COMPREPLY=()
)" + bash_settings(options) +
         R"(  if [[ $word == = ]]; then
    word=
  elif [[ $previous == = && COMP_CWORD -gt 1 ]]; then
    previous=${COMP_WORDS[COMP_CWORD-2]}
)" + (alone.empty() ? "" : "  else\n    case $previous in " + alone + ") previous= ;; esac\n") +
         R"(  fi
  case $previous in
)" + cases +
         R"(    *)
      if [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W ')" +
         join(names, " ") + R"(' -- "$word")
        return
      fi ;;
  esac
  mapfile -t COMPREPLY < <(compgen -f -- "$word")
  compopt -o filenames 2> /dev/null
}
)";
}

std::string bash_completion(const std::string& name, const Options& options) {
  return bash_function("_heddle_" + name, options) + "complete -F _heddle_" + name + " " + name + "\n";
}

// A verb's options after the verb; `options` if there is no verb.
std::string bash_completion(const std::string& name, const Options& options, const std::vector<VerbEntry>& verbs) {
  const std::string function = "_heddle_" + name;
  std::vector<std::string> names;
  std::string text = bash_function(function + "_", options);
  for (const VerbEntry& verb : verbs) {
    names.push_back(verb.name);
    text += bash_function(function + "_" + verb.name, shown_options(verb.options));
  }
  return text + function + R"(() {
  local word=${COMP_WORDS[COMP_CWORD]}
  case $COMP_CWORD,${COMP_WORDS[1]} in
    1,-*) ;;
    1,*)
      mapfile -t COMPREPLY < <(compgen -W 'help )" +
         join(names, " ") + R"(' -- "$word"; compgen -f -- "$word")
      compopt -o filenames 2> /dev/null
      return ;;
    *,help) mapfile -t COMPREPLY < <(compgen -W ')" +
         join(names, " ") + R"(' -- "$word"); return ;;
  esac
  case ${COMP_WORDS[1]} in
    )" + join(names, "|") +
         ") " + function + R"(_"${COMP_WORDS[1]}" ;;
    *) )" +
         function + R"(_ ;;
  esac
}
complete -F )" +
         function + " " + name + "\n";
}

// "'decoder|layers width' 'rnn|layers cell'"
std::string zsh_settings(const Option& option) {
  std::string text;
  for (const KindHelp& kind : option.kinds) text += " " + in_quotes(kind.name + "|" + join(kind.keys(), " "));
  return text;
}

// Completes a name, and the keys of its settings.
constexpr const char* zsh_function = R"(_heddle_settings() {
  local name=${PREFIX%%:*} entry
  if compset -P '*:'; then
    compset -P '*,'
    for entry in "$@"; do
      [[ ${entry%%|*} == $name ]] && compadd -S = -- ${(z)entry#*|}
    done
  else
    compadd -- "${@%%|*}"
  fi
}
)";

std::string zsh_value(const Option& option) {
  if (option.kind == OptionKind::flag) return "";
  if (has_settings(option))
    return ":" + with_backslashes(option.placeholder, ":\\") + ": _heddle_settings" + zsh_settings(option);
  const std::string start =
      (option.field.bare.empty() ? ":" : "::") + with_backslashes(option.placeholder, ":\\") + ":";
  if (!option.choices.empty()) return start + "(" + join(option.choices, " ") + ")";
  return start + (is_file(option.placeholder) ? "_files" : " ");
}

std::string zsh_arguments(const Options& options) {
  std::string text = "_arguments -s -S \\\n";
  for (const Option* option : options) {
    const bool flag = option->kind == OptionKind::flag;
    const std::string names = option->shown() + (flag ? "" : option->field.bare.empty() ? "=" : "=-");
    const std::string rest = "[" + with_backslashes(option->field.help, "[]:\\") + "]" + zsh_value(*option);
    if (option->field.short_option == 0) {
      text += "  " + in_quotes(names + rest) + " \\\n";
    } else {
      const std::string letter = std::string{'-', option->field.short_option};
      text += "  " + in_quotes("(" + letter + " " + option->shown() + ")") + "{" + letter + (flag ? "," : "+,") +
              names + "}" + in_quotes(rest) + " \\\n";
    }
  }
  return text + "  '*:file:_files'\n";
}

std::string zsh_completion(const std::string& name, const Options& options) {
  return "#compdef " + name + "\n" + zsh_function + zsh_arguments(options);
}

std::string zsh_completion(const std::string& name, const Options& options, const std::vector<VerbEntry>& verbs) {
  const std::string function = "_heddle_" + name;
  std::vector<std::string> names;
  std::string text = "#compdef " + name + "\n" + zsh_function, list;
  const auto add = [&](const std::string& suffix, const Options& of_it) {
    text += function + "_" + suffix + "() {\n" + zsh_arguments(of_it) + "}\n";
  };
  add("", options);
  for (const VerbEntry& verb : verbs) {
    names.push_back(verb.name);
    list += "  " + in_quotes(verb.name + ":" + with_backslashes(verb.summary, ":\\")) + "\n";
    add(verb.name, shown_options(verb.options));
  }
  return text + "local -a verbs\nverbs=(\n" + list + R"()
if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then
  verbs+=('help:print what a verb is for')
  _describe -t verbs verb verbs
  _files
elif [[ $words[2] == help ]]; then
  _describe verb verbs
else
  case $words[2] in
    ()" + join(names, "|") +
         R"() shift words; (( CURRENT-- )); )" + function + R"(_$words[1] ;;
    (*) )" +
         function + R"(_ ;;
  esac
fi
)";
}

std::string fish_quoted(std::string_view text) {
  return "'" + with_backslashes(text, "'\\") + "'";
}

// Completes a name, and the keys of its settings.
constexpr const char* fish_function = R"(function __heddle_settings
  set -l token (commandline -ct)
  set -l value (string replace -r '^--[a-z-]+=' '' -- $token)
  if string match -q '*:*' -- $value
    set -l name (string split -m1 : -- $value)[1]
    set -l before (string match -r '^.*[:,]' -- $token)
    for entry in $argv
      set -l words (string split ' ' -- $entry)
      test $words[1] = $name; or continue
      for key in $words[2..]
        echo $before$key=
      end
    end
  else
    for entry in $argv
      string split ' ' -- $entry | head -n 1
    end
  end
end
)";

std::string fish_settings(const Option& option) {
  std::string text = "(__heddle_settings";
  for (const KindHelp& kind : option.kinds) text += " \"" + kind.name + " " + join(kind.keys(), " ") + "\"";
  return text + ")";
}

// `condition` is what fish tests first, or "".
std::string fish_options(const std::string& name, const Options& options, const std::string& condition) {
  std::string text;
  for (const Option* option : options) {
    text += "complete -c " + name + (condition.empty() ? "" : " -n " + fish_quoted(condition));
    if (option->field.short_option != 0) text += std::string(" -s ") + option->field.short_option;
    text += " -l " + option->shown().substr(2);
    if (option->kind != OptionKind::flag && option->field.bare.empty())
      text += is_file(option->placeholder) ? " -r -F" : " -x";
    if (has_settings(*option)) {
      text += " -a " + fish_quoted(fish_settings(*option));
    } else if (!option->choices.empty()) {
      text += " -a " + fish_quoted(join(option->choices, " "));
    }
    text += " -d " + fish_quoted(option->field.help) + "\n";
  }
  return text;
}

std::string fish_completion(const std::string& name, const Options& options) {
  return fish_function + fish_options(name, options, "");
}

std::string fish_completion(const std::string& name, const Options& options, const std::vector<VerbEntry>& verbs) {
  std::vector<std::string> names;
  std::string text = fish_function;
  for (const VerbEntry& verb : verbs) {
    names.push_back(verb.name);
    text += "complete -c " + name + " -n __fish_use_subcommand -a " + verb.name + " -d " + fish_quoted(verb.summary) +
            "\n" + fish_options(name, shown_options(verb.options), "__fish_seen_subcommand_from " + verb.name);
  }
  return text + "complete -c " + name + " -n '__fish_seen_subcommand_from help' -x -a " +
         fish_quoted(join(names, " ")) + "\n" +
         fish_options(name, options, "not __fish_seen_subcommand_from " + join(names, " "));
}

// Includes the options of the default verb.
Options options_without_verb(const About& about, const OptionTable& table) {
  Options options = shown_options(about.verbs.front().options);
  for (const Option* option : shown_options(table)) {
    if (about.verbs.front().options.find(option->field.name) == nullptr) options.push_back(option);
  }
  return options;
}

}  // namespace

bool is_file(const std::string& placeholder) {
  constexpr std::array<std::string_view, 5> files{"FILE", "MODEL", "TOKENS", "TRAIN", "TESTS"};
  return std::ranges::find(files, placeholder.substr(0, placeholder.find_first_of(",["))) != files.end();
}

std::string render_completion(Shell shell, const About& of_tool, const OptionTable& its_options) {
  About about = of_tool;
  for (VerbEntry& verb : about.verbs) verb.options = with_rendered_help(verb.options);
  const OptionTable table = with_rendered_help(its_options);
  const std::string name = HEDDLE_TOOL_PREFIX + about.name;
  if (!about.verbs.empty()) {
    const Options options = options_without_verb(about, table);
    if (shell == Shell::bash) return bash_completion(name, options, about.verbs);
    return shell == Shell::zsh ? zsh_completion(name, options, about.verbs)
                               : fish_completion(name, options, about.verbs);
  }
  const Options options = shown_options(table);
  if (shell == Shell::bash) return bash_completion(name, options);
  return shell == Shell::zsh ? zsh_completion(name, options) : fish_completion(name, options);
}

}  // namespace heddle::cli

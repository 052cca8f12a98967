#include "tools/cli/help.hpp"

#include <algorithm>
#include <map>
#include <sstream>

#include "tools/cli/fields_as_options.hpp"

namespace heddle::cli {

namespace {

constexpr std::size_t line_width = 80;
constexpr std::size_t help_column = 24;

// The text wrapped: the first line begins at `column`, further lines are indented to `indent`.
std::string wrapped(const std::string& text, std::size_t column, std::size_t indent) {
  std::string lines, word;
  std::istringstream words(text);
  bool first = true;
  while (words >> word) {
    if (!first && column + 1 + word.size() > line_width) {
      lines += "\n" + std::string(indent, ' ');
      column = indent;
      first = true;
    }
    lines += (first ? "" : " ") + word;
    column += word.size() + (first ? 0 : 1);
    first = false;
  }
  return lines + "\n";
}

// " N", "[=N]" where it may be left out, or "" for a flag.
std::string value_of(const Option& option) {
  if (option.placeholder.empty()) return "";
  return option.field.bare.empty() ? " " + option.placeholder : "[=" + option.placeholder + "]";
}

std::string term_of(const Option& option) {
  const std::string letter =
      option.field.short_option == 0 ? "    " : std::string{'-', option.field.short_option, ',', ' '};
  return letter + option.shown() + value_of(option);
}

// Detail of a list of options: the essential options fit two screens.
enum class Facts { essential, all, ranges };

std::string choices_of(const Option& option, Facts wanted) {
  constexpr std::size_t most = 12, some = 3;
  const std::vector<std::string>& choices = option.choices;
  if (wanted == Facts::essential && option.expands) return concatenate("--help=", option.field.option(), " lists them");
  if (wanted != Facts::essential || choices.size() <= most) return "one of " + join(choices);
  return concatenate("one of ", choices.size(), ", such as ", join({choices.begin(), choices.begin() + some}),
                     "; --help=all lists them");
}

// "(default 4)", "(one of relu, gelu; default gelu)", or "".
std::string facts(const Option& option, Facts wanted) {
  std::vector<std::string> facts;
  if (!option.choices.empty()) facts.push_back(choices_of(option, wanted));
  if (wanted == Facts::ranges && !option.field.range_text().empty()) facts.push_back(option.field.range_text());
  if (!option.field.needed.empty()) facts.push_back("with " + alternatives(option.field.needed));
  if (option.kind != OptionKind::flag && !option.initial.empty()) facts.push_back("default " + option.initial);
  return facts.empty() ? "" : " (" + join(facts, "; ") + ")";
}

// "width of a layer (at least 1; default 128; also --width)"
std::string setting_help(const FieldText& setting, const Option& chooser, const OptionTable& table) {
  const Field& field = setting.field;
  std::vector<std::string> facts;
  if (!field.texts.empty()) facts.push_back("one of " + join(field.texts));
  if (!field.range_text().empty()) facts.push_back(field.range_text());
  if (!setting.text.empty()) facts.push_back("default " + setting.text);
  const Option* const option = table.find_key(chooser.field.option(), field.option());
  if (option != nullptr && option->is_named) facts.push_back("also --" + field.option());
  return field.help + (facts.empty() ? "" : " (" + join(facts, "; ") + ")");
}

// The text as scdoc(5) prints it unchanged inside a line.
std::string scdoc(std::string_view text) {
  std::string escaped;
  for (const char letter : text) {
    if (std::string_view("\\*_`+").find(letter) != std::string_view::npos) escaped += '\\';
    escaped += letter;
  }
  return escaped;
}

// The text as an indented paragraph. scdoc and roff give a meaning to some characters at the start of a line, escaped
// or not; an empty pair of asterisks, which prints nothing, moves them away from it.
std::string scdoc_paragraph(const std::string& text) {
  std::string line;
  std::istringstream words(text);
  for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + word;
  const bool markup = !line.empty() && std::string_view("-.'#|[];:<=>").find(line.front()) != std::string_view::npos;
  return "\t" + (markup ? "**" + scdoc(line) : scdoc(line)) + "\n\n";
}

// scdoc copies headings unchanged to its output, so they are escaped for roff.
std::string scdoc_heading(std::string_view text) {
  std::string escaped;
  for (const char letter : text) escaped += letter == '\\' ? "\\e" : std::string{letter};
  return "## " + escaped + "\n\n";
}

// The settings of the kinds that an option chooses from. Those that several have are explained with the first.
std::string man_kinds(const Option& option, const OptionTable& table) {
  std::string text = scdoc_heading("Settings of --" + option.field.option());
  std::map<std::string, std::string> told;  // explanation by key and help, and whose it was
  for (const KindHelp& kind : option.kinds) {
    text += "*" + scdoc(kind.name) + "*\n" + scdoc_paragraph(kind.summary);
    std::vector<std::string> as_before;
    std::string before;
    for (const FieldText& field : kind.fields) {
      const std::string help = setting_help(field, option, table);
      const auto [known, is_new] = told.emplace(field.field.option() + "\n" + help, kind.name);
      if (is_new) {
        text += "\t*" + scdoc(field.field.option()) + "*: " + scdoc(help) + "\n\n";
      } else {
        as_before.push_back(field.field.option());
        before = known->second;
      }
    }
    if (!as_before.empty()) text += scdoc_paragraph("as " + before + ": " + join(as_before));
  }
  return text;
}

std::string man_term(const Option& option) {
  std::string term;
  if (option.field.short_option != 0) term = std::string("*-") + option.field.short_option + "*, ";
  term += "*" + scdoc(option.shown()) + "*";
  if (!option.placeholder.empty()) {
    const bool needed = option.field.bare.empty();
    term += (needed ? " _" : "[=_") + scdoc(option.placeholder) + (needed ? "_" : "_]");
  }
  return term;
}

// Whether --help shows the option: the essential ones, of a tool or verb that marks none all of its own.
bool is_shown(const Option& option, const OptionTable& table) {
  const auto is_own = [](const Option& each) { return each.in_files && !each.common; };
  if (option.field.is_essential) return true;
  return is_own(option) && std::ranges::none_of(table.options(), [&](const Option& each) {
           return is_own(each) && each.field.is_essential;
         });
}

// Calls body(heading, options) for every group with an option to show.
template <class Body>
void for_each_group(const OptionTable& table, bool all, const Body& body) {
  for (const std::string& group : table.groups()) {
    std::vector<const Option*> members;
    for (const Option& option : table.options()) {
      if (option.group == group && !option.hidden && (all || is_shown(option, table))) members.push_back(&option);
    }
    if (!members.empty()) body(group, members);
  }
}

}  // namespace

std::string help_entry(const std::string& term, const std::string& text) {
  std::string line = "  " + term + "  ";
  line.append(help_column - std::min(help_column, line.size()), ' ');
  return line + wrapped(text, line.size(), help_column);
}

std::string render_help(const About& about, const OptionTable& options, bool all) {
  const OptionTable table = with_rendered_help(options);
  std::string text;
  for (const std::string& way : about.synopsis) {
    const std::string start = (text.empty() ? "Usage: " : "       ") + about.command() + " ";
    text += start + wrapped(way, start.size(), start.size());
  }
  text += "\n" + wrapped(about.summary, 0, 0);
  if (!about.verbs.empty()) text += "\nVerbs:\n";
  for (const VerbEntry& verb : about.verbs) text += help_entry(verb.name, verb.summary);
  if (!about.verbs.empty()) {
    text += "\n" + wrapped(concatenate("'", about.name, " VERB --help' prints a verb's options. '", about.name,
                                       " FILE' is '", about.name, " ", about.verbs.front().name,
                                       " FILE'; a file named like a verb is ./NAME."),
                           0, 0);
  }
  if (!about.operands.empty()) text += "\n";
  for (const Operand& operand : about.operands) {
    text += help_entry(operand.name + (operand.maximum > 1 ? "..." : ""), operand.help);
  }
  Index left_out = 0;
  for (const Option& option : table.options()) left_out += !all && !option.hidden && !is_shown(option, table);
  for_each_group(table, all, [&](const std::string& group, const std::vector<const Option*>& members) {
    text += "\n" + group + ":\n";
    for (const Option* option : members)
      text += help_entry(term_of(*option), option->field.help + facts(*option, all ? Facts::all : Facts::essential));
  });
  if (left_out > 0) {
    text +=
        "\n" + wrapped(concatenate(about.command(), " --help=all lists ",
                                   counted(left_out, "more option", "more options"), "; the man page explains them."),
                       0, 0);
  }
  return text;
}

std::string render_kinds(const About& about, const Option& option, const OptionTable& table, const std::string& name) {
  const std::string flag = option.field.option();
  std::vector<std::string> names;
  for (const KindHelp& kind : option.kinds) names.push_back(kind.name);
  if (name.empty()) {
    std::string text = "--" + flag + " NAME[:KEY=VALUE,...]: " + option.field.help + "\n";
    for (const KindHelp& kind : option.kinds) text += help_entry(kind.name, kind.summary);
    return text + "\n" + wrapped(concatenate(about.command(), " --help=", flag, ":NAME lists the keys of one."), 0, 0);
  }
  const auto kind = std::ranges::find(option.kinds, name, &KindHelp::name);
  check<UsageError>(kind != option.kinds.end(), "--help=", flag, ":", name, ": ", not_one_of(name, names));
  std::string text = wrapped(
      concatenate("--", flag, " ", name, kind->fields.empty() ? "" : "[:KEY=VALUE,...]", ": ", kind->summary), 0, 0);
  for (const FieldText& field : kind->fields)
    text += help_entry(field.field.option(), setting_help(field, option, table));
  return text;
}

std::string render_man_options(const OptionTable& options) {
  const OptionTable table = with_rendered_help(options);
  std::string text;
  for_each_group(table, true, [&](const std::string& group, const std::vector<const Option*>& members) {
    text += scdoc_heading(group);
    for (const Option* option : members) {
      text += man_term(*option) + "\n" + scdoc_paragraph(option->field.help + facts(*option, Facts::ranges));
    }
  });
  for (const Option& option : table.options()) {
    if (!option.kinds.empty() && option.is_named) text += man_kinds(option, table);
  }
  return text;
}

}  // namespace heddle::cli

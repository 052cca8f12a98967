// A tool with verbs, `inspect diff A B`: each verb has its own options, operands, --help and man page. The first verb
// is the default: `inspect FILE` is `inspect show FILE`. `TOOL help VERB` is `TOOL VERB --help`.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "tools/cli/run.hpp"

namespace heddle::cli {

struct Verb {
  About about;  // VerbTool::add() fills in the names
  std::function<int(Arguments&)> body;
  std::function<OptionTable(const About&)> options;  // as returned by Arguments::options_of()
};

// A verb with these options. The body is called with (arguments, options) and may return an exit status.
template <Visitable Options, class Body>
Verb make_verb(About about, const Body& body) {
  const bool has_ranks = about.has_ranks;
  return {.about = std::move(about),
          .body = [body, has_ranks](Arguments& arguments) -> int {
            std::optional<Ranks> ranks;
            if (has_ranks) ranks.emplace(arguments, RanksShare::answers);
            const auto options = arguments.read<Options>();
            if constexpr (std::is_void_v<std::invoke_result_t<const Body&, Arguments&, const Options&>>) {
              body(arguments, options);
              return 0;
            } else {
              return body(arguments, options);
            }
          },
          .options = Arguments::options_of<Options>};
}

class VerbTool {
 public:
  // The summary is one sentence, as About has it.
  VerbTool(std::string name, std::string summary) : name_(std::move(name)), summary_(std::move(summary)) {}

  // Suggestion, "; ...", for a word that is neither a verb nor a file; or "".
  void explain_words(std::function<std::string(const std::string& word)> explain) { explain_ = std::move(explain); }

  // The first verb that is added is the default.
  void add(const std::string& name, Verb verb);

  // Null if there is no verb of this name.
  const Verb* find(const std::string& word) const;

  // Runs the verb that the command line names. Throws UsageError for a word that is neither a verb nor a file, or
  // DataError if it is the only one and similar to no verb; and UsageError for options that this verb does not have:
  // the message names the verb that has them.
  int call(const std::vector<std::string>& words) const;

  // The description of the tool without its verbs.
  About about() const;

 private:
  int call(const Verb& verb, const std::vector<std::string>& words) const;
  int answer(const std::vector<std::string>& words) const;
  std::string explanation(const UnknownOption& error, const Verb& verb) const;
  std::string suggestion(const std::string& word) const;
  std::vector<std::string> names() const;

  std::string name_, summary_;
  std::vector<Verb> verbs_;
  std::function<std::string(const std::string&)> explain_;
};

// As run() of a tool without verbs.
int run(int argc, char** argv, const VerbTool& tool);

}  // namespace heddle::cli

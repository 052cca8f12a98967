// inspect show, which is inspect without a verb.
#include <iostream>

#include "libcore/base/printable.hpp"
#include "libcore/models/presets.hpp"
#include "tools/inspect/files/summary.hpp"
#include "tools/inspect/json_answer.hpp"
#include "tools/inspect/verbs.hpp"

namespace heddle {

namespace {

struct ShowOptions {
  bool json = false;
  std::string preset;
  Index top = 10;
  Parts parts;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("json", "print one JSON object").essential(), self.json);
    visitor(Field("preset", "a built-in configuration instead of a file")
                .not_empty()
                .one_of(models::preset_names())
                .takes("NAME")
                .essential(),
            self.preset);
    visitor(Field("top", "how many of the most frequent pieces of a token or pairs file to print")
                .needs({"tokens"})
                .range(1, 1000000)
                .takes("K")
                .essential(),
            self.top);
    visitor(Field("parts", "Parts to show; all without these"), self.parts);
  }
};

void show(const cli::Arguments& arguments, const ShowOptions& options) {
  const std::string path = arguments.operand("FILE");
  check<UsageError>(path.empty() != options.preset.empty(),
                    "give one FILE, or --preset NAME (inspect --help lists the verbs)");
  const Summary summary = options.preset.empty() ? summarize_file(path, options.parts, options.top)
                                                 : summarize_preset(options.preset, options.parts);
  std::cout << (options.json ? dump(as_json(summary)) : printable_lines(as_text(summary)));
}

}  // namespace

cli::Verb verbs::show() {
  return cli::make_verb<ShowOptions>(
      {.summary = "Prints what a file is and what it holds.",
       .synopsis = {"FILE [--config] [--weights] [--history] [--json]", "--preset NAME [--json]"},
       .operands = {{"FILE", "a tokenizer, token, pairs, graphs or model file, or a directory with GPT-2's vocabulary",
                     0, 1}}},
      heddle::show);
}

}  // namespace heddle

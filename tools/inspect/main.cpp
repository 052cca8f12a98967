// inspect: shows, checks and compares heddle's files.
#include <algorithm>

#include "libcore/models/presets.hpp"
#include "tools/inspect/verbs.hpp"

int main(int argc, char** argv) {
  heddle::cli::VerbTool inspect("inspect",
                                "Shows what is in heddle's files, checks and compares them, and analyses models.");
#define HEDDLE_VERB(room, name) inspect.add(#name, heddle::verbs::name());
#include "tools/inspect/verbs.def"
#undef HEDDLE_VERB
  inspect.explain_words([](const std::string& word) {
    const auto presets = heddle::models::preset_names();
    const bool is_preset = std::ranges::find(presets, word) != presets.end();
    return is_preset ? "; inspect --preset " + word + " shows the preset" : std::string();
  });
  return heddle::cli::run(argc, argv, inspect);
}

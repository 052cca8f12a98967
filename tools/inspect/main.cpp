// inspect: shows, checks and compares heddle's files.
#include "tools/inspect/verbs.hpp"

int main(int argc, char** argv) {
  heddle::cli::VerbTool inspect("inspect",
                                "Shows what is in heddle's files, checks and compares them, and analyses models.");
#define HEDDLE_VERB(name) inspect.add(#name, heddle::verbs::name());
#include "tools/inspect/verbs.def"
#undef HEDDLE_VERB
  return heddle::cli::run(argc, argv, inspect);
}

// inspect's verbs: one function for each line of verbs.def, defined in the file of that name in its room.
#pragma once

#include "tools/cli/verbs.hpp"

namespace heddle::verbs {

#define HEDDLE_VERB(room, name) cli::Verb name();
#include "tools/inspect/verbs.def"
#undef HEDDLE_VERB

}  // namespace heddle::verbs

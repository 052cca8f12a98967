#include "tools/lines/length_limit.hpp"

#include "libcore/base/strings.hpp"

namespace heddle {

bool LengthLimit::is_exceeded(Index tokens, Index room, const std::string& where, const std::string& advice,
                              const std::string& beside) {
  if (tokens <= room) return false;
  check<DataError>(texts_.treatment != data::Overlong::error, where, ": the ", noun_, " has ", tokens,
                   " tokens, more than the ", room, " that fit the context", beside, "; ", advice);
  ++texts_.count;
  return true;
}

void LengthLimit::report(const cli::Arguments& arguments, const std::string& more) const {
  if (texts_.count == 0) return;
  arguments.say(concatenate(counted(texts_.count, noun_ + " was", noun_ + "s were"), " longer than the context, and ",
                            splits() ? "split" : "truncated", more));
}

}  // namespace heddle

// Handling of texts longer than the context, in tools that read texts one by one.
#pragma once

#include <string>
#include <vector>

#include "libcore/data/task_examples.hpp"
#include "tools/cli/arguments.hpp"

namespace heddle {

// Counts the texts that are too long. `noun` is what messages call one ("text", "prompt").
class LengthLimit {
 public:
  explicit LengthLimit(data::Overlong treatment, std::string noun = "text")
      : texts_{treatment}, noun_(std::move(noun)) {}

  // Whether the text is too long and must be truncated or split. Throws DataError, "WHERE: …", with the advice, if that
  // is an error.
  bool is_exceeded(Index tokens, Index room, const std::string& where, const std::string& advice,
                   const std::string& beside = "");
  bool splits() const { return texts_.treatment == data::Overlong::split; }

  // For callers that check the length themselves.
  data::OverlongTexts& texts() { return texts_; }

  // Prints "2 texts were longer than the context, and truncated", followed by `more`, if there were any.
  void report(const cli::Arguments& arguments, const std::string& more = "") const;

 private:
  data::OverlongTexts texts_;
  std::string noun_;
};

}  // namespace heddle

// What tools that read texts one by one do with those longer than the context.
#pragma once

#include <string>
#include <vector>

#include "heddle/cli/arguments.hpp"
#include "heddle/data/task_examples.hpp"

namespace heddle {

// Counts the texts that are too long. `what` is how messages call one ("text", "prompt").
class LengthLimit {
 public:
  explicit LengthLimit(data::Overlong how, std::string what = "text") : texts_{how}, what_(std::move(what)) {}

  // Whether so many tokens are more than there is room for, so that the text must be cut or split. Throws DataError,
  // "WHERE: …", with the advice, where that is an error.
  bool is_exceeded(Index tokens, Index room, const std::string& where, const std::string& advice);
  bool splits() const { return texts_.how == data::Overlong::split; }

  // For those that find out by themselves what is too long.
  data::OverlongTexts& texts() { return texts_; }

  // "2 texts were longer than the context, and cut" and what else is to be said of it, where there were any.
  void report(const cli::Arguments& arguments, const std::string& more = "") const;

 private:
  data::OverlongTexts texts_;
  std::string what_;
};

}  // namespace heddle

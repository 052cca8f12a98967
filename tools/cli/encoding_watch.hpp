// Detects text that is not UTF-8, for a warning that is printed once: such text is read byte by byte, without an error
// but with wrong characters.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "libcore/base/real.hpp"

namespace heddle::cli {

class EncodingWatch {
 public:
  // The remedy ends the warning.
  explicit EncodingWatch(std::string remedy = "") : remedy_(std::move(remedy)) {}

  // The next bytes of a text, cut anywhere. Returns what is wrong ("LINE: is not UTF-8 ...") the first time that
  // something is.
  std::optional<std::string> add(std::string_view bytes);
  // The same for a character that the end of the text cuts.
  std::optional<std::string> finish();

 private:
  std::optional<std::string> judge(std::string_view text);

  std::string remedy_;
  bool told_ = false;
  bool begun_ = false;
  std::string rest_;  // bytes not checked yet: an incomplete character whose end may follow
  Index line_ = 1;
};

}  // namespace heddle::cli

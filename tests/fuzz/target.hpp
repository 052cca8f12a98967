// Common interface of the fuzz targets. A target reads its input as a file of one kind: whatever the bytes are, the
// reader gives something that can be used, or throws a refusal that says why. Anything else ends the program.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "libcore/base/error.hpp"
#include "libcore/text/tokenizer.hpp"

namespace heddle::fuzz {

#define HEDDLE_FUZZ_TARGET(name) void name(std::string_view input);
#include "fuzz/targets.def"
#undef HEDDLE_FUZZ_TARGET

// Throws std::logic_error unless the condition holds: the code under test is wrong.
void expect(bool condition, const std::string& otherwise);

// Calls read, which may throw one of the Refusals; without any named, those of files: DataError, and NumericError for
// weights that are not finite.
template <class... Refusals>
void read_or_refuse(const std::function<void()>& read) {
  if constexpr (sizeof...(Refusals) == 0) {
    read_or_refuse<DataError, NumericError>(read);
  } else {
    try {
      read();
    } catch (const Error& error) {
      if (!(... || (dynamic_cast<const Refusals*>(&error) != nullptr))) throw;
      expect(*error.what() != '\0', "a refusal that does not say why");
    }
  }
}

// Writes a file of that name, in memory where the system has such a folder, and returns its path. Other files of the
// folder, which is the process's own and vanishes with it, stay.
std::string write_input(const std::string& name, std::string_view bytes);

// Uses a tokenizer that a stranger made.
void use(const text::Tokenizer& tokenizer);

}  // namespace heddle::fuzz

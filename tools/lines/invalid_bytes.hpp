// Handling of invalid UTF-8 for tokenizers that need valid text.
#pragma once

#include <string>
#include <string_view>

#include "libcore/base/visit.hpp"
#include "libcore/text/tokenizer.hpp"
#include "tools/cli/arguments.hpp"

namespace heddle {

enum class InvalidText {
  error,
  replace,  // each invalid byte becomes U+FFFD
  skip      // invalid bytes are left out
};
template <>
struct Names<InvalidText> {
  static constexpr std::pair<InvalidText, std::string_view> list[] = {
      {InvalidText::error, "error"}, {InvalidText::replace, "replace"}, {InvalidText::skip, "skip"}};
};

class InvalidBytes {
 public:
  // `pass`: leaves invalid bytes unchanged.
  InvalidBytes(InvalidText treatment, bool pass) : treatment_(treatment), pass_(pass) {}

  bool pass() const { return pass_; }
  bool failed() const { return failed_; }
  // The text with its invalid bytes replaced or left out, and counted; if they are an error, the text before the first
  // of them. Valid until the next call.
  std::string_view valid(std::string_view text);
  // Throws DataError, "FILE:LINE:BYTE: …", if the text last given to valid(), which began at `begin`, has an invalid
  // byte and that is an error.
  void check_valid(const std::string& file, text::TextPosition begin) const;
  // Prints how many bytes were replaced or left out, if any.
  void report(const cli::Arguments& arguments) const;

 private:
  InvalidText treatment_;
  bool pass_;
  Index count_ = 0;
  bool failed_ = false;
  std::string text_;
  std::string_view before_;  // text before the first invalid byte, if that is an error
};

// Whether the tokenizer has tokens for invalid UTF-8 too. WordPiece drops such bytes silently, so it has none.
bool takes_any_bytes(const text::Tokenizer& tokenizer);

// The number of bytes at the end of the text that are an incomplete character: 0 to 3.
std::size_t unfinished_bytes(std::string_view text);

}  // namespace heddle

// What becomes of text that is not UTF-8, for tokenizers that need it to be.
#pragma once

#include <string>
#include <string_view>

#include "heddle/base/visit.hpp"
#include "heddle/cli/arguments.hpp"
#include "heddle/text/tokenizer.hpp"

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
  // Bytes that pass are left as they are, valid or not.
  InvalidBytes(InvalidText how, bool pass) : how_(how), pass_(pass) {}

  bool pass() const { return pass_; }
  bool failed() const { return failed_; }
  // The text with what becomes of its invalid bytes, which are counted. Valid until the next call. Where they are an
  // error: what is before the first of them.
  std::string_view valid(std::string_view text);
  // The error of the text that valid() was given last; the text began at `begin`. Throws DataError, "FILE:LINE:BYTE:
  // …".
  void check_valid(const std::string& file, text::TextPosition begin) const;
  // How many were replaced or left out, if any.
  void report(const cli::Arguments& arguments) const;

 private:
  InvalidText how_;
  bool pass_;
  Index count_ = 0;
  bool failed_ = false;
  std::string text_;
  std::string_view before_;  // the first invalid byte, where that is an error
};

// Whether bytes that are no UTF-8 have tokens too. WordPiece drops them without a word, so it has none for them.
bool takes_any_bytes(const text::Tokenizer& tokenizer);

// The bytes at the end of the text that begin a character which more bytes may complete: 0 to 3.
std::size_t unfinished_bytes(std::string_view text);

}  // namespace heddle

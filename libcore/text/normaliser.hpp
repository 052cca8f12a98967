// Steps that change a text before it is split, one after the other.
//   nfc, nfd, nfkc, nfkd   Unicode's normal forms
//   lowercase              each character by itself
//   strip-marks            without marks (general category M)
//   strip-accents          without nonspacing marks (Mn)
//   strip-left, strip-right  without white space at that end
//   clean                  without control characters; other white space becomes a space
//   space-chinese          a space before and after each Chinese character
//   prepend                something, which follows after a tab, before the text
//   replace                what an expression (expression.hpp) matches, by something: each follows after a tab
// Source: Hugging Face's normalizers NFC to NFKD, Lowercase, StripAccents, Strip, Prepend and Replace; clean,
// space-chinese and strip-accents after nfd are the parts of its BertNormalizer.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/text/origin.hpp"

namespace heddle::text {

struct NormalText {
  std::string text;
  std::size_t most = 0;         // bytes that it may become
  bool located = false;         // whether origins are wanted
  std::vector<Origin> origins;  // origin of each byte
};

class NormaliserStep {
 public:
  virtual ~NormaliserStep() = default;
  virtual void apply(NormalText& text) const = 0;
  // Whether the character stays as it is and alters nothing beside it, whatever is there, but for marks that follow it.
  virtual bool leaves(char32_t code) const = 0;
};

class Normaliser {
 public:
  // The names above. Throws DataError for others.
  explicit Normaliser(const std::vector<std::string>& names);

  bool is_empty() const { return steps_.empty(); }
  // Throws NoToken where the text becomes far longer.
  NormalText apply(std::string_view text, bool located = false) const;

  // True if every text with these bytes around the position, 0 < position < text.size(), can be normalised in two parts
  // there, and the characters on both sides stay. Reads eight bytes on either side.
  bool is_boundary(std::string_view text, std::size_t position) const;

 private:
  std::vector<std::unique_ptr<const NormaliserStep>> steps_;
};

// A text that a step writes anew.
class Rewriting {
 public:
  explicit Rewriting(NormalText& text);
  // Puts what stands for old[begin, end).
  void put(std::string_view replacement, std::size_t begin, std::size_t end);
  void keep(std::size_t begin, std::size_t end);
  std::string_view old() const { return old_.text; }
  void finish();

 private:
  NormalText& text_;
  NormalText old_;
};

std::unique_ptr<const NormaliserStep> make_normal_form(std::string_view name);  // null for other names

}  // namespace heddle::text

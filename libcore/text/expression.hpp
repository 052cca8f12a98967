// Regular expressions as tokenizers of other programs have them, in Oniguruma's syntax: literals, classes (negated,
// nested, with && and \p{…} of general categories), \s \d \w, groups, (?i:…), alternatives, quantifiers of every kind
// (possessive ones of single characters), and a single character, or the end, looked at ahead: (?!\S), (?=x), $, \z.
// Anything else is refused by name.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/text/code_points.hpp"

namespace heddle::text {

// Lookahead: must match next, without being consumed.
struct Ahead {
  CodePoints next;
  bool end = false;  // or the text may end
  bool operator==(const Ahead&) const = default;
};

// A program of a machine that tries one way after the other, the preferred first.
struct Instruction {
  enum class Kind {
    take,   // a code point of sets[first]
    look,   // for aheads[first]
    fork,   // continue at `first` or, less preferred, at `second`
    jump,   // to `first`
    accept  // the text up to here matches
  };
  Kind kind;
  std::size_t first = 0, second = 0;
};

struct Program {
  std::vector<Instruction> instructions;
  std::vector<CodePoints> sets;
  std::vector<Ahead> aheads;
};

// Throws DataError, which names what is not supported.
Program compile_expression(std::string_view expression);

// An expression that matches the text and nothing else.
std::string expression_of(std::string_view text);

}  // namespace heddle::text

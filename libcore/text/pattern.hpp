// A regular expression (expression.hpp) that finds pieces of text: of all matches from a place the one that the
// expression prefers, as programs that try one way after the other find it, in time that is linear in what is read.
// Source: Cox 2010, "Regular expression matching in the wild", whose lists of threads in the order of preference become
// states of a table here.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "libcore/text/expression.hpp"

namespace heddle::text {

class Pattern {
 public:
  // Throws DataError for what is not supported, and for expressions that need too large a table.
  explicit Pattern(std::string_view expression);

  struct Match {
    std::optional<std::size_t> end;  // none where nothing matches
    std::size_t read_to;             // the end of what was looked at
  };
  // Matches the text that begins at begin < text.size().
  Match match(std::string_view text, std::size_t begin) const;

  // Whether a match may take one of these after the other, or may depend, before the second, on its being there.
  bool spans(char32_t left, char32_t right) const;
  // Whether the code point is always in a match.
  bool always_takes(char32_t code) const { return always_taken_[symbol_of(code)]; }
  // Whether a match may have the code point, or look at it.
  bool may_read(char32_t code) const { return read_[symbol_of(code)]; }

 private:
  // Code points that the expression treats alike are one symbol; the end of the text is another.
  static constexpr std::size_t most_symbols = 250, most_states = 4000;
  using Symbols = std::bitset<most_symbols + 1>;
  using Symbol = std::uint8_t;
  // Condition on which a thread waits: if the next symbol is in `ahead`, it takes it in a `set`, or accepts.
  struct Thread {
    std::size_t instruction;
    Symbols ahead;
    bool operator==(const Thread&) const = default;
  };
  using Threads = std::vector<Thread>;
  struct Step {
    std::uint16_t next;  // state, 0: none
    bool accepts;        // before the symbol
  };

  Symbol symbol_of(char32_t code) const { return symbols_[code <= last_code_point ? code : last_code_point]; }
  void find_symbols();
  Symbols symbols_in(const CodePoints& set) const;
  void follow(std::size_t instruction, const Symbols& ahead, Threads& threads) const;
  void make_table();
  std::pair<Threads, bool> step(const Threads& threads, std::size_t symbol) const;
  bool accepts_always(const Thread& thread) const;
  std::uint16_t state_of(const Threads& threads);
  void note_neighbours();

  Program program_;
  std::vector<Symbol> symbols_;            // symbol of each code point
  std::vector<char32_t> representatives_;  // a code point of each symbol
  std::size_t end_ = 0;                    // the symbol of the end
  std::vector<Symbols> sets_, aheads_;     // sets of the program
  std::vector<Threads> after_;             // each instruction that takes
  std::vector<Threads> states_;            // 0: none, 1: the beginning
  std::map<std::vector<std::size_t>, std::uint16_t> numbers_;
  std::vector<Symbols> distinct_aheads_;
  std::vector<Step> table_;  // indexed by state and symbol
  std::vector<Symbols> spans_;
  Symbols always_taken_, read_;
};

struct PatternSpan {
  std::size_t begin, end;
  bool is_match;
};

// Calls take(span) for the matches from left to right and for what is between them. Throws NoToken where it would take
// far more time than in proportion to the text.
void for_each_span(const Pattern& pattern, std::string_view text, const std::function<void(const PatternSpan&)>& take);

}  // namespace heddle::text

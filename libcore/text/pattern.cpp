#include "libcore/text/pattern.hpp"

#include <algorithm>
#include <utility>

#include "libcore/base/error.hpp"
#include "libcore/text/text_error.hpp"
#include "libcore/text/unicode.hpp"

namespace heddle::text {

namespace {

constexpr const char* too_complex = "the tokenizer's expression is too complex for heddle";
constexpr std::size_t most_threads = 256, most_steps = std::size_t{1} << 22;

}  // namespace

Pattern::Pattern(std::string_view expression) : program_(compile_expression(expression)) {
  find_symbols();
  for (const CodePoints& set : program_.sets) sets_.push_back(symbols_in(set));
  for (const Ahead& ahead : program_.aheads) {
    aheads_.push_back(symbols_in(ahead.next));
    aheads_.back()[end_] = ahead.end;
  }
  make_table();
  note_neighbours();
}

void Pattern::find_symbols() {
  std::vector<std::pair<char32_t, std::size_t>> edges;  // bounds of the code point ranges of a set
  const auto note = [&](const CodePoints& set, std::size_t number) {
    for (const auto& [first, last] : set.ranges()) {
      edges.emplace_back(first, number);
      edges.emplace_back(last + 1, number);
    }
  };
  const std::size_t sets = program_.sets.size();
  for (std::size_t i = 0; i < sets; ++i) note(program_.sets[i], i);
  for (std::size_t i = 0; i < program_.aheads.size(); ++i) note(program_.aheads[i].next, sets + i);
  edges.emplace_back(last_code_point + 1, 0);
  std::ranges::sort(edges);
  std::map<std::vector<bool>, Symbol> numbers;
  std::vector<bool> members(sets + program_.aheads.size());
  symbols_.resize(last_code_point + 1);
  for (auto [edge, begin] = std::pair(edges.begin(), char32_t{0}); edge != edges.end();) {
    if (edge->first > begin) {
      const auto [found, is_new] = numbers.emplace(members, static_cast<Symbol>(numbers.size()));
      check<DataError>(numbers.size() < most_symbols, too_complex);
      if (is_new) representatives_.push_back(begin);
      std::fill(symbols_.begin() + static_cast<std::ptrdiff_t>(begin),
                symbols_.begin() + static_cast<std::ptrdiff_t>(edge->first), found->second);
      begin = edge->first;
    }
    members[edge->second].flip();
    ++edge;
  }
  end_ = numbers.size();
}

Pattern::Symbols Pattern::symbols_in(const CodePoints& set) const {
  Symbols symbols;
  for (std::size_t i = 0; i < representatives_.size(); ++i) symbols[i] = set.contains(representatives_[i]);
  return symbols;
}

// Appends the threads that an instruction leads to, the preferred first.
void Pattern::follow(std::size_t instruction, const Symbols& ahead, Threads& threads) const {
  Threads seen, waiting{{instruction, ahead}};
  while (!waiting.empty()) {
    const Thread thread = waiting.back();
    waiting.pop_back();
    if (thread.ahead.none() || std::ranges::find(seen, thread) != seen.end()) continue;
    seen.push_back(thread);
    const Instruction& here = program_.instructions[thread.instruction];
    switch (here.kind) {
      case Instruction::Kind::take:
      case Instruction::Kind::accept:
        check<DataError>(threads.size() < most_threads, too_complex);
        threads.push_back(thread);
        break;
      case Instruction::Kind::look:
        waiting.push_back({thread.instruction + 1, thread.ahead & aheads_[here.first]});
        break;
      case Instruction::Kind::fork:
        waiting.push_back({here.second, thread.ahead});
        waiting.push_back({here.first, thread.ahead});
        break;
      case Instruction::Kind::jump:
        waiting.push_back({here.first, thread.ahead});
        break;
    }
  }
}

std::uint16_t Pattern::state_of(const Threads& threads) {
  std::vector<std::size_t> key;
  for (const Thread& thread : threads) {
    const auto found = std::ranges::find(distinct_aheads_, thread.ahead);
    key.push_back(thread.instruction);
    key.push_back(static_cast<std::size_t>(found - distinct_aheads_.begin()));
    if (found == distinct_aheads_.end()) distinct_aheads_.push_back(thread.ahead);
  }
  const auto [found, is_new] = numbers_.emplace(std::move(key), static_cast<std::uint16_t>(states_.size()));
  if (is_new) {
    check<DataError>(states_.size() < most_states, too_complex);
    states_.push_back(threads);
  }
  return found->second;
}

void Pattern::make_table() {
  const Symbols all = Symbols().set();
  after_.resize(program_.instructions.size());
  for (std::size_t i = 0; i < after_.size(); ++i) {
    if (program_.instructions[i].kind == Instruction::Kind::take) follow(i + 1, all, after_[i]);
  }
  Threads first;
  follow(0, all, first);
  state_of({});
  state_of(first);
  std::size_t steps = 0;
  for (std::size_t state = 0; state < states_.size(); ++state) {
    for (std::size_t symbol = 0; symbol <= end_; ++symbol) {
      const auto [next, accepts] = step(states_[state], symbol);
      steps += 1 + states_[state].size() + next.size();
      check<DataError>(steps < most_steps, too_complex);
      table_.push_back({state_of(next), accepts});
    }
  }
}

// The threads after a symbol, and whether the preferred ones that are left accept before it.
std::pair<Pattern::Threads, bool> Pattern::step(const Threads& threads, std::size_t symbol) const {
  Threads next;
  for (const Thread& thread : threads) {
    if (!thread.ahead[symbol]) continue;
    const Instruction& here = program_.instructions[thread.instruction];
    if (here.kind == Instruction::Kind::accept) return {std::move(next), true};
    if (symbol == end_ || !sets_[here.first][symbol]) continue;
    for (const Thread& after : after_[thread.instruction]) {
      if (std::ranges::find(next, after) != next.end()) continue;
      check<DataError>(next.size() < most_threads, too_complex);
      next.push_back(after);
      // Nothing after this is preferred to it.
      if (accepts_always(after)) return {std::move(next), false};
    }
  }
  return {std::move(next), false};
}

bool Pattern::accepts_always(const Thread& thread) const {
  return program_.instructions[thread.instruction].kind == Instruction::Kind::accept && thread.ahead.all();
}

void Pattern::note_neighbours() {
  spans_.resize(end_ + 1);
  const auto note = [&](const Symbols& lefts, const Threads& threads) {
    Symbols rights;
    for (const Thread& thread : threads) {
      const Instruction& here = program_.instructions[thread.instruction];
      if (here.kind == Instruction::Kind::take) rights |= thread.ahead & sets_[here.first];
      rights |= thread.ahead[end_] ? ~thread.ahead : thread.ahead;
    }
    for (std::size_t left = 0; left < end_; ++left) {
      if (lefts[left]) spans_[left] |= rights;
    }
    read_ |= lefts | rights;
  };
  for (std::size_t i = 0; i < after_.size(); ++i) {
    if (program_.instructions[i].kind == Instruction::Kind::take)
      note(sets_[program_.instructions[i].first], after_[i]);
  }
  note({}, states_[1]);
  for (std::size_t symbol = 0; symbol < end_; ++symbol) {
    for (const Thread& thread : states_[1]) {
      const Instruction& here = program_.instructions[thread.instruction];
      if (here.kind != Instruction::Kind::take || !thread.ahead[symbol] || !sets_[here.first][symbol]) continue;
      const Threads& after = after_[thread.instruction];
      if (std::ranges::any_of(after, [&](const Thread& one) { return accepts_always(one); })) always_taken_.set(symbol);
    }
  }
}

bool Pattern::spans(char32_t left, char32_t right) const {
  return spans_[symbol_of(left)][symbol_of(right)];
}

Pattern::Match Pattern::match(std::string_view text, std::size_t begin) const {
  Match match{std::nullopt, begin};
  std::size_t state = 1;
  for (;;) {
    const bool ends = match.read_to == text.size();
    const Character character = ends ? Character{0, 0} : decode(text, match.read_to);
    const Step step = table_[state * (end_ + 1) + (ends ? end_ : symbol_of(character.code))];
    if (step.accepts) match.end = match.read_to;
    match.read_to += character.length;
    if (step.next == 0 || ends) return match;
    state = step.next;
  }
}

void for_each_span(const Pattern& pattern, std::string_view text, const std::function<void(const PatternSpan&)>& take) {
  const std::size_t most_read = 64 * (text.size() + 1024);
  std::size_t read = 0, gap = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Pattern::Match match = pattern.match(text, at);
    read += match.read_to - at;
    if (read > most_read) throw NoToken(at, "the tokenizer's expression takes too long on this text");
    if (!match.end) {
      at += decode(text, at).length;
      continue;
    }
    if (at > gap) take({gap, at, false});
    take({at, *match.end, true});
    at = gap = *match.end;
  }
  if (text.size() > gap) take({gap, text.size(), false});
}

}  // namespace heddle::text

// Judges candidates for V, whoever proposes them: of a system on the command line, of lines of a file, of a model.
#pragma once

#include <string>
#include <vector>

#include "formats/archives/json_archive.hpp"
#include "libcore/symbolic/verifier.hpp"
#include "tools/cli/arguments.hpp"

namespace heddle {

struct JudgeSettings {
  std::string claim = "stable";
  Index propose = 0;  // degree up to which sums of squares seek V themselves
  Index samples = 100'000;
  double solver_seconds = 10, box = 0;
};

// A system and its candidates, as they were given: infix or prefix tokens.
struct LyapunovLine {
  Index number = 1;
  std::string system;
  std::vector<std::string> functions;
  bool of_a_model = false;  // output of a model, which writes prefix tokens, and not always an expression
};

// Result for a line.
struct LyapunovAnswer {
  Index number = 0;
  std::string system, function;  // infix; the function of the judgement, "" where there is no candidate
  std::string unreadable;        // why there is no judgement: the system, or every candidate, cannot be read
  symbolic::Judgement judgement;
  Index refuted = 0, unread = 0;  // numbers of candidates
  std::string why_unread;         // reason for the first that is no expression

  bool is_certified() const { return judgement.verdict == symbolic::Verdict::certified; }
  // "certified", "unrefuted", "refuted", "unreadable", or "none" where there is no candidate.
  std::string verdict() const;
  std::string evidence() const { return unreadable.empty() ? judgement.evidence : unreadable; }
};
formats::Json answer_json(const LyapunovAnswer& answer);

// Whether a system is written as prefix tokens.
bool is_prefix_system(std::string_view text);
// The system, from infix or prefix tokens. Throws DataError, which begins with "the system".
symbolic::System read_any_system(std::string_view text);
// Throws DataError for a system that Lyapunov functions are not for, such as one without an equilibrium at 0.
void check_equilibrium(const symbolic::System& system);
// The system as prefix tokens, with polynomials expanded: as models read it. Throws DataError for one that is too long.
std::string system_tokens(std::string_view text);

class LyapunovJudge {
 public:
  // Says on standard error where the solver is missing. Throws DataError where `propose` needs it.
  LyapunovJudge(const cli::Arguments& arguments, const JudgeSettings& settings);

  // The first candidate that is certified, else the one that is nearest to it. Throws DataError for a system that
  // cannot be read or has no equilibrium at 0.
  LyapunovAnswer answer(const LyapunovLine& line) const;

 private:
  bool consider(const symbolic::System& system, const symbolic::Tree& function, LyapunovAnswer& best) const;
  bool propose(const symbolic::System& system, Index half_degree, LyapunovAnswer& best) const;

  JudgeSettings settings_;
  symbolic::SemidefiniteSolver solver_;
  symbolic::Verifier verifier_;
};

}  // namespace heddle

// inspect lyapunov: Lyapunov functions of systems of differential equations, proved.
#include "tools/inspect/symbolic/lyapunov_answers.hpp"
#include "tools/inspect/verbs.hpp"

namespace heddle {

cli::Verb verbs::lyapunov() {
  return cli::make_verb<LyapunovOptions>(
      {.summary = "Decides whether V is a Lyapunov function of a system, by proof.",
       .synopsis = {"SYSTEM|FILE [--function V,...|--propose DEGREE] [--claim NAME] [-o FILE] [--json|--jsonl]",
                    "--generate backward|forward [--count N] [-o FILE]"},
       .operands = {{"SYSTEM",
                     "equations such as \"x' = -x^3 + y; y' = -x - y\", or a file of lines, or - for standard input: a "
                     "system, then after tabs candidates for V, as prefix tokens or infix",
                     0, 1}}},
      answer_lyapunov);
}

}  // namespace heddle

// Answers of inspect lyapunov. Builds without GiNaC and FLINT refuse it (lyapunov_refused.cpp).
#pragma once

#include <string>
#include <vector>

#include "libcore/symbolic/generators.hpp"
#include "tools/cli/arguments.hpp"

namespace heddle {

struct LyapunovOptions {
  std::vector<std::string> function;
  Index propose = 0;
  std::string claim = "stable", generate, output, portrait;
  Index count = 1000, samples = 100'000;
  double solver_seconds = 10, box = 0, reach = 2;
  bool json = false, jsonl = false, tokens = false;
  symbolic::GeneratorSettings pairs;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("function", "candidates for V, an infix expression each; several are comma-separated")
                .not_empty()
                .takes("V,...")
                .essential(),
            self.function);
    visitor(Field("propose", "largest degree of V, an even number, up to which sums of squares seek V; 0 seeks none")
                .range(0, 8)
                .takes("DEGREE")
                .essential(),
            self.propose);
    visitor(Field("claim",
                  "what must be proved at least: nonnegative (V >= V(0) and V never increases, which proves nothing of "
                  "the system), stable, asymptotic or global")
                .one_of({"nonnegative", "stable", "asymptotic", "global"})
                .takes("NAME")
                .essential(),
            self.claim);
    visitor(
        Field(
            "box",
            "without a proof for all of R^n, try to prove that V is a Lyapunov function on |x_i| <= R; 0 does not try")
            .range(0, 1000)
            .takes("R")
            .essential(),
        self.box);
    visitor(Field("output", "file of certificates to write, or of generated pairs")
                .letter('o')
                .not_empty()
                .takes("FILE")
                .essential(),
            self.output);
    visitor(Field("json", "print one JSON object").essential(), self.json);
    visitor(Field("jsonl", "print one JSON object per system, one per line").essential(), self.jsonl);
    visitor(Field("portrait",
                  "picture to write, .svg, .png or .pdf: solutions of a system of two variables, and level sets of V")
                .not_empty()
                .takes("FILE")
                .essential(),
            self.portrait);
    visitor(Field("reach", "largest coordinate in the picture").above(0, 1e6).takes("X").needs({"portrait"}),
            self.reach);
    visitor(Field("tokens",
                  "print the system as prefix tokens, polynomials expanded, as models read it, and judge nothing"),
            self.tokens);
    visitor(Field("samples", "number of points at which a candidate that is not proved is evaluated")
                .range(0, 100'000'000)
                .takes("N"),
            self.samples);
    visitor(Field("solver_seconds", "time limit of the semidefinite solver for one program")
                .above(0, 86'400)
                .takes("SECONDS"),
            self.solver_seconds);
    visitor(Field("generate",
                  "print pairs of a system and V as prefix tokens: backward (V first) or forward (a random "
                  "system whose V sums of squares find)")
                .one_of({"backward", "forward"})
                .takes("NAME")
                .essential(),
            self.generate);
    visitor(Field("count", "number of generated pairs").range(1, 100'000'000).takes("N").needs({"generate"}),
            self.count);
    visitor(Field("pairs", "Generated pairs").needs({"generate"}), self.pairs);
  }
};

// Returns the exit status.
int answer_lyapunov(const cli::Arguments& arguments, const LyapunovOptions& options);

}  // namespace heddle

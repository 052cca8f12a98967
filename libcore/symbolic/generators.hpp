// Pairs of a system and a Lyapunov function of it, from a seed: training data for models that propose V.
// Source: Alfarano, Charton, Hayat 2024, "Global Lyapunov functions: a long-standing open problem in mathematics, with
// symbolic transformers".
#pragma once

#include <cstdint>
#include <string>

#include "libcore/base/visit.hpp"
#include "libcore/symbolic/squares.hpp"
#include "libcore/symbolic/tree.hpp"

namespace heddle::symbolic {

struct GeneratorSettings {
  Index least_variables = 2, most_variables = 2;
  Index half_degree = 2;   // V has at most twice this degree
  Index field_degree = 2;  // of the polynomials that f is made of; of f itself where V is sought
  Index squares = 1;       // at most so many squares of random polynomials in V
  bool functions = false;  // sin, exp - 1 or tanh of each variable in these, and in f
  Index most_tokens = 256;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("least_variables", "smallest number of variables of a generated system").range(2, 5).takes("N"),
            self.least_variables);
    visitor(Field("most_variables", "largest number of variables of a generated system").range(2, 5).takes("N"),
            self.most_variables);
    visitor(Field("half_degree", "half of the largest degree of V").range(1, 4).takes("N"), self.half_degree);
    visitor(Field("field_degree", "degree of the random polynomials in generated systems").range(0, 6).takes("N"),
            self.field_degree);
    visitor(Field("squares", "largest number of squares of random polynomials in V").range(0, 4).takes("N"),
            self.squares);
    visitor(Field("functions", "backward pairs have sin, exp or tanh of each variable, too"), self.functions);
    visitor(Field("most_tokens", "longest source or target").range(16, 4096).takes("TOKENS"), self.most_tokens);
  }
};

struct LyapunovPair {
  System system;
  Tree function;
  std::vector<Tree> rates;  // expressions whose squares sum to -grad V . f; none of pairs whose V was sought
};

// V first: V = sum of c_i x_i^2d_i, or y'(AA' + 1)y with y_i = x_i^d_i, and squares of random p_k with p_k(0) = 0; then
//   f = -sum over i in S of h_i^2 V_i e_i + sum over k of g_k (V_j e_i - V_i e_j),   V_i = dV / dx_i,
// so that grad V . f = -sum h_i^2 V_i^2. With functions, p_k, h_i and g_k may have a function of each variable. Pair
// `number` of the seed.
class BackwardGenerator {
 public:
  // Throws UsageError for more variables at least than at most.
  BackwardGenerator(const GeneratorSettings& settings, std::uint64_t seed);
  LyapunovPair pair(std::uint64_t number) const;

 private:
  GeneratorSettings settings_;
  std::uint64_t seed_;
};

// f first: random polynomials, kept where a V of degree 2 half_degree is found by sums of squares and verified. Number
// `number` of the seed: the first system that is kept of `tries` that are drawn for it, or none.
class ForwardGenerator {
 public:
  ForwardGenerator(const GeneratorSettings& settings, std::uint64_t seed, SemidefiniteSolver solver);
  std::optional<LyapunovPair> pair(std::uint64_t number, Index tries = 100) const;

 private:
  GeneratorSettings settings_;
  std::uint64_t seed_;
  SemidefiniteSolver solver_;
};

// The polynomial times the positive number that makes its coefficients integers without a common divisor.
Polynomial primitive(const Polynomial& polynomial);

}  // namespace heddle::symbolic

// Pairs of a system and a Lyapunov function of it, from a seed: training data for models that propose V.
// Source: Alfarano, Charton, Hayat 2024, "Global Lyapunov functions: a long-standing open problem in mathematics, with
// symbolic transformers".
#pragma once

#include <cstdint>
#include <string>

#include "libcore/symbolic/generator_settings.hpp"
#include "libcore/symbolic/squares.hpp"
#include "libcore/symbolic/tree.hpp"

namespace heddle::symbolic {

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
  // Never the system f = 0. Throws UsageError where nearly all pairs are longer than most_tokens.
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

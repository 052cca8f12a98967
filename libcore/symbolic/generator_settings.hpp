// The size of generated systems and their Lyapunov functions (generators.hpp).
#pragma once

#include "libcore/base/visit.hpp"

namespace heddle::symbolic {

struct GeneratorSettings {
  Index least_variables = 2, most_variables = 2;
  Index half_degree = 2;   // V has at most twice this degree
  Index field_degree = 2;  // degree of the polynomials in f; of f itself if V is sought
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

}  // namespace heddle::symbolic

// Systems in infix: what is read can be written and read again, and judged as far as no solver is needed.
#include <cmath>

#include "fuzz/target.hpp"
#include "libcore/symbolic/numeric.hpp"
#include "libcore/symbolic/verifier.hpp"

void heddle::fuzz::infix_system(std::string_view input) {
  read_or_refuse([&] {
    const symbolic::System system = symbolic::read_system(input);
    const symbolic::System again = symbolic::read_system(symbolic::infix(system));
    const auto n = static_cast<Index>(system.names.size());
    const std::vector<double> point{0.37, -0.61, 1.3, -0.2, 0.9, 2.1, -1.7, 0.5,
                                    0.11, -0.83, 0.7, -1.1, 0.3, 1.9, -0.4, 0.6};
    for (std::size_t i = 0; i < system.fields.size(); ++i) {
      expect(polynomial_of(system.fields[i], n) == polynomial_of(again.fields[i], n),
             "a system that is written as another");
      const double value = symbolic::numeric_value(system.fields[i], point),
                   once_more = symbolic::numeric_value(again.fields[i], point);
      expect(std::abs(value - once_more) <= 1e-6 * std::abs(value) || !std::isfinite(value), "another value");
    }
    if (input.size() > 200) return;
    const symbolic::LyapunovProblem problem(system, symbolic::read_infix(system.names[0] + "^2", system.names));
    symbolic::Verifier({}, {.claim = symbolic::Claim::nonnegative, .samples = 50, .descents = 1, .seed = 1, .box = 0})
        .judge(problem);
  });
}

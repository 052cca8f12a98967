// Systems in infix: what is read can be written and read again, and judged as far as no solver is needed.
#include "fuzz/target.hpp"
#include "libcore/symbolic/verifier.hpp"

void heddle::fuzz::infix_system(std::string_view input) {
  read_or_refuse([&] {
    const symbolic::System system = symbolic::read_system(input);
    const symbolic::System again = symbolic::read_system(symbolic::infix(system));
    const auto n = static_cast<Index>(system.names.size());
    for (std::size_t i = 0; i < system.fields.size(); ++i)
      expect(polynomial_of(system.fields[i], n) == polynomial_of(again.fields[i], n),
             "a system that is written as another");
    const std::string text = symbolic::infix(again);
    expect(symbolic::infix(symbolic::read_system(text)) == text, "a text that is written otherwise");
    if (input.size() > 200) return;
    const symbolic::LyapunovProblem problem(system, symbolic::read_infix(system.names[0] + "^2", system.names));
    symbolic::Verifier({}, {.claim = symbolic::Claim::nonnegative, .samples = 50, .descents = 1, .seed = 1, .box = 0})
        .judge(problem);
  });
}

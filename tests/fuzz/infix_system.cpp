// Systems in infix: what is read can be written and read again, and judged as far as no solver is needed.
#include "fuzz/target.hpp"
#include "libcore/symbolic/verifier.hpp"

void heddle::fuzz::infix_system(std::string_view input) {
  read_or_refuse([&] {
    const symbolic::System system = symbolic::read_system(input);
    const std::string text = symbolic::infix(system);
    expect(symbolic::infix(symbolic::read_system(text)) == text, "a system that is not written as it is read");
    if (input.size() > 200) return;
    const symbolic::LyapunovProblem problem(system, symbolic::read_infix(system.names[0] + "^2", system.names));
    symbolic::Verifier({}, {.claim = symbolic::Claim::nonnegative, .samples = 50, .descents = 1, .seed = 1, .box = 0})
        .judge(problem);
  });
}

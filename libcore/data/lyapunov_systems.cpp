// Systems of differential equations with a Lyapunov function each, which sequence models learn to write. Drawn by
// libcore/symbolic, which only the tools link with.
#include "libcore/data/problems.hpp"
#include "libcore/symbolic/generator_settings.hpp"

namespace heddle::data {

namespace {

struct LyapunovFamily final : ProblemFamily {
  static constexpr const char* kind_name = "lyapunov";
  symbolic::GeneratorSettings size;
  Index pairs = 10'000;
  double forward = 0;

  void validate() const override {
    check<UsageError>(size.least_variables <= size.most_variables, "`tasks`: least-variables = ", size.least_variables,
                      " is more than most-variables = ", size.most_variables);
  }
  std::optional<SystemDraws> systems() const override { return SystemDraws{size, pairs, forward}; }

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    symbolic::GeneratorSettings::visit(self.size, visitor);
    visitor(Field("pairs", "pairs in an epoch; each epoch has new ones").range(1, 1'000'000).takes("N"), self.pairs);
    visitor(Field("forward",
                  "fraction of pairs whose system is drawn first and whose V is sought by sums of squares, which takes "
                  "the program csdp and a thousand times as long")
                .range(0, 1)
                .takes("P"),
            self.forward);
  }
};

}  // namespace

ProblemChoice lyapunov_defaults() {
  return LyapunovFamily();
}

}  // namespace heddle::data

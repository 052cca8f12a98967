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

  void validate() const override {
    check<UsageError>(size.least_variables <= size.most_variables, "`tasks`: least-variables = ", size.least_variables,
                      " is more than most-variables = ", size.most_variables);
  }
  const symbolic::GeneratorSettings* systems() const override { return &size; }
  Index systems_per_epoch() const override { return pairs; }

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    symbolic::GeneratorSettings::visit(self.size, visitor);
    visitor(Field("pairs", "pairs in an epoch; each epoch has new ones").range(1, 1'000'000).takes("N"), self.pairs);
  }
};

}  // namespace

ProblemChoice lyapunov_defaults() {
  return LyapunovFamily();
}

}  // namespace heddle::data

#include "libcore/symbolic/generators.hpp"

#include <algorithm>

#include "libcore/base/error.hpp"
#include "libcore/base/random.hpp"
#include "libcore/symbolic/draws.hpp"
#include "libcore/symbolic/verifier.hpp"

namespace heddle::symbolic {

namespace {

void check_variables(const GeneratorSettings& settings) {
  check<UsageError>(settings.least_variables <= settings.most_variables, "`least_variables` = ",
                    settings.least_variables, " is more than `most_variables` = ", settings.most_variables);
}

// A sum of one to three terms of at most this degree, and at least `least`.
Polynomial random_polynomial(Draws& draws, Index n, Index least, Index degree) {
  Polynomial sum(n);
  const Index terms = draws.between(1, 3);
  for (Index t = 0; t < terms; ++t) {
    Exponents exponents(static_cast<std::size_t>(n));
    const Index size = draws.between(least, degree);
    for (Index d = 0; d < size; ++d) ++exponents[static_cast<std::size_t>(draws.below(n))];
    sum += Polynomial(n, std::vector<Term>{{exponents, Rational(draws.with_sign(draws.between(1, 3)))}});
  }
  return sum;
}

// y'(AA' + 1)y for a random A with small integers.
Polynomial random_form(Draws& draws, const std::vector<Polynomial>& y) {
  const auto n = static_cast<Index>(y.size());
  Polynomial sum(n);
  for (const Polynomial& element : y) sum += element * element;
  for (Index row = 0; row < n; ++row) {
    Polynomial combination(n);
    for (const Polynomial& element : y) combination += Rational(draws.between(-2, 2)) * element;
    sum += combination * combination;
  }
  return sum;
}

Polynomial random_function(Draws& draws, Index n, const GeneratorSettings& settings) {
  std::vector<Polynomial> y;
  for (Index i = 0; i < n; ++i) y.push_back(Polynomial::variable(n, i).power(draws.between(1, settings.half_degree)));
  Polynomial function(n);
  if (draws.below(2) == 0) {
    for (const Polynomial& element : y) function += Rational(draws.between(1, 10)) * (element * element);
  } else {
    function += random_form(draws, y);
  }
  for (Index k = draws.between(0, settings.squares); k > 0; --k) {
    const Polynomial p = random_polynomial(draws, n, 1, settings.half_degree);
    function += p * p;
  }
  return function;
}

std::size_t tokens_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count(text, ' ')) + 1;
}

bool fits(const LyapunovPair& pair, Index most_tokens) {
  const auto most = static_cast<std::size_t>(most_tokens);
  return tokens_of(prefix(pair.system)) <= most && tokens_of(prefix(pair.function)) <= most;
}

LyapunovPair polynomial_pair(Draws& draws, Index n, const GeneratorSettings& settings) {
  const Polynomial function = random_function(draws, n, settings);
  std::vector<Polynomial> fields(static_cast<std::size_t>(n), Polynomial(n)), gradient;
  for (Index i = 0; i < n; ++i) gradient.push_back(function.derivative(i));
  LyapunovPair pair{.system = {numbered_names(n), {}}, .function = function.tree(), .rates = {}};
  for (const std::size_t i : draws.subset(static_cast<std::size_t>(n))) {
    const Polynomial h = random_polynomial(draws, n, 0, settings.field_degree / 2);
    fields[i] -= h * h * gradient[i];
    pair.rates.push_back((h * gradient[i]).tree());
  }
  for (Index k = draws.between(0, n); k > 0; --k) {
    const auto i = static_cast<std::size_t>(draws.below(n)), j = static_cast<std::size_t>(draws.below(n));
    if (i == j) continue;
    const Polynomial g = random_polynomial(draws, n, 0, settings.field_degree);
    fields[i] += g * gradient[j];
    fields[j] -= g * gradient[i];
  }
  for (const Polynomial& field : fields) pair.system.fields.push_back(field.tree());
  return pair;
}

}  // namespace

BackwardGenerator::BackwardGenerator(const GeneratorSettings& settings, std::uint64_t seed)
    : settings_(settings), seed_(seed) {
  check_variables(settings);
}

LyapunovPair BackwardGenerator::pair(std::uint64_t number) const {
  for (std::uint64_t attempt = 0;; ++attempt) {
    Draws draws(RandomStream(seed_, random_site("lyapunov/backward") + attempt, number));
    const Index n = draws.between(settings_.least_variables, settings_.most_variables);
    LyapunovPair pair = polynomial_pair(draws, n, settings_);
    // After many attempts that are too long, an impossible limit gives way rather than never ending.
    if (fits(pair, settings_.most_tokens) || attempt == 200) return pair;
  }
}

ForwardGenerator::ForwardGenerator(const GeneratorSettings& settings, std::uint64_t seed, SemidefiniteSolver solver)
    : settings_(settings), seed_(seed), solver_(std::move(solver)) {
  check_variables(settings);
  check<DataError>(solver_ != nullptr, "systems whose V is sought need the program csdp (coinor-csdp)");
}

std::optional<LyapunovPair> ForwardGenerator::pair(std::uint64_t number, Index tries) const {
  const Verifier verifier(solver_, {.claim = Claim::stable, .samples = 1000, .descents = 0, .seed = seed_});
  for (Index attempt = 0; attempt < tries; ++attempt) {
    Draws draws(RandomStream(seed_, random_site("lyapunov/forward") + static_cast<std::uint64_t>(attempt), number));
    const Index n = draws.between(settings_.least_variables, settings_.most_variables);
    System system{numbered_names(n), {}};
    for (Index i = 0; i < n; ++i)
      system.fields.push_back(random_polynomial(draws, n, 1, std::max<Index>(1, settings_.field_degree)).tree());
    const auto found = proposed_function(system, settings_.half_degree, solver_, 6);
    if (!found || found->is_zero()) continue;
    LyapunovPair pair{std::move(system), primitive(*found).tree(), {}};
    if (!fits(pair, settings_.most_tokens)) continue;
    if (verifier.judge({pair.system, pair.function}).verdict == Verdict::certified) return pair;
  }
  return std::nullopt;
}

Polynomial primitive(const Polynomial& polynomial) {
  const Rational content = polynomial.content();
  if (content.is_zero()) return polynomial;
  return Rational(1) / (content.sign() < 0 ? -content : content) * polynomial;
}

}  // namespace heddle::symbolic

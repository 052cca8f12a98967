#include "libcore/symbolic/generators.hpp"

#include <algorithm>

#include "libcore/base/error.hpp"
#include "libcore/base/random.hpp"
#include "libcore/symbolic/draws.hpp"
#include "libcore/symbolic/verifier.hpp"

namespace heddle::symbolic {

namespace {

void check_variables(const GeneratorSettings& settings) {
  check<UsageError>(settings.least_variables <= settings.most_variables,
                    "`least_variables` = ", settings.least_variables,
                    " is more than `most_variables` = ", settings.most_variables);
}

// The variables of generated polynomials: x_i, then with functions s_i, a function of x_i, and cos x_i.
struct GeneratorRing {
  Index n;
  std::vector<Node> functions;  // for each variable, or none

  Index size() const { return functions.empty() ? n : 3 * n; }
  // Variables of random polynomials: not the cosines, which derivatives introduce.
  Index drawn() const { return functions.empty() ? n : 2 * n; }
  Polynomial variable(Index i) const { return Polynomial::variable(size(), i); }
  Polynomial zero() const { return Polynomial(size()); }

  // d / dx_i.
  Polynomial derivative(const Polynomial& polynomial, Index i) const {
    Polynomial result = polynomial.derivative(i);
    if (functions.empty()) return result;
    const Polynomial s = variable(n + i), one(size(), Rational(1));
    const Node node = functions[static_cast<std::size_t>(i)];
    const Polynomial inner = node == Node::sine ? variable(2 * n + i) : node == Node::tanh ? one - s * s : one + s;
    return result += polynomial.derivative(n + i) * inner;
  }

  // The polynomial with functions in place of their variables.
  Tree tree(const Polynomial& polynomial) const { return replaced(polynomial.tree()); }

 private:
  Tree replaced(Tree tree) const {
    for (Tree& part : tree.parts) part = replaced(std::move(part));
    if (tree.node != Node::variable || tree.variable < n) return tree;
    const Index of = tree.variable % n;
    const Node node = tree.variable < 2 * n ? functions[static_cast<std::size_t>(of)] : Node::cosine;
    Tree function{.node = node, .number = {}, .variable = 0, .parts = {}};
    function.parts.push_back({.node = Node::variable, .number = {}, .variable = of, .parts = {}});
    if (node != Node::exponential) return function;
    Tree shifted{.node = Node::difference, .number = {}, .variable = 0, .parts = {}};
    shifted.parts = {std::move(function), {.node = Node::number, .number = Rational(1), .variable = 0, .parts = {}}};
    return shifted;
  }
};

// A sum of one to three terms of at most this degree, and at least `least`.
Polynomial random_polynomial(Draws& draws, const GeneratorRing& ring, Index least, Index degree) {
  Polynomial sum = ring.zero();
  const Index terms = draws.between(1, 3);
  for (Index t = 0; t < terms; ++t) {
    Exponents exponents(static_cast<std::size_t>(ring.size()));
    const Index size = draws.between(least, degree);
    for (Index d = 0; d < size; ++d) ++exponents[static_cast<std::size_t>(draws.below(ring.drawn()))];
    sum += Polynomial(ring.size(), std::vector<Term>{{exponents, Rational(draws.with_sign(draws.between(1, 3)))}});
  }
  return sum;
}

// y'(AA' + 1)y for a random A with small integers.
Polynomial random_form(Draws& draws, const std::vector<Polynomial>& y) {
  Polynomial sum(y[0].variables());
  for (const Polynomial& element : y) sum += element * element;
  for (std::size_t row = 0; row < y.size(); ++row) {
    Polynomial combination(y[0].variables());
    for (const Polynomial& element : y) combination += Rational(draws.between(-2, 2)) * element;
    sum += combination * combination;
  }
  return sum;
}

Polynomial random_function(Draws& draws, const GeneratorRing& ring, const GeneratorSettings& settings) {
  std::vector<Polynomial> y;
  for (Index i = 0; i < ring.n; ++i) y.push_back(ring.variable(i).power(draws.between(1, settings.half_degree)));
  Polynomial function = ring.zero();
  if (draws.below(2) == 0) {
    for (const Polynomial& element : y) function += Rational(draws.between(1, 10)) * (element * element);
  } else {
    function += random_form(draws, y);
  }
  for (Index k = draws.between(0, settings.squares); k > 0; --k) {
    const Polynomial p = random_polynomial(draws, ring, 1, settings.half_degree);
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

// f = 0, of which every V is one.
bool is_at_rest(const System& system) {
  return std::ranges::all_of(system.fields,
                             [](const Tree& field) { return field.node == Node::number && field.number.is_zero(); });
}

LyapunovPair random_pair(Draws& draws, const GeneratorRing& ring, const GeneratorSettings& settings) {
  const Polynomial function = random_function(draws, ring, settings);
  std::vector<Polynomial> fields(static_cast<std::size_t>(ring.n), ring.zero()), gradient;
  for (Index i = 0; i < ring.n; ++i) gradient.push_back(ring.derivative(function, i));
  LyapunovPair pair{.system = {numbered_names(ring.n), {}}, .function = ring.tree(function), .rates = {}};
  for (const std::size_t i : draws.subset(static_cast<std::size_t>(ring.n))) {
    const Polynomial h = random_polynomial(draws, ring, 0, settings.field_degree / 2);
    fields[i] -= h * h * gradient[i];
    pair.rates.push_back(ring.tree(h * gradient[i]));
  }
  for (Index k = draws.between(0, ring.n); k > 0; --k) {
    const auto i = static_cast<std::size_t>(draws.below(ring.n)), j = static_cast<std::size_t>(draws.below(ring.n));
    if (i == j) continue;
    const Polynomial g = random_polynomial(draws, ring, 0, settings.field_degree);
    fields[i] += g * gradient[j];
    fields[j] -= g * gradient[i];
  }
  for (const Polynomial& field : fields) pair.system.fields.push_back(ring.tree(field));
  return pair;
}

// False where the linear part has an eigenvalue with a positive real part, so that 0 is unstable and has no V: then a
// coefficient of its characteristic polynomial is negative (by Faddeev and LeVerrier's recurrence, exactly).
bool may_be_stable(const std::vector<Polynomial>& fields) {
  const std::size_t n = fields.size();
  using Matrix = std::vector<std::vector<Rational>>;
  Matrix linear(n, std::vector<Rational>(n)), product(n, std::vector<Rational>(n));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) linear[i][j] = fields[i].derivative(static_cast<Index>(j)).constant();
  Rational coefficient(1);
  for (std::size_t k = 1; k <= n; ++k) {
    for (std::size_t i = 0; i < n; ++i) product[i][i] += coefficient;
    Matrix next(n, std::vector<Rational>(n));
    Rational trace;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j)
        for (std::size_t l = 0; l < n; ++l) next[i][j] += linear[i][l] * product[l][j];
      trace += next[i][i];
    }
    coefficient = -trace / Rational(static_cast<Index>(k));
    if (coefficient.sign() < 0) return false;
    product = std::move(next);
  }
  return true;
}

GeneratorRing random_ring(Draws& draws, const GeneratorSettings& settings) {
  GeneratorRing ring{draws.between(settings.least_variables, settings.most_variables), {}};
  static constexpr Node nodes[] = {Node::sine, Node::exponential, Node::tanh};
  for (Index i = 0; settings.functions && i < ring.n; ++i) ring.functions.push_back(nodes[draws.below(3)]);
  return ring;
}

}  // namespace

BackwardGenerator::BackwardGenerator(const GeneratorSettings& settings, std::uint64_t seed)
    : settings_(settings), seed_(seed) {
  check_variables(settings);
}

LyapunovPair BackwardGenerator::pair(std::uint64_t number) const {
  for (std::uint64_t attempt = 0;; ++attempt) {
    Draws draws(RandomStream(seed_, random_site("lyapunov/backward") + attempt, number));
    LyapunovPair pair = random_pair(draws, random_ring(draws, settings_), settings_);
    if (is_at_rest(pair.system)) continue;
    if (fits(pair, settings_.most_tokens)) return pair;
    check<UsageError>(attempt < 1000, "`most_tokens` = ", settings_.most_tokens,
                      " leaves no pair of this size; raise it, or lower `half_degree` or `least_variables`");
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
    const GeneratorRing ring{draws.between(settings_.least_variables, settings_.most_variables), {}};
    System system{numbered_names(ring.n), {}};
    std::vector<Polynomial> fields;
    for (Index i = 0; i < ring.n; ++i) {
      fields.push_back(random_polynomial(draws, ring, 1, std::max<Index>(1, settings_.field_degree)));
      system.fields.push_back(fields.back().tree());
    }
    if (!may_be_stable(fields)) continue;
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

#include "libcore/analysis/contributions.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "libcore/models/summed_vectors.hpp"
#include "libcore/ops/cross_entropy.hpp"
#include "libcore/ops/embedding.hpp"
#include "libcore/ops/linear.hpp"
#include "libcore/ops/segment_sum.hpp"

namespace heddle::analysis {

namespace {

// Points of Gauss and Legendre on [0, 1], and their weights, of order 8.
constexpr std::array<std::pair<double, double>, 8> gauss_points{{{0.019855071751231884, 0.050614268145188130},
                                                                 {0.101666761293186630, 0.111190517226687235},
                                                                 {0.237233795041835507, 0.156853322938943644},
                                                                 {0.408282678752175098, 0.181341891689180991},
                                                                 {0.591717321247824902, 0.181341891689180991},
                                                                 {0.762766204958164493, 0.156853322938943644},
                                                                 {0.898333238706813370, 0.111190517226687235},
                                                                 {0.980144928248768116, 0.050614268145188130}}};

using Gates = std::vector<Real>;  // one per token

// F as a function of the gates of its tokens.
class GatedFunction {
 public:
  GatedFunction(const TokenFunction& function, const nn::GateBaseline& baseline)
      : function_(function), baseline_(baseline), tokens_(static_cast<Index>(function.ids.size())) {}

  // The value of each row of gates.
  std::vector<double> values(std::span<const Gates> rows) const {
    std::vector<double> result;
    for_each_batch(rows, [&](std::span<const Gates> some) {
      const Variable gates(joined(some));
      const Tensor numbers = computed(gates, static_cast<Index>(some.size())).value();
      const std::vector<double> values = picked(numbers);
      result.insert(result.end(), values.begin(), values.end());
    });
    return result;
  }
  double value(const Gates& gates) const { return values({&gates, 1}).front(); }

  // dF/dg of each row and token, [rows * tokens].
  std::vector<double> derivatives(std::span<const Gates> rows) const {
    std::vector<double> result;
    for_each_batch(rows, [&](std::span<const Gates> some) {
      const Variable gates = leaf(joined(some));
      Recording recording;
      recording.backward(sum(computed(gates, static_cast<Index>(some.size()))));
      const Tensor gradient = gates.gradient()->tensor();
      check<UsageError>(!gradient.empty(), "the model's answer has no derivative by vectors of tokens");
      for (Index i = 0; i < gradient.size(); ++i) result.push_back(finite(gradient[i]));
    });
    return result;
  }

 private:
  template <class Visit>
  void for_each_batch(std::span<const Gates> rows, const Visit& visit) const {
    constexpr std::size_t tokens_at_once = 4096;
    const std::size_t count = std::max<std::size_t>(1, tokens_at_once / function_.ids.size());
    for (std::size_t at = 0; at < rows.size(); at += count) visit(rows.subspan(at, std::min(count, rows.size() - at)));
  }

  Tensor joined(std::span<const Gates> rows) const {
    const Tensor gates({static_cast<Index>(rows.size()) * tokens_});
    Real* to = gates.data();
    for (const Gates& row : rows) to = std::ranges::copy(row, to).out;
    return gates;
  }

  Variable computed(const Variable& gates, Index copies) const {
    models::Sequences sequences{TokenIds(Shape{copies, tokens_})};
    for (Index copy = 0; copy < copies; ++copy) {
      std::ranges::copy(function_.ids, sequences.ids.ids.begin() + copy * tokens_);
      sequences.segments.insert(sequences.segments.end(), function_.segments.begin(), function_.segments.end());
    }
    nn::EmbeddingGates embedding_gates(sequences.ids, gates, baseline_);
    const Variable numbers = function_.numbers(sequences);
    check<UsageError>(embedding_gates.was_used(), "the model looks up no vectors of single tokens");
    return numbers;
  }

  static double finite(Real number) {
    check<NumericError>(std::isfinite(number), "the model's answer is not finite");
    return static_cast<double>(number);
  }
  std::vector<double> picked(const Tensor& numbers) const {
    const Index rows = numbers.shape()[0], columns = numbers.shape()[1];
    std::vector<double> values;
    if (function_.is_log_softmax) {
      values = ops::negative_log_likelihoods(numbers, targets(rows));
      for (double& value : values) value = -finite(static_cast<Real>(value));
      return values;
    }
    for (Index row = 0; row < rows; ++row) values.push_back(finite(numbers[row * columns + function_.number]));
    return values;
  }
  std::vector<TokenId> targets(Index rows) const {
    return std::vector<TokenId>(static_cast<std::size_t>(rows), static_cast<TokenId>(function_.number));
  }
  // The sum of F over the copies: [1].
  Variable sum(const Variable& numbers) const {
    const Index rows = numbers.shape()[0], columns = numbers.shape()[1];
    ops::Segments all;
    if (function_.is_log_softmax) {
      const Variable loss = ops::cross_entropy(numbers, targets(rows), {.divisor = 1});
      all.close(1, Real(-1));
      return ops::segment_sum(view(loss, [](const Tensor& t) { return t.reshaped({1, 1}); }), all);
    }
    const Tensor chosen({1, columns}, Real(0));
    chosen[function_.number] = 1;
    all.close(rows, Real(1));
    return ops::segment_sum(ops::linear(numbers, Variable(chosen), {}, {.output = DType::real}), all);
  }

  const TokenFunction& function_;
  const nn::GateBaseline& baseline_;
  Index tokens_;
};

// Gates of `share` for the tokens of words, 1 for the others.
Gates gates_at(double share, std::size_t tokens, std::span<const Places> words) {
  Gates gates(tokens, Real(1));
  for (const Places& word : words) {
    for (const Index place : word) gates[static_cast<std::size_t>(place)] = static_cast<Real>(share);
  }
  return gates;
}

std::vector<double> summed_by_word(std::span<const double> tokens, std::span<const Places> words) {
  std::vector<double> sums;
  for (const Places& word : words) {
    sums.push_back(0);
    for (const Index place : word) sums.back() += tokens[static_cast<std::size_t>(place)];
  }
  return sums;
}

// Integrals over parts of [0, 1], each as good as its length allows.
class PathIntegral {
 public:
  PathIntegral(const GatedFunction& function, std::size_t tokens, std::span<const Places> words, double unit)
      : function_(function), tokens_(tokens), words_(words), sums_(words.size(), 0), unit_(unit) {}

  Contributions operator()() {
    Contributions result;
    const double base = value_at(0), value = value_at(1);
    allowed_ = explained_gap / 2 * std::max(1 / unit_, std::abs(value - base));
    add(0, 1, base, value);
    result.value = value;
    result.base = base;
    result.steps = steps_;
    result.gap = value - base - std::accumulate(sums_.begin(), sums_.end(), 0.0);
    result.words = std::move(sums_);
    return result;
  }

 private:
  double value_at(double place) const { return function_.value(gates_at(place, tokens_, words_)); }

  void add(double from, double to, double at_from, double at_to) {
    const double length = to - from;
    std::vector<Gates> rows;
    for (const auto& [point, weight] : gauss_points) rows.push_back(gates_at(from + length * point, tokens_, words_));
    const std::vector<double> derivatives = function_.derivatives(rows);
    steps_ += static_cast<Index>(rows.size());
    std::vector<double> parts(words_.size(), 0);
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const auto of_words = summed_by_word(std::span(derivatives).subspan(row * tokens_, tokens_), words_);
      for (std::size_t w = 0; w < parts.size(); ++w) parts[w] += length * gauss_points[row].second * of_words[w];
    }
    const double gap = std::abs(at_to - at_from - std::accumulate(parts.begin(), parts.end(), 0.0));
    const bool may_halve = steps_ + 2 * std::ssize(gauss_points) <= most_explained_steps && length > 1e-6;
    constexpr double shortest = 1.0 / 32;  // below which rounding counts
    if (gap > allowed_ * std::max(length, shortest) && may_halve) {
      const double middle = from + length / 2, at_middle = value_at(middle);
      add(from, middle, at_from, at_middle);
      add(middle, to, at_middle, at_to);
      return;
    }
    for (std::size_t w = 0; w < parts.size(); ++w) sums_[w] += parts[w];
  }

  const GatedFunction& function_;
  std::size_t tokens_;
  std::span<const Places> words_;
  std::vector<double> sums_;
  double unit_, allowed_ = 0;
  Index steps_ = 0;
};

Contributions left_out(const GatedFunction& function, std::size_t tokens, std::span<const Places> words) {
  std::vector<Gates> rows{Gates(tokens, Real(1))};
  for (const Places& word : words) rows.push_back(gates_at(0, tokens, {&word, 1}));
  const std::vector<double> values = function.values(rows);
  Contributions result{.value = values.front()};
  for (std::size_t w = 0; w < words.size(); ++w) result.words.push_back(values.front() - values[w + 1]);
  return result;
}

Contributions from_gradient(const GatedFunction& function, std::size_t tokens, std::span<const Places> words) {
  const Gates open(tokens, Real(1));
  const std::vector<double> derivatives = function.derivatives({&open, 1});
  return {.value = function.value(open), .words = summed_by_word(derivatives, words)};
}

}  // namespace

Contributions contributions(const TokenFunction& function, std::span<const Places> words, Explaining method,
                            const nn::GateBaseline& baseline) {
  const nn::GateBaseline zero = nn::GateBaseline::zero();
  const GatedFunction gated(function, method == Explaining::gradient ? zero : baseline);
  const std::size_t tokens = function.ids.size();
  if (method == Explaining::leave_out) return left_out(gated, tokens, words);
  if (method == Explaining::gradient) return from_gradient(gated, tokens, words);
  return PathIntegral(gated, tokens, words, function.unit)();
}

Contributions summed_contributions(const models::TaskModel& model, std::span<const TokenId> ids,
                                   std::optional<Index> position, Index number, std::span<const Places> words) {
  const auto& body = models::require<models::SummedVectors>(model.body(), "an exact explanation", "the model");
  check<UsageError>(!model.task().layer_mix, "a mix of layers has no exact contributions");
  std::vector<Index> positions{position.value_or(0)};
  if (!position && model.task().pooling == models::Pooling::last) positions = {std::ssize(ids) - 1};
  if (!position && model.task().pooling == models::Pooling::mean) {
    positions.resize(ids.size());
    std::iota(positions.begin(), positions.end(), Index{0});
  }
  const Variable& matrix = model.parameters().find("task/weight")->variable;
  const Tensor weight = ops::embed(TokenIds(Shape{1}, {static_cast<TokenId>(number)}), matrix).value();
  const Tensor& bias = model.parameters().find("task/bias")->value();
  const Index width = body.width();
  std::vector<double> tokens(ids.size(), 0);
  for (const Index each : positions) {
    const std::vector<double> summands = body.summands(ids, each);
    for (std::size_t i = 0; i < summands.size(); ++i) {
      const auto column = static_cast<Index>(i) % width;
      tokens[i / static_cast<std::size_t>(width)] +=
          summands[i] * static_cast<double>(weight[column]) / static_cast<double>(positions.size());
    }
  }
  Contributions result{.words = summed_by_word(tokens, words)};
  result.value = static_cast<double>(bias[number]) + std::accumulate(tokens.begin(), tokens.end(), 0.0);
  result.base = result.value - std::accumulate(result.words.begin(), result.words.end(), 0.0);
  return result;
}

}  // namespace heddle::analysis

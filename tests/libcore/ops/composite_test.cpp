// All operations together, as a small language model would use them.
#include <doctest/doctest.h>

#include "libcore/autograd/parameters.hpp"
#include "libcore/ops/activation.hpp"
#include "libcore/ops/arithmetic.hpp"
#include "libcore/ops/cross_entropy.hpp"
#include "libcore/ops/dropout.hpp"
#include "libcore/ops/embedding.hpp"
#include "libcore/ops/fused_attention.hpp"
#include "libcore/ops/linear.hpp"
#include "libcore/ops/norm.hpp"
#include "libcore/tensor/pool.hpp"
#include "support/footprint.hpp"
#include "support/gradient_check.hpp"
#include "support/on_threads.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace {

constexpr Index composite_batch = 2, composite_time = 9, composite_width = 8, composite_heads = 2, composite_vocab = 13,
                composite_hidden = 20;

// One block and tied embeddings; every parameter is of length above zero and none is at a symmetric point.
class Model {
 public:
  Model() {
    const Scope scope(parameters_, "model");
    const Initializer normal = Initializer::normal(0.5);
    table_ = scope.parameter("table", {composite_vocab, composite_width}, normal, Decay::yes);
    positions_ = scope.parameter("positions", {composite_time, composite_width}, normal, Decay::yes);
    gain_ = scope.parameter("gain", {composite_width}, normal, Decay::no);
    bias_ = scope.parameter("bias", {composite_width}, normal, Decay::no);
    mixing_ = scope.stacked({"query", "key", "value"}, {composite_width, composite_width}, normal, Decay::yes);
    up_ = scope.parameter("up", {composite_hidden, composite_width}, normal, Decay::yes);
    up_bias_ = scope.parameter("up_bias", {composite_hidden}, normal, Decay::no);
    down_ = scope.parameter("down", {composite_width, composite_hidden}, normal, Decay::yes);
    last_gain_ = scope.parameter("last_gain", {composite_width}, normal, Decay::no);
  }

  Parameters& parameters() { return parameters_; }

  Variable loss() const {
    const TokenIds ids({composite_batch, composite_time}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 11, 10, 9, 1, 1, 1, 2, 3});
    const std::vector<TokenId> targets{1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 10, 9, 1, 1, 1, 2, -1, -1};
    const RandomStream noise(1, random_site("dropout"));
    Variable x = ops::add_to_each(ops::embed(ids, table_), positions_);
    x = ops::add(x, attend(ops::layer_norm(x, gain_, bias_, Real(1e-5))));
    const Variable inner = ops::activate(ops::linear(x, up_, up_bias_), Activation::gelu);
    x = ops::add(x, ops::dropout(ops::linear(inner, down_), 0.2, noise));
    const Variable logits = ops::linear(ops::rms_norm(ops::scale(x, 2), last_gain_, Real(1e-5)), table_);
    return ops::cross_entropy(logits, targets, {.smoothing = 0.1});
  }

 private:
  Variable attend(const Variable& x) const {
    const Variable stacked = ops::linear(x, mixing_);
    const auto part = [&](Index i) {
      return view(stacked, [i](const Tensor& t) {
        return t.narrowed(-1, i * composite_width, composite_width).split(-1, composite_heads).swapped(1, 2);
      });
    };
    const Variable mixed = ops::fused_attention(part(0), part(1), part(2), {Real(0.5), {.causal = true}, 4});
    return view(mixed, [](const Tensor& t) { return t.reshaped({composite_batch, composite_time, composite_width}); });
  }

  Parameters parameters_{1};
  Variable table_, positions_, gain_, bias_, mixing_, up_, up_bias_, down_, last_gain_;
};

// The loss, then every gradient.
std::vector<Real> step(Model& model) {
  model.parameters().clear_gradients();
  Recording recording;
  const Variable loss = model.loss();
  recording.backward(loss);
  std::vector<Real> numbers{loss.value()[0]};
  for (const Parameter& parameter : model.parameters().all()) {
    const std::vector<Real> gradient = parameter.gradient().elements();
    numbers.insert(numbers.end(), gradient.begin(), gradient.end());
  }
  return numbers;
}

}  // namespace

TEST_CASE("operations together: gradients of every parameter equal differences") {
  Model model;
  step(model);
  for (const Parameter& parameter : model.parameters().all()) {
    CAPTURE(parameter.name);
    const double greatest = largest(parameter.gradient());
    CHECK(greatest > 1e-4);
    for (Index i = 0; real_is_double && i < parameter.size(); ++i) {
      Real& element = parameter.value()[i];
      const auto loss_at = [&, before = element](Real shift) {
        element = before + shift;
        const Real loss = model.loss().value()[0];
        element = before;
        return static_cast<double>(loss);
      };
      const double numeric = (loss_at(Real(1e-5)) - loss_at(Real(-1e-5))) / 2e-5;
      const auto analytic = static_cast<double>(parameter.gradient().copy().reshaped({parameter.size()})[i]);
      // The loss is near 3, so its difference is good to about 1e-10.
      CHECK(std::abs(analytic - numeric) < 1e-6 * std::max(1e-3, std::abs(analytic) + std::abs(numeric)));
    }
  }
}

TEST_CASE("operations together: steps repeat to the bit, on any number of threads") {
  Model model;
  const std::vector<Real> expected = step(model);
  CHECK(expected.size() == static_cast<std::size_t>(model.parameters().count()) + 1);
  for (const int threads : {1, 2, 3}) {
    const OnThreads scope(threads);
    CAPTURE(threads);
    CHECK(step(model) == expected);
  }
}

TEST_CASE("operations together: once warm, nothing is asked of the system") {
  Model model;
  const OnThreads scope(1);
  // The first step's persistent gradients may take blocks that it used before, so the second one asks for those again.
  for (int i = 0; i < 2; ++i) step(model);
  const PoolStatistics warm = pool().statistics();
  for (int i = 0; i < 3; ++i) step(model);
  CHECK(pool().statistics().system_allocations == warm.system_allocations);
  CHECK(pool().statistics().bytes_in_use == warm.bytes_in_use);
}

TEST_CASE("operations together: evaluation records nothing and takes less memory than training") {
  Model model;
  step(model);
  const std::size_t training = footprint([&] { step(model); });
  const std::size_t evaluation = footprint([&] { CHECK(model.loss().gradient() == nullptr); });
  CHECK(4 * evaluation < 3 * training);
}

// Muon: momentum whose matrices are made nearly orthogonal. For a matrix W [out, in] inside the model, with gradient G:
//   M = mu M + G,   U = G + mu M,   X = U / |U|_F,
//   five times  A = X X^T, X = a X + (b A + c A^2) X   with a, b, c = 3.4445, -4.7750, 2.0315,
//   W -= r (sqrt(max(1, out / in)) X + decay W).
// The steps of Newton and Schulz bring all singular values of X near 1, so that a step moves every direction alike. Of
// a tall matrix X^T X stands for X X^T, on the other side. Embeddings, norms, biases and heads are updated by AdamW, or
// where they are coupled by the rule of coupled.cpp, at a fraction of the rate.
//
// Source: Jordan et al. 2024, "Muon: an optimizer for hidden layers in neural networks" (kellerjordan.github.io).
#include <cmath>

#include "libcore/nn/parts.hpp"
#include "libcore/tensor/context.hpp"
#include "libcore/tensor/kernel.hpp"
#include "libcore/tensor/matmul.hpp"
#include "libcore/training/adam.hpp"
#include "libcore/training/slices.hpp"

namespace heddle::training {

namespace {

constexpr int newton_schulz_steps = 5;
constexpr Real linear = Real(3.4445), cubic = Real(-4.7750), quintic = Real(2.0315);

// Whether it multiplies hidden states and gives hidden states.
bool is_hidden_matrix(const Parameter& parameter) {
  const std::string_view part = nn::parts::of_parameter(parameter.name);
  const bool is_outside = part == nn::parts::token_embeddings || part == nn::parts::positions ||
                          part == nn::parts::segments || part == nn::parts::output || parameter.is_output ||
                          parameter.name.starts_with("task/");
  return parameter.value().shape().rank() == 2 && parameter.decay == Decay::yes && !is_outside;
}

HEDDLE_KERNEL void add_momentum(Real momentum, Real scale, const Real* g, Real* m, Real* u, Index count) {
  for (Index i = 0; i < count; ++i) {
    m[i] = momentum * m[i] + scale * g[i];
    u[i] = scale * g[i] + momentum * m[i];
  }
}

HEDDLE_KERNEL void descend(Real keep, Real rate, const Real* x, Real* w, Index count) {
  for (Index i = 0; i < count; ++i) w[i] = keep * w[i] - rate * x[i];
}

// y += factor x
HEDDLE_KERNEL void add_scaled(Real factor, const Real* x, Real* y, Index count) {
  for (Index i = 0; i < count; ++i) y[i] += factor * x[i];
}

HEDDLE_KERNEL void scale_by(Real factor, Real* x, Index count) {
  for (Index i = 0; i < count; ++i) x[i] *= factor;
}

template <class Kernel>
void for_slices(const Tensor& tensor, const Kernel& kernel) {
  parallel_ranges(tensor.size(), slice_elements, [&](Index begin, Index end) { kernel(begin, end - begin); });
}

// b A + c A^2 of a square matrix A.
void polynomial_of(const Tensor& a, const Tensor& result) {
  matmul(matrix(a), matrix(a), target(result), quintic);
  for_slices(a, [&](Index at, Index count) { add_scaled(cubic, a.data() + at, result.data() + at, count); });
}

void add_identity(Real factor, const Tensor& square) {
  const Index side = square.shape()[0];
  for (Index i = 0; i < side; ++i) square.data()[i * side + i] += factor;
}

// X X^T, or of a tall matrix X^T X.
void square_of(const Tensor& x, bool is_tall, const Tensor& result) {
  is_tall ? matmul(transpose(x), matrix(x), target(result)) : matmul(matrix(x), transpose(x), target(result));
}

// X becomes (kept I + P) X, or of a tall matrix X (kept I + P).
void apply(const Tensor& p, Real kept, bool is_tall, const Tensor& x) {
  const Tensor product(x.shape());
  product.assign(x);
  is_tall ? matmul(matrix(x), matrix(p), target(product), 1, kept)
          : matmul(matrix(p), matrix(x), target(product), 1, kept);
  x.assign(product);
}

void iterate(const Tensor& x, bool is_tall, Index side) {
  const Tensor square({side, side}), polynomial({side, side});
  for (int step = 0; step < newton_schulz_steps; ++step) {
    square_of(x, is_tall, square);
    polynomial_of(square, polynomial);
    apply(polynomial, linear, is_tall, x);
  }
}

// The same with products of small matrices: each P is a polynomial of A = X X^T and commutes with it, so that the next
// A is P P A, and X is multiplied once, by the product of all P. In bfloat16 the errors of A would grow in each step.
void iterate_small(const Tensor& x, bool is_tall, Index side) {
  const Tensor square({side, side}), polynomial({side, side}), product({side, side}), next({side, side});
  square_of(x, is_tall, square);
  for (int step = 0; step < newton_schulz_steps; ++step) {
    polynomial_of(square, polynomial);
    add_identity(linear, polynomial);
    if (step == 0) {
      product.assign(polynomial);
    } else {
      matmul(matrix(polynomial), matrix(product), target(next));
      product.assign(next);
    }
    if (step + 1 == newton_schulz_steps) break;
    matmul(matrix(polynomial), matrix(square), target(next));
    matmul(matrix(polynomial), matrix(next), target(square));
  }
  apply(product, 0, is_tall, x);
}

// X [rows, columns] in place.
void orthogonalize(const Tensor& x) {
  constexpr double least_norm = 1e-7;
  const Index rows = x.shape()[0], columns = x.shape()[1], side = std::min(rows, columns);
  const auto factor = static_cast<Real>(1 / (std::sqrt(sum_of_squares(x)) + least_norm));
  for_slices(x, [&](Index at, Index count) { scale_by(factor, x.data() + at, count); });
  const bool is_small = Context::current().precision() == Precision::f32 && std::max(rows, columns) >= 2 * side;
  is_small ? iterate_small(x, rows > columns, side) : iterate(x, rows > columns, side);
}

// All ranks' parts of a matrix together.
Tensor gathered(const Tensor& part, const nn::PartOfWhole& of, const parallel::Group& group) {
  Shape shape = part.shape();
  const Index own = shape[of.dimension];
  shape.set(of.dimension, of.whole);
  const Tensor whole(shape);
  Index begin = 0;
  for (const std::vector<Real>& elements : group.gather(part.elements())) {
    whole.narrowed(of.dimension, begin, own).assign(Tensor(part.shape(), elements));
    begin += own;
  }
  return whole;
}

class Muon : public Optimizer {
 public:
  struct Rates {
    double momentum, weight_decay, others;
    bool coupled;
  };
  Muon(const Rates& rates, const AdamSettings& of_others, Parameters& parameters)
      : rates_(rates),
        others_((rates.coupled ? make_coupled : make_adamw)(
            of_others, parameters, [](const Parameter& of) { return !is_hidden_matrix(of); })) {
    for (const Parameter& parameter : parameters.all()) {
      if (!parameter.is_trained() || !is_hidden_matrix(parameter)) continue;
      matrices_.push_back({&parameter, Tensor(parameter.value().shape(), 0)});
    }
  }

  std::vector<StateTensor> state() const override {
    std::vector<StateTensor> all = others_->state();
    for (const Matrix& matrix : matrices_) all.push_back({"m/" + matrix.parameter->name, matrix.m});
    return all;
  }

  std::string warning() const override {
    return matrices_.empty() ? "optimizer muon is adamw here: no matrices inside the model are trained" : "";
  }

  void share(const nn::ModelRanks& ranks) override { ranks_ = &ranks; }

  void update(const UpdateStep& step) override {
    UpdateStep slower = step;
    slower.learning_rate *= rates_.others;
    others_->update(slower);
    Section section("optimizer");
    for (const Matrix& matrix : matrices_) update_matrix(matrix, step);
  }

 private:
  struct Matrix {
    const Parameter* parameter;
    Tensor m;
  };

  void update_matrix(const Matrix& matrix, const UpdateStep& step) const {
    const Tensor weights = matrix.parameter->value(), gradient = matrix.parameter->gradient();
    const Tensor x(weights.shape());
    const auto momentum = static_cast<Real>(rates_.momentum), scale = static_cast<Real>(step.gradient_scale);
    for_slices(x, [&](Index at, Index count) {
      add_momentum(momentum, scale, gradient.data() + at, matrix.m.data() + at, x.data() + at, count);
    });
    const Shape shape = orthogonalize_whole(x, matrix.parameter->name);
    const auto out = static_cast<double>(shape[0]), in = static_cast<double>(shape[1]);
    const double rate = step.learning_rate * matrix.parameter->rate;
    const auto keep = static_cast<Real>(1 - rate * rates_.weight_decay);
    const auto of_x = static_cast<Real>(rate * std::sqrt(std::max(1.0, out / in)));
    for_slices(x, [&](Index at, Index count) { descend(keep, of_x, x.data() + at, weights.data() + at, count); });
  }

  // x as a part of what is made orthogonal, where ranks have parts, each of which makes all of it. Returns its shape.
  Shape orthogonalize_whole(const Tensor& x, const std::string& parameter) const {
    const nn::PartOfWhole* const part = ranks_ == nullptr ? nullptr : ranks_->part_of(parameter);
    if (part == nullptr) {
      orthogonalize(x);
      return x.shape();
    }
    const Tensor whole = gathered(x, *part, ranks_->group());
    orthogonalize(whole);
    x.assign(nn::part_of(whole, *part, x.shape()));
    return whole.shape();
  }

  Rates rates_;
  const nn::ModelRanks* ranks_ = nullptr;  // ranks that share the model; null: none do
  std::unique_ptr<Optimizer> others_;
  std::vector<Matrix> matrices_;
};

struct MuonSettings final : AdamSettings {
  static constexpr const char* kind_name = "muon";
  double momentum = 0.95, others = 0.15;
  bool coupled = false;
  MuonSettings() {
    beta2 = 0.95;
    weight_decay = 0.1;
  }

  double usual_rate(double) const override { return 0.02; }
  std::unique_ptr<Optimizer> make(Parameters& parameters) const override {
    return std::make_unique<Muon>(Muon::Rates{momentum, weight_decay, others, coupled}, *this, parameters);
  }

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("momentum", "momentum coefficient of matrices").range(0, 0.999999).takes("X"), self.momentum);
    visitor(Field("others",
                  "learning rate of embeddings, norms and heads, which AdamW updates, as a fraction of the matrices'")
                .above(0, 1000)
                .takes("X"),
            self.others);
    visitor(Field("coupled", "update output embeddings by the rule `coupled` instead of AdamW"), self.coupled);
    AdamSettings::visit(self, visitor);
  }
};

}  // namespace

OptimizerChoice muon_defaults() {
  return MuonSettings();
}

}  // namespace heddle::training

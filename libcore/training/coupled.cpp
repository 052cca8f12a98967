// AdamW, but output embeddings, E [vocab, width] where h E^T are logits, have one second moment for all rows:
//   v = b2 v + (1 - b2) mean over rows i of g_i^2,   m = b1 m + (1 - b1) g,
//   E_i -= r (m_i^ / (sqrt v^ + eps) + decay E_i),   v [width], m [vocab, width]; m^ and v^ as in adam.cpp
// With a second moment of its own, the row of a rare token moves as far in each step as that of a frequent one, though
// nearly all of its gradients are tiny and push it away from what is predicted, in one direction: a vector common to
// all rows becomes most of each embedding.
//
// Source: Stollenwerk and Stollenwerk 2025, "Better embeddings with Coupled Adam", where v is the mean over rows of
// their second moments, which is the same.
#include <cmath>

#include "libcore/tensor/kernel.hpp"
#include "libcore/training/adam.hpp"
#include "libcore/training/slices.hpp"

namespace heddle::training {

namespace {

HEDDLE_KERNEL void add_squares(double scale, const Real* g, double* sums, Index width) {
  for (Index i = 0; i < width; ++i) sums[i] += scale * static_cast<double>(g[i]) * static_cast<double>(g[i]);
}

struct RowConstants {
  Real beta1, rate, mean_correction, keep, gradient_scale;
};

// `roots` are sqrt v^ + eps, [width].
HEDDLE_KERNEL void update_row(const RowConstants& c, const Real* roots, Real* w, const Real* g, Real* m, Index width) {
  for (Index i = 0; i < width; ++i) {
    m[i] = c.beta1 * m[i] + (1 - c.beta1) * c.gradient_scale * g[i];
    w[i] = c.keep * w[i] - c.rate * (m[i] * c.mean_correction) / roots[i];
  }
}

class Coupled : public Optimizer {
 public:
  Coupled(const AdamSettings& settings, Parameters& parameters, Takes takes)
      : beta1_(settings.beta1),
        beta2_(settings.beta2),
        epsilon_(settings.epsilon),
        weight_decay_(settings.weight_decay),
        treatment_(settings.treatment()),
        others_(make_adamw(settings, parameters, [takes](const Parameter& of) { return !of.is_output && takes(of); })) {
    for (const Parameter& parameter : parameters.all()) {
      if (!parameter.is_trained() || !parameter.is_output || !takes(parameter)) continue;
      const Shape& shape = parameter.value().shape();
      tables_.push_back({&parameter, Tensor(shape, 0), Tensor({shape[1]}, 0)});
    }
  }

  std::vector<StateTensor> state() const override {
    std::vector<StateTensor> all = others_->state();
    for (const Table& table : tables_) {
      all.push_back({"m/" + table.parameter->name, table.m});
      all.push_back({"v/" + table.parameter->name, table.v});
    }
    return all;
  }

  std::string warning() const override {
    return tables_.empty() ? "optimizer coupled is adamw here: no output embeddings are trained" : "";
  }

  void update(const UpdateStep& step) override {
    others_->update(step);
    Section section("optimizer");
    for (const Table& table : tables_) {
      section.add_bytes(6 * static_cast<double>(table.m.bytes()));  // the gradient twice; weights and m also written
      update_table(table, step);
    }
  }

 private:
  struct Table {
    const Parameter* parameter;
    Tensor m;  // [vocab, width]
    Tensor v;  // [width]
  };

  // The mean of the rows' squares enters v, summed in the same order by any number of threads.
  void update_second_moment(const Table& table, const Tensor& gradient, double gradient_scale) const {
    const Index rows = gradient.shape()[0], width = gradient.shape()[1];
    const Index tasks = (rows + rows_per_task - 1) / rows_per_task;
    std::vector<double> sums(static_cast<std::size_t>(tasks * width), 0.0);
    parallel_ranges(rows, rows_per_task, [&](Index begin, Index end) {
      double* const sum = sums.data() + begin / rows_per_task * width;
      for (Index row = begin; row < end; ++row) {
        add_squares(gradient_scale * gradient_scale, gradient.data() + row * width, sum, width);
      }
    });
    parallel_for(1, [&](Index) {
      for (Index i = 0; i < width; ++i) {
        double sum = 0;
        for (Index task = 0; task < tasks; ++task) sum += sums[static_cast<std::size_t>(task * width + i)];
        const double mean = sum / static_cast<double>(rows), beta2 = beta2_;
        table.v[i] = static_cast<Real>(beta2 * static_cast<double>(table.v[i]) + (1 - beta2) * mean);
      }
    });
  }

  void update_table(const Table& table, const UpdateStep& step) const {
    const Parameter& parameter = *table.parameter;
    const Tensor gradient = parameter.gradient();
    const Index rows = gradient.shape()[0], width = gradient.shape()[1];
    update_second_moment(table, gradient, step.gradient_scale);
    const auto t = static_cast<double>(step.step + 1);
    const double rate = step.learning_rate * treatment_.rate_of(parameter),
                 square_correction = 1 / (1 - std::pow(beta2_, t));
    const RowConstants constants{static_cast<Real>(beta1_), static_cast<Real>(rate),
                                 static_cast<Real>(1 / (1 - std::pow(beta1_, t))),
                                 static_cast<Real>(1 - (treatment_.decays(parameter) ? rate * weight_decay_ : 0)),
                                 static_cast<Real>(step.gradient_scale)};
    parallel_ranges(rows, rows_per_task, [&](Index begin, Index end) {
      std::vector<Real> roots(static_cast<std::size_t>(width));
      for (Index i = 0; i < width; ++i) {
        const double root = std::sqrt(static_cast<double>(table.v[i]) * square_correction);
        roots[static_cast<std::size_t>(i)] = static_cast<Real>(root + epsilon_);
      }
      for (Index at = begin * width; at < end * width; at += width) {
        update_row(constants, roots.data(), parameter.value().data() + at, gradient.data() + at, table.m.data() + at,
                   width);
      }
    });
  }

  double beta1_, beta2_, epsilon_, weight_decay_;
  Treatment treatment_;
  std::unique_ptr<Optimizer> others_;
  std::vector<Table> tables_;
};

struct CoupledSettings final : AdamSettings {
  static constexpr const char* kind_name = "coupled";
  CoupledSettings() { weight_decay = 0.1; }

  std::unique_ptr<Optimizer> make(Parameters& parameters) const override {
    return make_coupled(*this, parameters, [](const Parameter&) { return true; });
  }
};

}  // namespace

std::unique_ptr<Optimizer> make_coupled(const AdamSettings& settings, Parameters& parameters, const Takes& takes) {
  return std::make_unique<Coupled>(settings, parameters, takes);
}

OptimizerChoice coupled_defaults() {
  return CoupledSettings();
}

}  // namespace heddle::training

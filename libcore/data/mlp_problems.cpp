// Networks with one hidden layer, y = v sigmoid(W x + b) + c.
// Source: Andrychowicz et al. 2016, section 3.2, with another table.
#include <cmath>

#include "libcore/data/table_problems.hpp"

namespace heddle::data {

namespace {

class Mlp : public TableNetwork {
 public:
  explicit Mlp(Index hidden) : hidden_(hidden) {}

  // W [hidden, inputs], b [hidden], v [hidden], c.
  std::vector<Part> parts(Index inputs) const override {
    const auto by = [](Index count) { return 1 / std::sqrt(static_cast<double>(count)); };
    return {{hidden_ * inputs, by(inputs)}, {hidden_, 0}, {hidden_, by(hidden_)}, {1, 0}};
  }

  double add_row(const float* row, Index inputs, const double* x, double* gradient) const override {
    std::vector<double> active(static_cast<std::size_t>(hidden_));
    const double *const b = x + hidden_ * inputs, *const v = b + hidden_;
    double apart = v[hidden_] - static_cast<double>(row[inputs]);
    for (Index h = 0; h < hidden_; ++h) {
      double sum = b[h];
      for (Index i = 0; i < inputs; ++i) sum += x[h * inputs + i] * static_cast<double>(row[i]);
      active[static_cast<std::size_t>(h)] = 1 / (1 + std::exp(-sum));
      apart += v[h] * active[static_cast<std::size_t>(h)];
    }
    double *const of_b = gradient + hidden_ * inputs, *const of_v = of_b + hidden_;
    for (Index h = 0; h < hidden_; ++h) {
      const double s = active[static_cast<std::size_t>(h)];
      const double inner = 2 * apart * v[h] * s * (1 - s);
      for (Index i = 0; i < inputs; ++i) gradient[h * inputs + i] += inner * static_cast<double>(row[i]);
      of_b[h] += inner;
      of_v[h] += 2 * apart * s;
    }
    of_v[hidden_] += 2 * apart;
    return apart * apart;
  }

 private:
  Index hidden_;
};

struct MlpFamily final : TableFamily {
  static constexpr const char* kind_name = "mlp";
  Index hidden = 20;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    TableFamily::visit(self, visitor);
    visitor(Field("hidden", "width of the hidden layer").range(1, 10000).takes("N"), self.hidden);
  }

 private:
  std::unique_ptr<const TableNetwork> network() const override { return std::make_unique<Mlp>(hidden); }
  const char* family() const override { return kind_name; }
};

}  // namespace

ProblemChoice mlp_defaults() {
  return MlpFamily();
}

}  // namespace heddle::data

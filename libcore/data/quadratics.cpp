// f(x) = |W x - y|^2 with W [n, n] and y [n] of standard normal numbers, from x_0 of standard deviation 0.01 (SPEC
// A12). Source: Andrychowicz et al. 2016, "Learning to learn by gradient descent by gradient descent", section 3.1.
#include "libcore/base/random.hpp"
#include "libcore/data/problems.hpp"

namespace heddle::data {

namespace {

std::size_t place(Index i) {
  return static_cast<std::size_t>(i);
}

class Quadratic : public Problem {
 public:
  Quadratic(Index dimension, std::uint64_t number) : dimension_(dimension) {
    const RandomStream stream(number, random_site("problems/quadratics"));
    std::uint64_t drawn = 0;
    w_.reserve(place(dimension * dimension));
    for (Index i = 0; i < dimension * dimension; ++i) w_.push_back(stream.normal(drawn++));
    for (Index i = 0; i < dimension; ++i) y_.push_back(stream.normal(drawn++));
    for (Index i = 0; i < dimension; ++i) start_.push_back(0.01 * stream.normal(drawn++));
  }

  void start(std::span<double> x) const override {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = start_[i];
  }

  double at(std::span<const double> x, Index, std::span<double> gradient) const override {
    std::vector<double> slope(x.size());
    double sum = 0;
    for (Index row = 0; row < dimension_; ++row) {
      const double* const w = w_.data() + row * dimension_;
      double apart = -y_[place(row)];
      for (std::size_t i = 0; i < x.size(); ++i) apart += w[i] * x[i];
      for (std::size_t i = 0; i < x.size(); ++i) slope[i] += 2 * apart * w[i];
      sum += apart * apart;
    }
    for (std::size_t i = 0; i < x.size(); ++i) gradient[i] = slope[i];
    return sum;
  }

 private:
  Index dimension_;
  std::vector<double> w_, y_, start_;
};

class Quadratics : public ProblemSource {
 public:
  Quadratics(std::string name, Index dimension) : name_(std::move(name)), dimension_(dimension) {}
  std::string name() const override { return name_; }
  std::vector<Index> parts() const override { return {dimension_}; }
  std::unique_ptr<Problem> problem(std::uint64_t number) const override {
    return std::make_unique<Quadratic>(dimension_, number);
  }
  double bytes() const override { return static_cast<double>((dimension_ + 2) * dimension_) * sizeof(double); }

 private:
  std::string name_;
  Index dimension_;
};

struct QuadraticsFamily final : ProblemFamily {
  static constexpr const char* kind_name = "quadratics";
  Index dimension = 10;

  std::unique_ptr<ProblemSource> make(const std::string& name, std::shared_ptr<const ProblemTable>) const override {
    return std::make_unique<Quadratics>(name, dimension);
  }

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("dimension", "numbers in x").range(1, 1000).takes("N"), self.dimension);
  }
};

}  // namespace

ProblemChoice quadratics_defaults() {
  return QuadraticsFamily();
}

}  // namespace heddle::data

// Networks with one hidden layer, y = v sigmoid(W x + b) + c, that learn the last column of a table from the others:
// f is the mean squared error of a batch of rows, of other rows in each step.
// Source: Andrychowicz et al. 2016, section 3.2, with another table.
#include <cmath>

#include "libcore/base/error.hpp"
#include "libcore/base/random.hpp"
#include "libcore/data/problems.hpp"

namespace heddle::data {

namespace {

struct MlpShape {
  Index inputs, hidden, rows;

  // W [hidden, inputs], b [hidden], v [hidden], c.
  std::vector<Index> parts() const { return {hidden * inputs, hidden, hidden, 1}; }
};

class Mlp : public Problem {
 public:
  Mlp(std::shared_ptr<const ProblemTable> table, const MlpShape& shape, std::uint64_t number)
      : table_(std::move(table)), shape_(shape), number_(number) {}

  void start(std::span<double> x) const override {
    const RandomStream stream(number_, random_site("problems/mlp/start"));
    const auto by_inputs = [](Index inputs) { return 1 / std::sqrt(static_cast<double>(inputs)); };
    const Index matrix = shape_.hidden * shape_.inputs, biases = matrix + shape_.hidden;
    for (Index i = 0; i < static_cast<Index>(x.size()); ++i) {
      const bool is_bias = (i >= matrix && i < biases) || i + 1 == static_cast<Index>(x.size());
      const double scale = is_bias ? 0 : by_inputs(i < matrix ? shape_.inputs : shape_.hidden);
      x[static_cast<std::size_t>(i)] = scale * stream.normal(static_cast<std::uint64_t>(i));
    }
  }

  double at(std::span<const double> x, Index step, std::span<double> gradient) const override {
    const RandomStream stream(number_, random_site("problems/mlp/rows"), static_cast<std::uint64_t>(step));
    std::vector<double> slope(x.size()), active(static_cast<std::size_t>(shape_.hidden));
    double sum = 0;
    for (Index i = 0; i < shape_.rows; ++i) {
      const auto row =
          static_cast<Index>(stream.below(static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(table_->rows())));
      sum += add_row(table_->values.data() + row * table_->columns, x.data(), active, slope);
    }
    const auto count = static_cast<double>(shape_.rows);
    for (std::size_t i = 0; i < x.size(); ++i) gradient[i] = slope[i] / count;
    return sum / count;
  }

 private:
  // The squared error of a row, whose gradient is added.
  double add_row(const float* row, const double* x, std::vector<double>& active, std::vector<double>& slope) const {
    const Index inputs = shape_.inputs, hidden = shape_.hidden;
    const double *const b = x + hidden * inputs, *const v = b + hidden;
    double apart = v[hidden] - static_cast<double>(row[inputs]);
    for (Index h = 0; h < hidden; ++h) {
      double sum = b[h];
      for (Index i = 0; i < inputs; ++i) sum += x[h * inputs + i] * static_cast<double>(row[i]);
      active[static_cast<std::size_t>(h)] = 1 / (1 + std::exp(-sum));
      apart += v[h] * active[static_cast<std::size_t>(h)];
    }
    double *const of_b = slope.data() + hidden * inputs, *const of_v = of_b + hidden;
    for (Index h = 0; h < hidden; ++h) {
      const double s = active[static_cast<std::size_t>(h)];
      const double inner = 2 * apart * v[h] * s * (1 - s);
      for (Index i = 0; i < inputs; ++i)
        slope[static_cast<std::size_t>(h * inputs + i)] += inner * static_cast<double>(row[i]);
      of_b[h] += inner;
      of_v[h] += 2 * apart * s;
    }
    of_v[hidden] += 2 * apart;
    return apart * apart;
  }

  std::shared_ptr<const ProblemTable> table_;
  MlpShape shape_;
  std::uint64_t number_;
};

class Mlps : public ProblemSource {
 public:
  Mlps(std::string name, std::shared_ptr<const ProblemTable> table, const MlpShape& shape)
      : name_(std::move(name)), table_(std::move(table)), shape_(shape) {}
  std::string name() const override { return name_; }
  std::vector<Index> parts() const override { return shape_.parts(); }
  std::unique_ptr<Problem> problem(std::uint64_t number) const override {
    return std::make_unique<Mlp>(table_, shape_, number);
  }
  double bytes() const override { return sizeof(Mlp); }

 private:
  std::string name_;
  std::shared_ptr<const ProblemTable> table_;
  MlpShape shape_;
};

struct MlpFamily final : ProblemFamily {
  static constexpr const char* kind_name = "mlp";
  std::string table;
  Index hidden = 20, rows = 128;

  void validate() const override {
    check<UsageError>(!table.empty(), "`table`: names a table of numbers (CSV or TSV), which the networks learn");
  }
  std::string table_file() const override { return table; }
  std::unique_ptr<ProblemSource> make(const std::string& name, std::shared_ptr<const ProblemTable> of) const override {
    check<DataError>(of->columns >= 2 && of->rows() >= 2, of->name, ": has ", of->rows(), " rows of ", of->columns,
                     " numbers; a network needs two of both");
    return std::make_unique<Mlps>(name, of, MlpShape{of->columns - 1, hidden, rows});
  }

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("table", "CSV or TSV file whose columns of numbers are learned from, the last one what is learned")
                .takes("FILE")
                .by_content(),
            self.table);
    visitor(Field("hidden", "width of the hidden layer").range(1, 10000).takes("N"), self.hidden);
    visitor(Field("rows", "rows of the table that a step sees").range(1, 1000000).takes("N"), self.rows);
  }
};

}  // namespace

ProblemChoice mlp_defaults() {
  return MlpFamily();
}

}  // namespace heddle::data

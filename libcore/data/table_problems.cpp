#include "libcore/data/table_problems.hpp"

#include "libcore/base/error.hpp"
#include "libcore/base/random.hpp"

namespace heddle::data {

namespace {

// Data shared by the problems of a source.
struct TableLesson {
  std::shared_ptr<const ProblemTable> table;
  std::unique_ptr<const TableNetwork> network;
  std::string family;
  Index rows;

  Index inputs() const { return table->columns - 1; }
  std::uint64_t site(const char* of) const { return random_site(concatenate("problems/", family, "/", of)); }
};

class TableProblem : public Problem {
 public:
  TableProblem(std::shared_ptr<const TableLesson> lesson, std::uint64_t number)
      : lesson_(std::move(lesson)), number_(number) {}

  void start(std::span<double> x) const override {
    const RandomStream stream(number_, lesson_->site("start"));
    std::size_t i = 0;
    for (const TableNetwork::Part& part : lesson_->network->parts(lesson_->inputs())) {
      for (const std::size_t end = i + static_cast<std::size_t>(part.size); i < end; ++i) {
        x[i] = part.stddev * stream.normal(static_cast<std::uint64_t>(i));
      }
    }
  }

  double at(std::span<const double> x, Index step, std::span<double> gradient) const override {
    const ProblemTable& table = *lesson_->table;
    const RandomStream stream(number_, lesson_->site("rows"), static_cast<std::uint64_t>(step));
    std::vector<double> slope(x.size());
    double sum = 0;
    for (Index i = 0; i < lesson_->rows; ++i) {
      const auto row =
          static_cast<Index>(stream.below(static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(table.rows())));
      sum += lesson_->network->add_row(table.values.data() + row * table.columns, lesson_->inputs(), x.data(),
                                       slope.data());
    }
    const auto count = static_cast<double>(lesson_->rows);
    for (std::size_t i = 0; i < x.size(); ++i) gradient[i] = slope[i] / count;
    return sum / count;
  }

 private:
  std::shared_ptr<const TableLesson> lesson_;
  std::uint64_t number_;
};

class TableProblems : public ProblemSource {
 public:
  TableProblems(std::string name, TableLesson lesson)
      : name_(std::move(name)), lesson_(std::make_shared<const TableLesson>(std::move(lesson))) {}
  std::string name() const override { return name_; }
  std::vector<Index> parts() const override {
    std::vector<Index> sizes;
    for (const TableNetwork::Part& part : lesson_->network->parts(lesson_->inputs())) sizes.push_back(part.size);
    return sizes;
  }
  std::unique_ptr<Problem> problem(std::uint64_t number) const override {
    return std::make_unique<TableProblem>(lesson_, number);
  }
  double bytes() const override { return sizeof(TableProblem); }

 private:
  std::string name_;
  std::shared_ptr<const TableLesson> lesson_;
};

}  // namespace

void TableFamily::validate() const {
  check<UsageError>(!table.empty(), "`table`: names a table of numbers (CSV or TSV), which the networks learn");
}

std::unique_ptr<ProblemSource> TableFamily::make(const std::string& name,
                                                 std::shared_ptr<const ProblemTable> of) const {
  check<DataError>(of->columns >= 2 && of->rows() >= 2, of->name, ": has ", of->rows(), " rows of ", of->columns,
                   " numbers; a network needs two of both");
  return std::make_unique<TableProblems>(name, TableLesson{std::move(of), network(), family(), rows});
}

}  // namespace heddle::data

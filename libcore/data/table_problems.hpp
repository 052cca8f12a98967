// Networks that learn the last column of a table from the others: f is the mean squared error of a batch of rows, of
// other rows in each step.
#pragma once

#include "libcore/data/problems.hpp"

namespace heddle::data {

// One kind of network. All networks of a family are the same, with other weights.
class TableNetwork {
 public:
  struct Part {
    Index size;     // numbers of a tensor
    double stddev;  // stddev at the start; 0: zeros
  };

  virtual ~TableNetwork() = default;
  // The tensors, in the order in which x has them.
  virtual std::vector<Part> parts(Index inputs) const = 0;
  // The squared error for a row [inputs + 1], whose derivatives by x are added to `gradient`.
  virtual double add_row(const float* row, Index inputs, const double* x, double* gradient) const = 0;
};

// Base of the settings of families of such networks. A family's own derive from it and have a visit().
struct TableFamily : ProblemFamily {
  std::string table;
  Index rows = 128;

  void validate() const override;
  std::string table_file() const override { return table; }
  std::unique_ptr<ProblemSource> make(const std::string& name, std::shared_ptr<const ProblemTable> of) const override;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("table", "CSV or TSV file; the last column of numbers is learned from the other ones")
                .takes("FILE")
                .by_content(),
            self.table);
    visitor(Field("rows", "rows of the table that a step sees").range(1, 1000000).takes("N"), self.rows);
  }

 private:
  virtual std::unique_ptr<const TableNetwork> network() const = 0;
  virtual const char* family() const = 0;  // for random numbers of its own
};

}  // namespace heddle::data

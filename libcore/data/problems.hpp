// Problems that are drawn while a model trains on them: functions of many numbers, which update rules learn to make
// small, and systems of differential equations, whose Lyapunov functions sequence models learn to write.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libcore/base/kind.hpp"
#include "libcore/base/real.hpp"

namespace heddle::symbolic {
struct GeneratorSettings;
}

namespace heddle::data {

// One function, as something that is trained: each step may see another part of the data.
class Problem {
 public:
  virtual ~Problem() = default;
  // Sets the starting point.
  virtual void start(std::span<double> x) const = 0;
  // The function of step `step`, from 0, at x; sets the gradient there.
  virtual double at(std::span<const double> x, Index step, std::span<double> gradient) const = 0;
};

// Problems of one kind and size, each a function of its number alone.
class ProblemSource {
 public:
  virtual ~ProblemSource() = default;
  virtual std::string name() const = 0;          // for messages: "quadratics:dimension=10"
  virtual std::vector<Index> parts() const = 0;  // number of elements of each tensor, in order
  virtual std::unique_ptr<Problem> problem(std::uint64_t number) const = 0;
  virtual double bytes() const = 0;  // memory of one problem, what all share aside

  Index size() const;  // numbers
};

// Rows of numbers, of which the last is learned from the others; columns have mean 0 and standard deviation 1.
struct ProblemTable {
  std::string name;
  Index columns = 0;
  std::vector<float> values;  // [rows, columns]

  Index rows() const { return columns == 0 ? 0 : static_cast<Index>(values.size()) / columns; }
};

// Pairs of a system of differential equations and a Lyapunov function of it.
struct SystemDraws {
  const symbolic::GeneratorSettings& size;
  Index per_epoch;
  double forward;  // the fraction whose system is drawn first, and whose function is sought
};

// Base of the settings of every family. A family's own derive from it and have a visit().
struct ProblemFamily {
  virtual ~ProblemFamily() = default;
  virtual void validate() const {}
  // The file of the table that its problems need; "": none.
  virtual std::string table_file() const { return ""; }
  // Functions to minimise; null where systems() are drawn. Throws DataError for a table that is too small.
  // Precondition: the table is the one of table_file().
  virtual std::unique_ptr<ProblemSource> make(const std::string&, std::shared_ptr<const ProblemTable>) const {
    return nullptr;
  }
  // Pairs of a system and its function, as texts; none where make() has the problems.
  virtual std::optional<SystemDraws> systems() const { return std::nullopt; }

  template <class Self, class Visitor>
  static void visit(Self&, Visitor&) {}
};

using ProblemChoice = KindOf<ProblemFamily>;

}  // namespace heddle::data

namespace heddle {

// The families, in the order of problem_families.def.
template <>
const KindList<data::ProblemFamily>& kinds();

}  // namespace heddle

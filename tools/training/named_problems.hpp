// The problems that --tasks names.
#pragma once

#include <memory>
#include <string>

#include "libcore/data/problems.hpp"
#include "tools/cli/arguments.hpp"
#include "tools/cli/kind_choice.hpp"

namespace heddle {

// "quadratics:dimension=10"
std::string name_of_family(const data::ProblemChoice& family);

struct NamedProblems {
  std::unique_ptr<data::ProblemSource> source;
  std::string table_file;  // which the family reads; "": none
};
// Reads the family's table, where it has one: the columns in which every row has a number, standardised. Throws
// UsageError, also for a family without functions to minimise, and DataError.
NamedProblems named_problems(const cli::KindChoice<data::ProblemFamily>& tasks, const cli::Arguments& arguments);

}  // namespace heddle

// Expressions as they are written: trees that keep the order and the shape of what was read. Two ways to write them:
// infix, as people do, and prefix tokens, as sequence models do.
//
// Prefix tokens (facebookresearch/Lyapunov, after Lample and Charton 2020): operators before their operands,
// `+ - * / ^` with two and `neg sin cos tan exp ln tanh sqrt` with one; `x0 x1 …`; integers as a sign and digits to
// base 1000, `INT- 12`, `INT+ 1 0` for 1000.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "libcore/symbolic/rational.hpp"

namespace heddle::symbolic {

enum class Node {
  number,
  variable,
  sum,
  difference,
  product,
  quotient,
  power,
  negative,
  sine,
  cosine,
  exponential,
  logarithm,
  tanh,
  root
};

// A power's exponent is a number, or the negative or quotient of numbers.
struct Tree {
  Node node = Node::number;
  Rational number;
  Index variable = 0;
  std::vector<Tree> parts;
};

inline constexpr Index most_variables = 16;
// Trees are this deep and have this many nodes at most.
inline constexpr Index most_depth = 200;
inline constexpr Index most_nodes = 5000;

// An autonomous system x' = f(x).
struct System {
  std::vector<std::string> names;  // names of the variables
  std::vector<Tree> fields;        // one per variable
};

// "x' = -x^3 + y; y' = -x - y": equations separated by semicolons, commas or line ends; dx/dt = … as well. The names
// are in the order of the equations. Exact: 1.5 is 3/2. Throws DataError, "column N: …", for what is not a system.
System read_system(std::string_view text);
// An expression in these variables. Throws DataError as read_system does.
Tree read_infix(std::string_view text, const std::vector<std::string>& names);
// A text that read_infix reads back to the same value.
std::string infix(const Tree& tree, const std::vector<std::string>& names);
std::string infix(const System& system);
// x0, x1, …
std::vector<std::string> numbered_names(Index count);

// One expression. Throws DataError, "token N: …", for what is not one, for integers with needless zeros, and for
// variables that are not among the first `variables`.
Tree read_prefix(std::string_view tokens, Index variables);
// `INT+ n <SPECIAL_3> f_1 <SPECIAL_3> f_2 …`; the variables are named x0, x1, ….
System read_prefix_system(std::string_view tokens);
std::string prefix(const Tree& tree);
std::string prefix(const System& system);

// The value of a tree without variables and functions, and whether it has one.
bool constant_value(const Tree& tree, Rational& value);

}  // namespace heddle::symbolic

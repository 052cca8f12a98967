// A program of somebody else's that uses heddle's core.
#include <iostream>

#include "formats/heddle/provenance.hpp"
#include "libcore/tensor/matmul.hpp"
#include "libcore/tensor/matrix.hpp"

int main() {
  using namespace heddle;
  const Tensor a({3, 2}, Real(1)), product({2, 2}, Real(0));
  matmul(transpose(a), matrix(a), target(product));
  std::cout << formats::quote_command_line({}) << product[0] << " " << product[3] << "\n";
}

// Prints the gradients of the small decoder, a parameter a line: its name, then its numbers. Built in double.
#include <iomanip>
#include <iostream>

#include "small_decoder.hpp"

int main() {
  std::cout << std::setprecision(17);
  for (const auto& [name, gradient] : heddle::testing::small_decoder_gradients()) {
    std::cout << name;
    for (const double number : gradient) std::cout << ' ' << number;
    std::cout << '\n';
  }
}

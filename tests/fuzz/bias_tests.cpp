// Templates, pairs and word sets of bias tests.
#include "fuzz/target.hpp"
#include "heddle/formats/bias_file.hpp"

void heddle::fuzz::bias_tests(std::string_view input) {
  read_or_refuse([&] { formats::read_bias_tests(input, "x"); });
}

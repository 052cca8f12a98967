// Templates, pairs and word sets of bias tests.
#include "formats/labelled/bias_tests.hpp"
#include "fuzz/target.hpp"

void heddle::fuzz::bias_tests(std::string_view input) {
  read_or_refuse([&] { formats::read_bias_tests(input, "x"); });
}

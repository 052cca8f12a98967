// Tagged sentences, one word per line.

#include "fuzz/target.hpp"
#include "support/labelled.hpp"

void heddle::fuzz::conll(std::string_view input) {
  for (const char* column : {"", "2"}) {
    read_or_refuse([&] { formats::read_conll(input, "x", column, formats::Gold::given); });
  }
  read_or_refuse([&] { formats::read_conll(input, "x", "", formats::Gold::absent); });
}

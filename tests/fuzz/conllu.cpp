// Tagged sentences in the ten columns of Universal Dependencies.

#include "fuzz/target.hpp"
#include "support/labelled.hpp"

void heddle::fuzz::conllu(std::string_view input) {
  for (const char* column : {"", "xpos", "10"}) {
    read_or_refuse([&] { formats::read_conllu(input, "x", column, formats::Gold::given); });
  }
  read_or_refuse([&] { formats::read_conllu(input, "x", "", formats::Gold::absent); });
}

// Questions with spans as one JSON document.

#include "fuzz/target.hpp"
#include "support/labelled.hpp"

void heddle::fuzz::squad(std::string_view input) {
  for (const formats::Gold gold : {formats::Gold::given, formats::Gold::absent}) {
    read_or_refuse([&] { formats::read_squad(input, "x", gold); });
  }
}

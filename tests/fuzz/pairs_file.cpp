// Pairs files: everything that training and inspect read of them.
#include "formats/heddle/pairs_file.hpp"

#include <algorithm>

#include "fuzz/target.hpp"

namespace heddle::fuzz {

namespace {

void use(const formats::PairsFile& file) {
  constexpr Index most_pairs = 100;
  for (Index i = 0; i < std::min(file.size(), most_pairs); ++i) {
    read_or_refuse([&] {
      expect(static_cast<Index>(file.source(i).size()) == file.source_length(i), "a source of another length");
    });
    read_or_refuse([&] {
      expect(static_cast<Index>(file.target(i).size()) == file.target_length(i), "a target of another length");
    });
  }
}

}  // namespace

void pairs_file(std::string_view input) {
  const std::string path = write_input("pairs.h5", input);
  read_or_refuse([&] {
    const formats::PairsFile file(path);
    use(file);
    file.verify();
    for (const formats::Side side : {formats::Side::source, formats::Side::target}) {
      read_or_refuse([&] { use(file.tokenizer(side)); });
    }
  });
}

}  // namespace heddle::fuzz

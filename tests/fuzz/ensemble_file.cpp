// Ensemble files, whose models are not there.
#include "formats/heddle/ensemble_file.hpp"

#include "fuzz/target.hpp"

void heddle::fuzz::ensemble_file(std::string_view input) {
  const std::string path = write_input("ensemble.h5", input);
  read_or_refuse([&] { formats::possible_members(path); });
  read_or_refuse([&] { formats::read_ensemble(path); });
}

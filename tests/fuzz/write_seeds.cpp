// Writes the HDF5 files to start fuzzing from: fuzz_seeds FOLDER makes FOLDER/TARGET/NAME.
#include <filesystem>
#include <fstream>

#include "fuzz/hdf5_seeds.hpp"

int main(int count, char** words) {
  const std::filesystem::path folder = count > 1 ? words[1] : ".";
  for (const heddle::fuzz::Seed& seed : heddle::fuzz::hdf5_seeds()) {
    std::filesystem::create_directories(folder / seed.target);
    std::ofstream(folder / seed.target / seed.name, std::ios::binary) << seed.bytes;
  }
}

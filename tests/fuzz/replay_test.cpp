// The fuzz targets on the inputs that are kept: seeds, which most readers take, and those that found defects once.
#include <doctest/doctest.h>

#include <filesystem>

#include "formats/files.hpp"
#include "fuzz/hdf5_checksums.hpp"
#include "fuzz/hdf5_seeds.hpp"
#include "fuzz/target.hpp"

using namespace heddle;

namespace {

void replay(void (*target)(std::string_view), const std::string& name) {
  const std::filesystem::path inputs = HEDDLE_FUZZ_INPUTS;
  const fuzz::TrustedChecksums trusted;  // as the inputs were found
  int count = 0;
  for (const char* kind : {"seeds", "regressions"}) {
    if (!std::filesystem::is_directory(inputs / kind / name)) continue;
    for (const auto& entry : std::filesystem::directory_iterator(inputs / kind / name)) {
      CAPTURE(entry.path().string());
      CHECK_NOTHROW(target(tests::read_bytes(entry.path())));
      ++count;
    }
  }
  for (const fuzz::Seed& seed : fuzz::hdf5_seeds()) {
    if (seed.target != name) continue;
    CAPTURE(seed.name);
    CHECK_NOTHROW(target(seed.bytes));
    ++count;
  }
  CHECK(count > 0);
}

}  // namespace

#define HEDDLE_FUZZ_TARGET(name)                                        \
  TEST_CASE("fuzz target " #name ": kept inputs are read or refused") { \
    replay(fuzz::name, #name);                                          \
  }
#include "fuzz/targets.def"
#undef HEDDLE_FUZZ_TARGET

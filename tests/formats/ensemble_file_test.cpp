// Ensemble files: which models they may name.
#include "formats/heddle/ensemble_file.hpp"

#include <doctest/doctest.h>

#include "formats/archives/hdf5_archive.hpp"
#include "formats/files.hpp"
#include "formats/heddle/file.hpp"
#include "support/peak_memory.hpp"

using namespace heddle;
using namespace heddle::formats;
using namespace heddle::tests;

namespace {

void write_members(const std::string& path, const std::vector<std::string>& names) {
  const EnsembleMembers members{names, std::vector<std::string>(names.size(), "0"),
                                std::vector<double>(names.size(), 0.5)};
  OutputFile file(path, FileKind::ensemble);
  file.needs_version(5);
  save_fields(file.root().create_group("ensemble"), members);
  file.commit(start_provenance("test"));
}

}  // namespace

TEST_CASE("ensemble file: names are those of files in its folder, each once; others are refused before any is read") {
  const TemporaryFolder folder;
  const std::string path = folder.file("all.h5"), no_names = "is not the names of models, each once";
  write_members(path, {"a.h5", "b.h5"});
  CHECK(possible_members(path) == std::vector<std::string>{folder.file("a.h5"), folder.file("b.h5")});
  CHECK_THROWS_WITH_AS(read_ensemble(path), doctest::Contains("'a.h5', which is not in the same directory"), DataError);
  for (const std::vector<std::string>& names :
       {std::vector<std::string>{}, {"a.h5", "a.h5"}, {"a.h5", "../b.h5"}, {"a.h5", "/b.h5"}, {"a.h5", ""}}) {
    write_members(path, names);
    CHECK_THROWS_WITH_AS(read_ensemble(path), doctest::Contains(no_names.c_str()), DataError);
    CHECK(possible_members(path).empty());
  }
  CHECK(possible_members(folder.file("absent.h5")).empty());
}

#ifndef HEDDLE_SANITIZED  // the sanitizer's own memory counts, too
TEST_CASE("memory: ensemble files") {
  const TemporaryFolder folder;
  const std::string path = folder.file("all.h5");
  std::vector<std::string> names(200'000);
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = std::to_string(i);
  write_members(path, names);
  constexpr std::size_t factor = 20, slack = std::size_t{64} << 20;
  const std::size_t most = factor * std::filesystem::file_size(path) + slack;
  CHECK(heddle::testing::peak_memory([&] { possible_members(path); }) <= most);
  CHECK(heddle::testing::peak_memory([&] { read_ensemble(path); }) <= most);
  CHECK(possible_members(path).size() == names.size());
  CHECK_THROWS_WITH_AS(read_ensemble(path), doctest::Contains("'0', which is not in the same directory"), DataError);
}
#endif

#include "formats/heddle/embedding_file.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "formats/files.hpp"
#include "formats/hdf5/column.hpp"

using namespace heddle;
using namespace heddle::formats;
using namespace heddle::tests;

namespace {

std::vector<std::string> problems_of(const std::string& path) {
  return verify_embeddings(InputFile(path));
}

std::string write_states(const TemporaryFolder& folder, const Embeddings& embeddings) {
  const std::string path = folder.file("hidden.h5");
  write_embeddings(path, embeddings, start_provenance("test"));
  return path;
}

}  // namespace

TEST_CASE("embedding file: what is written is found sound") {
  const TemporaryFolder folder;
  const Tensor hidden(Shape{3, 2}, {1, 2, 3, 4, 5, 6});
  CHECK(problems_of(write_states(folder, {hidden, {}, {}, {}})).empty());
  CHECK(problems_of(write_states(folder, {hidden, {7, 8, 9}, {"a", "b", "c"}, {0, 2, 3}})).empty());
}

TEST_CASE("embedding file: what does not fit together is told") {
  const TemporaryFolder folder;
  const Tensor hidden(Shape{3, 2}, {1, 2, 3, 4, 5, 6});
  CHECK(problems_of(write_states(folder, {hidden, {7, 8}, {"a", "b"}, {0, 3}})).size() == 1);
  CHECK(problems_of(write_states(folder, {hidden, {7, 8, 9}, {"a", "b", "c"}, {0, 2}})).size() == 1);
  CHECK(problems_of(write_states(folder, {hidden, {7, 8, 9}, {"a", "b", "c"}, {2, 0, 3}})).size() == 1);
  const Tensor infinite(Shape{1, 2}, {1, std::numeric_limits<Real>::infinity()});
  CHECK(problems_of(write_states(folder, {infinite, {}, {}, {}})).size() == 1);
}

TEST_CASE("embedding file: hidden states that are no matrix are told of") {
  const TemporaryFolder folder;
  const std::string path = folder.file("scalar.h5");
  for (const std::vector<Index>& extents : {std::vector<Index>{}, std::vector<Index>{3}, std::vector<Index>{1, 2, 3}}) {
    {
      OutputFile file(path, FileKind::tensors);
      file.root().create_dataset("hidden", {.dtype = hdf5::DType::float32, .extents = extents});
      file.commit(start_provenance("test"));
    }
    CHECK(problems_of(path).size() == 1);
  }
}

TEST_CASE("embedding file: rows without end that take no space are refused at once") {
  const TemporaryFolder folder;
  const std::string path = folder.file("endless.h5");
  for (const std::vector<Index>& extents :
       {std::vector<Index>{Index{1} << 50, 0}, std::vector<Index>{Index{1} << 36, 1}}) {
    {
      OutputFile file(path, FileKind::tensors);
      file.root().create_dataset("hidden", {.dtype = hdf5::DType::float32, .extents = extents});
      file.commit(start_provenance("test"));
    }
    CHECK(problems_of(path).size() == 1);
  }
}

// 4,096 rows are checked at once.
TEST_CASE("embedding file: every row is checked, of more than are read at once") {
  const TemporaryFolder folder;
  for (const Index rows : {4095, 4096, 4097, 8193}) {
    CAPTURE(rows);
    const Tensor hidden({rows, 2});
    for (Index i = 0; i < hidden.size(); ++i) hidden[i] = static_cast<Real>(i);
    CHECK(problems_of(write_states(folder, {hidden, {}, {}, {}})).empty());
    hidden[2 * rows - 1] = std::numeric_limits<Real>::quiet_NaN();
    CHECK(problems_of(write_states(folder, {hidden, {}, {}, {}})).size() == 1);
  }
}

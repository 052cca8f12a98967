#include <doctest/doctest.h>

#include <unistd.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "formats/files.hpp"
#include "formats/heddle/model_file.hpp"
#include "formats/library.hpp"
#include "formats/samples.hpp"

using namespace heddle;
using namespace heddle::formats;
using namespace heddle::tests;

namespace {

void write_weights(const std::string& path, const std::vector<NamedTensor>& weights) {
  ModelWriter file(path);
  file.tokenizer(byte_tokenizer_model());
  file.weights(weights);
  file.commit(start_provenance("test"));
}

// Bytes that this process has read, or that are in its memory.
long bytes_taken_in() {
  long read = 0, pages = 0, resident = 0;
  std::ifstream calls("/proc/self/io"), memory("/proc/self/statm");
  std::string name;  // "rchar:"
  calls >> name >> read;
  memory >> pages >> resident;
  return read + resident * ::sysconf(_SC_PAGESIZE);
}

std::vector<NamedTensor> empty_like(const std::vector<NamedTensor>& tensors) {
  std::vector<NamedTensor> targets;
  for (const NamedTensor& tensor : tensors) targets.push_back({tensor.name, Tensor(tensor.value.shape(), Real(0))});
  return targets;
}

}  // namespace

TEST_CASE("model file: everything comes back") {
  const TemporaryFolder folder;
  const std::string path = folder.file("model.h5");
  write_sample_model(path, start_provenance("pretrain"));
  const ModelFile file(path);
  CHECK(file.config<SampleConfig>() == SampleConfig{.layers = 3});
  CHECK(file.tokenizer_model() == byte_tokenizer_model());
  CHECK(file.file().provenance().own.command_line == "pretrain");
  CHECK(file.has_training());
  CHECK(file.training_state<SampleState>() == SampleState{.step = 2});
  CHECK(file.training_tensors().read().at(0).value.elements() == random_tensor({257, 8}, 6).elements());
  CHECK(file.verify().empty());

  const History history = file.history();
  REQUIRE(history.rows() == 3);
  CHECK(history.columns().at(0).name == "step");
  CHECK(*history.find("step") == std::vector<double>{1, 2, 2});
  CHECK(history.find("loss")->at(1) == 5.25);
  CHECK(std::isnan(history.find("loss")->at(2)));
  CHECK(std::isnan(history.find("valid_loss")->at(0)));
  CHECK(history.find("accuracy") == nullptr);

  const std::vector<NamedTensor> weights = sample_weights();
  Index parameters = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) parameters += weights[i].value.size();
  CHECK(file.weights().parameters() == parameters);
  // In the order of writing, but that the tensors of one group stand together.
  const std::vector<TensorInfo>& infos = file.weights().tensors();
  REQUIRE(infos.size() == weights.size());
  CHECK(infos.front().name == "embedding/weight");
  CHECK(infos.front().shape == Shape{257, 8});
  CHECK(infos.front().dtype == DType::real);
  CHECK(infos.at(1).name == "decoder/1/norm/gain");
  CHECK(infos.at(4).shape.rank() == 0);
}

TEST_CASE("model file: parts may be absent") {
  const TemporaryFolder folder;
  write_weights(folder.file("model.h5"), {});
  const ModelFile file(folder.file("model.h5"));
  CHECK(file.weights().tensors().empty());
  CHECK_FALSE(file.has_training());
  CHECK_FALSE(file.has_history());
  CHECK(file.history().rows() == 0);
  CHECK(contains(message_of([&] { file.config<SampleConfig>(); }), "lacks config"));
  CHECK(file.verify().empty());
}

TEST_CASE("model file: read weights and mapped weights are the written ones") {
  const TemporaryFolder folder;
  const std::vector<NamedTensor> weights = sample_weights();
  write_weights(folder.file("model.h5"), weights);
  std::vector<NamedTensor> mapped;
  {
    const ModelFile file(folder.file("model.h5"));
    const std::vector<NamedTensor> targets = empty_like(weights);
    file.weights().read(targets);
    for (std::size_t i = 0; i < weights.size(); ++i) CHECK(targets[i].value.elements() == weights[i].value.elements());
    mapped = file.map_weights();
    for (const TensorInfo& info : file.weights().tensors()) {
      const bool is_small = info.shape.size() * bytes_of(info.dtype) < 64;
      CHECK(info.offset % (is_small ? 4 : 64) == 0);
    }
  }
  // The mapping outlives the file object, and even the file's name.
  std::filesystem::remove(folder.file("model.h5"));
  REQUIRE(mapped.size() == weights.size());
  for (const NamedTensor& tensor : mapped) {
    for (const NamedTensor& original : weights) {
      if (original.name == tensor.name) CHECK(tensor.value.elements() == original.value.elements());
    }
  }
}

TEST_CASE("model file: tensors that are views are written and read as what they show") {
  const TemporaryFolder folder;
  const Tensor matrix = random_tensor({4, 6}, 1);
  write_weights(folder.file("model.h5"), {{"transposed", matrix.swapped(0, 1)}});
  const Tensor target(Shape{4, 6});
  const std::vector<NamedTensor> targets{{"transposed", target.swapped(0, 1)}};
  ModelFile(folder.file("model.h5")).weights().read(targets);
  CHECK(target.elements() == matrix.elements());
}

TEST_CASE("model file: weights that do not fit the model are named with both shapes") {
  const TemporaryFolder folder;
  const std::string path = folder.file("model.h5");
  write_weights(path, {{"a/weight", Tensor({2, 3}, 1)}, {"b/weight", Tensor({4}, 1)}});
  const ModelFile file(path);
  const auto message = [&](const std::vector<NamedTensor>& targets) {
    return message_of([&] { file.weights().read(targets); });
  };
  CHECK(message({{"a/weight", Tensor({3, 2}, 0)}, {"b/weight", Tensor({4}, 0)}}) ==
        path + ": /weights: a/weight has shape [2, 3] in the file and [3, 2] in the model");
  CHECK(message({{"a/weight", Tensor({2, 3}, 0)}}) ==
        path + ": /weights: has b/weight [4], which the model does not have");
  const std::vector<NamedTensor> more{{"a/weight", Tensor({2, 3}, 0)},
                                      {"b/weight", Tensor({4}, 0)},
                                      {"c/weight", Tensor({4}, 0)},
                                      {"d/weight", Tensor({4}, 0)}};
  CHECK(message(more) == path + ": /weights: lacks c/weight and 1 more tensors, which the model needs");
  CHECK(more[0].value[0] == 0);
}

TEST_CASE("model file: what is not finite is found") {
  const TemporaryFolder folder;
  const Tensor bad({3}, Real(1));
  bad[1] = std::numeric_limits<Real>::quiet_NaN();
  write_weights(folder.file("model.h5"), {{"good", Tensor({3}, Real(1))}, {"bad", bad}});
  const std::vector<std::string> problems = ModelFile(folder.file("model.h5")).verify();
  REQUIRE(problems.size() == 1);
  CHECK(contains(problems[0], "/weights/bad: element 1 is not finite"));
}

TEST_CASE("model file: equal contents give equal bytes") {
  const FixedTime fixed;
  const TemporaryFolder folder;
  write_sample_model(folder.file("a.h5"), start_provenance("pretrain"));
  write_sample_model(folder.file("b.h5"), start_provenance("pretrain"));
  CHECK(read_bytes(folder.file("a.h5")) == read_bytes(folder.file("b.h5")));
  write_sample_model(folder.file("b.h5"), start_provenance("pretrain --seed 2"));
  CHECK(read_bytes(folder.file("a.h5")) != read_bytes(folder.file("b.h5")));
}

TEST_CASE("model file: groups that contain themselves are refused") {
  const TemporaryFolder folder;
  const std::string path = folder.file("model.h5");
  write_sample_model(path, start_provenance("test"));
  change_by_library(path, [](hid_t file) {
    H5Lcreate_hard(file, "/weights", file, "/weights/decoder/cycle", H5P_DEFAULT, H5P_DEFAULT);
  });
  CHECK(contains(message_of([&] { ModelFile model(path); }),
                 ": /weights/decoder/cycle is /weights under another name. The file is damaged"));
  const Trust trust;
  CHECK(contains(message_of([&] { ModelFile model(path); }), ": groups are nested without end"));
}

TEST_CASE("model file: a large one opens without being read") {
  const TemporaryFolder folder;
  std::vector<NamedTensor> weights;
  const Tensor large({250, 1000}, Real(0.5));
  for (int i = 0; i < 150; ++i) weights.push_back({"decoder/" + std::to_string(i) + "/weight", large});
  write_weights(folder.file("model.h5"), weights);
  CHECK(std::filesystem::file_size(folder.file("model.h5")) > 150'000'000);
  const long before = bytes_taken_in();
  const ModelFile file(folder.file("model.h5"));
  const std::vector<NamedTensor> mapped = file.map_weights();
  CHECK(mapped.size() == 150);
  const long opening = bytes_taken_in() - before;
  MESSAGE("150 tensors, 150 MB: ", opening, " bytes were read or mapped in");
  CHECK(opening < 50'000'000);  // the kernel maps the neighbours of each page that is touched
  Real sum = 0;
  for (const NamedTensor& tensor : mapped) sum += tensor.value.elements().back();
  CHECK(sum == 75);
  CHECK(bytes_taken_in() - before > 150'000'000);  // the counter does show reads
}

TEST_CASE("history: rows, new columns, whole columns, truncation") {
  History history;
  history.append({{"step", 1}});
  history.append({{"step", 2}, {"loss", 3}});
  history.append({{"step", 3}, {"loss", 2}});
  history.truncate(2);
  CHECK(history.rows() == 2);
  CHECK(*history.find("step") == std::vector<double>{1, 2});
  CHECK(history.find("loss")->back() == 3);
  CHECK_THROWS_AS(history.add_column("rate", {1, 2, 3}), DataError);
  history.add_column("rate", {1, 2});
  CHECK(history.columns().size() == 3);
}

// Files whose bits flipped or whose end is missing: whatever heddle reads from them without complaint is right.
#include <doctest/doctest.h>
#include <hdf5.h>

#include "formats/files.hpp"
#include "formats/samples.hpp"
#include "heddle/formats/checksum.hpp"
#include "heddle/formats/json_archive.hpp"
#include "heddle/formats/token_file.hpp"

using namespace heddle;
using namespace heddle::formats;
using namespace heddle::tests;

#ifdef HEDDLE_SANITIZED
// HDF5 1.10 itself leaks where it gives up on a damaged file; the handles are counted below.
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libhdf5";
}
#endif

namespace {

std::string text_of(const TensorGroup& group) {
  std::string text;
  for (const NamedTensor& tensor : group.read()) {
    text += tensor.name + tensor.value.shape().text() + checksum_of(tensor.value.raw(), tensor.value.bytes());
  }
  return text;
}

// All that a file says, as text; nothing when it cannot be read or verify() complains. Throws what is not a DataError.
std::string contents_of_model(const std::string& path) {
  try {
    const ModelFile file(path);
    if (!file.verify().empty()) return "";
    std::string text = to_json(file.config<SampleConfig>()).dump() + to_json(file.tokenizer_model()).dump() +
                       to_json(file.training_state<SampleState>()).dump() + describe(file.file().provenance()) +
                       to_json(file.file().header()).dump() + text_of(file.weights()) +
                       text_of(file.training_tensors());
    const History history = file.history();
    for (const History::Column& column : history.columns()) text += column.name + Json(column.values).dump();
    for (const NamedTensor& tensor : file.map_weights()) {
      const std::vector<Real> elements = tensor.value.elements();
      text += checksum_of(elements.data(), elements.size() * sizeof(Real));
    }
    return text;
  } catch (const DataError&) {
    return "";
  }
}

std::string contents_of_tokens(const std::string& path) {
  try {
    const TokenFile file(path);
    if (!file.verify().empty()) return "";
    std::vector<TokenId> ids(static_cast<std::size_t>(file.size()));
    file.read(0, ids);
    std::string text = Json(ids).dump() + to_json(file.tokenizer_model()).dump() + describe(file.file().provenance()) +
                       std::to_string(file.text_bytes()) + to_json(file.file().header()).dump();
    for (Index i = 0; i < file.documents(); ++i) text += std::to_string(file.document(i).second) + " ";
    return text;
  } catch (const DataError&) {
    return "";
  }
}

struct Outcome {
  int refused = 0, harmless = 0, wrong = 0;
};

using Reader = std::string (*)(const std::string&);

void judge(Outcome& outcome, const std::string& contents, const std::string& original) {
  ++(contents.empty() ? outcome.refused : contents == original ? outcome.harmless : outcome.wrong);
}

void damage(const std::string& path, Reader read, int flips, int truncations) {
  const std::string whole = read_bytes(path), original = read(path);
  REQUIRE_FALSE(original.empty());
  const RandomStream stream(1, random_site("damage"));
  Outcome flipped, truncated;
  for (int i = 0; i < flips; ++i) {
    const std::uint64_t bit = stream.below(static_cast<std::uint64_t>(i), 8 * whole.size());
    CAPTURE(bit);
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    write_bytes(path, damaged);
    judge(flipped, read(path), original);
    CHECK(flipped.wrong == 0);
  }
  for (int i = 0; i < truncations; ++i) {
    const std::uint64_t size = stream.below(static_cast<std::uint64_t>(flips + i), whole.size());
    CAPTURE(size);
    write_bytes(path, whole.substr(0, size));
    judge(truncated, read(path), original);
  }
  MESSAGE(whole.size(), " bytes, ", flips, " flips: ", flipped.refused, " refused, ", flipped.harmless,
          " in bytes that mean nothing");
  CHECK(H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL) == 0);
  CHECK(flipped.refused > flips / 3);
  CHECK(truncated.refused == truncations);
}

// The first kilobytes, where HDF5's own structures are, bit by bit.
void damage_head(const std::string& path, Reader read) {
  const std::string whole = read_bytes(path), original = read(path);
  Outcome outcome;
  for (std::size_t byte = 0; byte < 600; ++byte) {
    CAPTURE(byte);
    std::string damaged = whole;
    damaged[byte] = static_cast<char>(damaged[byte] ^ (1 << byte % 8));
    write_bytes(path, damaged);
    judge(outcome, read(path), original);
    CHECK(outcome.wrong == 0);
  }
}

}  // namespace

TEST_CASE("damaged model files are refused, or read right") {
  const FixedTime fixed;
  const TemporaryFolder folder;
  const std::string path = folder.file("model.h5");
  write_sample_model(path, start_provenance("pretrain"));
  damage(path, contents_of_model, 500, 100);
  write_sample_model(path, start_provenance("pretrain"));
  damage_head(path, contents_of_model);
}

TEST_CASE("damaged model files of bfloat16 and int8 weights are refused, or read right") {
  const FixedTime fixed;
  const TemporaryFolder folder;
  const std::string path = folder.file("model.h5");
  write_sample_model(path, start_provenance("convert"), WeightType::int8);
  damage(path, contents_of_model, 300, 50);
  write_sample_model(path, start_provenance("convert"), WeightType::bf16);
  damage(path, contents_of_model, 300, 50);
}

TEST_CASE("damaged token files are refused, or read right") {
  const FixedTime fixed;
  const TemporaryFolder folder;
  const std::string path = folder.file("tokens.h5");
  for (const bool compress : {false, true}) {
    const auto write = [&] {
      TokenFileWriter file(path, text::Tokenizer(byte_tokenizer_model()), {.compress = compress});
      for (TokenId i = 0; i < 3000; ++i) {
        file.append(std::vector<TokenId>{i % 257, i % 7});
        if (i % 100 == 0) file.end_document();
      }
      file.commit(start_provenance("tokenize"));
    };
    write();
    damage(path, contents_of_tokens, 500, 100);
    write();
    damage_head(path, contents_of_tokens);
  }
}

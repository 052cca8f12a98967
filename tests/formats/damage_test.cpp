// Files whose bits flipped or whose end is missing: whatever heddle reads from them without complaint is right.
#include <doctest/doctest.h>

#include "formats/archives/json_archive.hpp"
#include "formats/files.hpp"
#include "formats/files/checksum.hpp"
#include "formats/heddle/embedding_file.hpp"
#include "formats/heddle/pairs_file.hpp"
#include "formats/heddle/token_file.hpp"
#include "formats/samples.hpp"

using namespace heddle;
using namespace heddle::formats;
using namespace heddle::tests;

namespace {

std::string weights_text(const TensorGroup& group) {
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
                       to_json(file.file().header()).dump() + weights_text(file.weights()) +
                       weights_text(file.training_tensors());
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

std::string contents_of_pairs(const std::string& path) {
  try {
    const PairsFile file(path);
    if (!file.verify().empty()) return "";
    std::string text = describe(file.file().provenance()) + to_json(file.file().header()).dump();
    for (const Side side : {Side::source, Side::target}) {
      text += to_json(file.tokenizer_model(side)).dump() + std::to_string(file.tokens(side).text_bytes());
    }
    for (Index i = 0; i < file.size(); ++i) text += Json(file.source(i)).dump() + Json(file.target(i)).dump();
    return text;
  } catch (const DataError&) {
    return "";
  }
}

std::string contents_of_tokenizer(const std::string& path) {
  try {
    const InputFile file(path);
    return to_json(read_tokenizer(file).model()).dump() + describe(file.provenance()) + to_json(file.header()).dump();
  } catch (const DataError&) {
    return "";
  }
}

std::string contents_of_embeddings(const std::string& path) {
  try {
    const InputFile file(path);
    const hdf5::Group& root = file.root();
    const hdf5::Dataset hidden = root.dataset("hidden");
    std::vector<float> elements(static_cast<std::size_t>(hidden.size()));
    hidden.read(std::span(elements));
    const std::string checksum = checksum_of(elements.data(), elements.size() * sizeof(float));
    check<DataError>(hidden.attribute<std::string>(checksum_attribute) == checksum, "damaged");
    return checksum + Json(hidden.extents()).dump() + Json(read_column<std::int64_t>(root, "ids")).dump() +
           Json(read_column<std::string>(root, "pieces")).dump() +
           Json(read_column<std::int64_t>(root, "texts")).dump() + describe(file.provenance()) +
           to_json(file.header()).dump();
  } catch (const DataError&) {
    return "";
  }
}

using Reader = std::string (*)(const std::string&);
enum class Reading { refused, harmless, wrong };

Reading read_damaged(const std::string& path, const std::string& bytes, Reader read, const std::string& original) {
  write_bytes(path, bytes);
  const std::string contents = read(path);
  return contents.empty() ? Reading::refused : contents == original ? Reading::harmless : Reading::wrong;
}

std::string flipped(std::string bytes, std::uint64_t bit) {
  bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
  return bytes;
}

// HEDDLE_DAMAGE says how many flips to make instead.
int number_of_flips(int otherwise) {
  const char* number = std::getenv("HEDDLE_DAMAGE");
  return number != nullptr ? std::atoi(number) : otherwise;
}

void damage(const std::string& path, Reader read, int usual_flips) {
  const std::string whole = read_bytes(path), original = read(path);
  REQUIRE_FALSE(original.empty());
  const RandomStream stream(1, random_site("damage"));
  const int flips = number_of_flips(usual_flips), truncations = flips / 5;
  int found = 0;
  for (int i = 0; i < flips; ++i) {
    const std::uint64_t bit = stream.below(static_cast<std::uint64_t>(i), 8 * whole.size());
    CAPTURE(bit);
    const Reading outcome = read_damaged(path, flipped(whole, bit), read, original);
    CHECK(outcome != Reading::wrong);
    found += outcome == Reading::refused;
  }
  for (int i = 0; i < truncations; ++i) {
    const std::uint64_t size = stream.below(static_cast<std::uint64_t>(flips + i), whole.size());
    CAPTURE(size);
    CHECK(read_damaged(path, whole.substr(0, size), read, original) == Reading::refused);
  }
  MESSAGE(whole.size(), " bytes, ", flips, " flips: ", found, " refused, ", flips - found,
          " in bytes that mean nothing; ", truncations, " truncations refused");
  CHECK(found > flips / 3);
}

// The first kilobytes, where HDF5's own structures are, bit by bit.
void damage_head(const std::string& path, Reader read) {
  const std::string whole = read_bytes(path), original = read(path);
  for (std::uint64_t byte = 0; byte < 600; ++byte) {
    CAPTURE(byte);
    CHECK(read_damaged(path, flipped(whole, 8 * byte + byte % 8), read, original) != Reading::wrong);
  }
}

}  // namespace

TEST_CASE("damaged model files are refused, or read right") {
  const FixedTime fixed;
  const TemporaryFolder folder;
  const std::string path = folder.file("model.h5");
  write_sample_model(path, start_provenance("pretrain"));
  damage(path, contents_of_model, 500);
  write_sample_model(path, start_provenance("pretrain"));
  damage_head(path, contents_of_model);
}

TEST_CASE("damaged model files of weights in fewer bits are refused, or read right") {
  const FixedTime fixed;
  const TemporaryFolder folder;
  const std::string path = folder.file("model.h5");
  write_sample_model(path, start_provenance("convert"), WeightType::int8);
  damage(path, contents_of_model, 300);
  write_sample_model(path, start_provenance("convert"), WeightType::bf16);
  damage(path, contents_of_model, 300);
  write_sample_model(path, start_provenance("convert"), WeightType::q4);
  damage(path, contents_of_model, 200);
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
    damage(path, contents_of_tokens, 500);
    write();
    damage_head(path, contents_of_tokens);
  }
}

TEST_CASE("damaged pairs files are refused, or read right") {
  const FixedTime fixed;
  const TemporaryFolder folder;
  const std::string path = folder.file("pairs.h5");
  for (const bool compress : {false, true}) {
    const auto write = [&] {
      PairsFileWriter file(path, text::Tokenizer(word_tokenizer_model(20)), text::Tokenizer(byte_tokenizer_model()),
                           {.compress = compress});
      for (TokenId i = 0; i < 1000; ++i) {
        for (const Side side : {Side::source, Side::target}) {
          file.append(side, std::vector<TokenId>{i % 20, i % 7}, 3);
          file.end_text(side);
        }
      }
      file.commit(start_provenance("tokenize"));
    };
    write();
    damage(path, contents_of_pairs, 500);
    write();
    damage_head(path, contents_of_pairs);
  }
}

TEST_CASE("damaged tokenizer files are refused, or read right") {
  const FixedTime fixed;
  const TemporaryFolder folder;
  const std::string path = folder.file("tokenizer.h5");
  const auto write = [&] { save_tokenizer(path, byte_tokenizer_model(), start_provenance("tokenize")); };
  write();
  damage(path, contents_of_tokenizer, 300);
  write();
  damage_head(path, contents_of_tokenizer);
}

TEST_CASE("damaged files of hidden states are refused, or read right") {
  const FixedTime fixed;
  const TemporaryFolder folder;
  const std::string path = folder.file("hidden.h5");
  Embeddings embeddings{.hidden = random_tensor({50, 16}, 1), .ids = {}, .pieces = {}, .texts = {0, 20, 50}};
  for (Index i = 0; i < 50; ++i) {
    embeddings.ids.push_back(i);
    embeddings.pieces.push_back("w" + std::to_string(i));
  }
  write_embeddings(path, embeddings, start_provenance("inspect"));
  damage(path, contents_of_embeddings, 300);
}

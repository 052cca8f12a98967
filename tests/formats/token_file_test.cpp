#include <doctest/doctest.h>
#include <sys/resource.h>

#include <thread>

#include "formats/files.hpp"
#include "formats/heddle/token_file.hpp"
#include "formats/huggingface/load_tokenizer.hpp"
#include "formats/samples.hpp"
#include "support/peak_memory.hpp"

using namespace heddle;
using namespace heddle::formats;
using namespace heddle::tests;

namespace {

// The token at a place of an endless stream.
TokenId token_at(Index place, Index vocab_size) {
  const auto mixed = static_cast<std::uint64_t>(place) * 0x9E3779B97F4A7C15ull;
  return static_cast<TokenId>((mixed >> 40) % static_cast<std::uint64_t>(vocab_size));
}

std::vector<TokenId> tokens_from(Index first, Index count, Index vocab_size) {
  std::vector<TokenId> ids;
  for (Index i = 0; i < count; ++i) ids.push_back(token_at(first + i, vocab_size));
  return ids;
}

void write_stream(const std::string& path, const text::Tokenizer& tokenizer, Index size, TokenFileOptions options) {
  TokenFileWriter file(path, tokenizer, options);
  constexpr Index part = 9'973;
  for (Index first = 0; first < size; first += part) {
    file.append(tokens_from(first, std::min(part, size - first), tokenizer.vocab_size()));
    if (first % (10 * part) == 0) file.end_document();
  }
  CHECK(file.size() == size);
  file.commit(start_provenance("test"));
}

void write_ids(const std::string& path, const std::vector<TokenId>& ids) {
  TokenFileWriter file(path, text::Tokenizer(byte_tokenizer_model()));
  file.append(ids);
  file.commit(start_provenance("test"));
}

}  // namespace

TEST_CASE("token file: three million tokens, narrow and wide, compressed and not") {
  const TemporaryFolder folder;
  const std::string path = folder.file("tokens.h5");
  constexpr Index size = 3'000'000;
  for (const Index vocab_size : {Index{65'536}, Index{65'537}}) {
    const text::Tokenizer tokenizer(word_tokenizer_model(vocab_size));
    for (const bool compress : {false, true}) {
      CAPTURE(vocab_size);
      CAPTURE(compress);
      write_stream(path, tokenizer, size, {.compress = compress});
      const TokenFile file(path);
      CHECK(file.size() == size);
      CHECK(file.vocab_size() == vocab_size);
      CHECK(file.name() == path);
      CHECK(file.tokenizer().fingerprint() == tokenizer.fingerprint());
      CHECK(file.file().root().dataset("tokens").dtype() ==
            (vocab_size == 65'536 ? hdf5::DType::uint16 : hdf5::DType::uint32));
      std::vector<TokenId> window(1000);
      for (Index i = 0; i < 100; ++i) {
        const Index offset = (i * 7'654'321) % (size - 1000);
        file.read(offset, window);
        REQUIRE(window == tokens_from(offset, 1000, vocab_size));
      }
      std::vector<TokenId> all(size);
      file.read(0, all);
      CHECK(all == tokens_from(0, size, vocab_size));
      CHECK(file.verify().empty());
    }
  }
}

TEST_CASE("token file: writing takes constant memory, and compression helps") {
  const TemporaryFolder folder;
  const text::Tokenizer tokenizer(byte_tokenizer_model());
  const auto write = [&](const std::string& name, Index parts, bool compress) {
    TokenFileWriter file(folder.file(name), tokenizer, {.compress = compress});
    const std::vector<TokenId> ids = tokens_from(0, 1'000'000, 16);
    for (Index i = 0; i < parts; ++i) file.append(ids);
    file.commit(start_provenance("test"));
    return std::filesystem::file_size(folder.file(name));
  };
  const auto small = write("small", 2, false);
#ifndef HEDDLE_SANITIZED  // sanitizers keep freed memory
  std::vector<TokenId> kept;
  // First 80 megabytes in memory; then 80 megabytes are written.
  CHECK(testing::peak_memory([&] { kept = tokens_from(0, 20'000'000, 16); }) > std::size_t{70} << 20);
  CHECK(testing::peak_memory([&] { write("large", 40, false); }) < std::size_t{20} << 20);
#else
  write("large", 40, false);
#endif
  CHECK(std::filesystem::file_size(folder.file("large")) > 19 * small);
  CHECK(write("compressed", 2, true) < small / 2);
}

TEST_CASE("token file: very many documents are read again, compressed, too") {
  const TemporaryFolder folder;
  const text::Tokenizer tokenizer(byte_tokenizer_model());
  constexpr Index documents = 2'300'000;  // more than a file without their places may have
  TokenFileWriter file(folder.file("x"), tokenizer, {.compress = true});
  for (Index i = 0; i < documents; ++i) {
    if (i % 100 == 0) file.append(std::vector<TokenId>{7}, 1);
    file.end_document();
  }
  file.commit(start_provenance("test"));
  const TokenFile read(folder.file("x"));
  CHECK(read.documents() == documents);
  CHECK(read.verify().empty());
}

TEST_CASE("token file: documents and the bytes of the text") {
  const TemporaryFolder folder;
  const std::string path = folder.file("tokens.h5");
  {
    TokenFileWriter file(path, text::Tokenizer(byte_tokenizer_model()));
    file.append(std::vector<TokenId>{'o', 'n', 'e', 256}, 3);
    file.end_document();
    file.end_document();
    file.append(std::vector<TokenId>{'t', 'w', 'o'}, 3);
    file.append(std::vector<TokenId>{256});
    CHECK(file.documents() == 2);
    CHECK(file.text_bytes() == 6);
    file.commit(start_provenance("test"));
  }
  const TokenFile file(path);
  CHECK(file.size() == 8);
  CHECK(file.text_bytes() == 6);
  REQUIRE(file.documents() == 3);
  CHECK(file.document(0) == std::pair<Index, Index>{0, 4});
  CHECK(file.document(1) == std::pair<Index, Index>{4, 4});
  CHECK(file.document(2) == std::pair<Index, Index>{4, 8});
  CHECK_THROWS_AS(file.document(3), DataError);
  CHECK_THROWS_AS(file.document(-1), DataError);
  CHECK(file.verify().empty());
}

TEST_CASE("token file: an empty one is possible") {
  const TemporaryFolder folder;
  write_ids(folder.file("tokens.h5"), {});
  const TokenFile file(folder.file("tokens.h5"));
  CHECK(file.size() == 0);
  CHECK(file.documents() == 0);
  file.read(0, {});
  CHECK(file.verify().empty());
}

TEST_CASE("token file: ids outside the vocabulary are refused, written or read") {
  const TemporaryFolder folder;
  const std::string path = folder.file("tokens.h5");
  for (const TokenId bad : {257, -1}) {
    CHECK(message_of([&] {
            write_ids(path, {1, 2, bad});
          }) == path + ": token 2 is " + std::to_string(bad) + ", outside the vocabulary of 257");
  }
  CHECK(folder.names().empty());

  write_ids(path, {1, 2, 256, 4});
  std::string bytes = read_bytes(path);
  const std::string stored("\1\0\2\0\0\1\4\0", 8);
  REQUIRE(bytes.find(stored) == bytes.rfind(stored));
  bytes[bytes.find(stored) + 4] = 1;
  write_bytes(path, bytes);
  const TokenFile file(path);
  std::vector<TokenId> ids(3);
  CHECK(contains(message_of([&] { file.read(1, ids); }), path + ": token 2 is 257, outside the vocabulary of 257"));
  std::vector<TokenId> first(2);
  file.read(0, first);
  CHECK(first == std::vector<TokenId>{1, 2});
  REQUIRE(file.verify().size() == 1);
}

TEST_CASE("token file: reads outside it are refused") {
  const TemporaryFolder folder;
  write_ids(folder.file("tokens.h5"), {1, 2, 3});
  const TokenFile file(folder.file("tokens.h5"));
  std::vector<TokenId> two(2);
  CHECK_THROWS_AS(file.read(2, two), DataError);
  CHECK_THROWS_AS(file.read(-1, two), DataError);
  CHECK_THROWS_AS(file.read(std::numeric_limits<Index>::max(), two), DataError);
}

TEST_CASE("token file: several threads may read, while another file is written") {
  const TemporaryFolder folder;
  const text::Tokenizer tokenizer(byte_tokenizer_model());
  write_stream(folder.file("tokens.h5"), tokenizer, 300'000, {});
  const TokenFile file(folder.file("tokens.h5"));
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (Index thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      std::vector<TokenId> window(500);
      for (Index i = 0; i < 200; ++i) {
        const Index offset = (i * 104'729 + thread * 31) % 299'500;
        file.read(offset, window);
        if (window != tokens_from(offset, 500, 257)) ++wrong;
      }
    });
  }
  write_stream(folder.file("other.h5"), tokenizer, 300'000, {.compress = true});
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("tokenizers are read from tokenizer, token and model files") {
  const TemporaryFolder folder;
  const text::TokenizerModel model = byte_tokenizer_model();
  save_tokenizer(folder.file("tokenizer.h5"), model, start_provenance("test"));
  write_ids(folder.file("tokens.h5"), {1});
  write_sample_model(folder.file("model.h5"), start_provenance("test"));
  for (const char* name : {"tokenizer.h5", "tokens.h5", "model.h5"}) {
    CHECK(load_tokenizer(folder.file(name)).model() == model);
  }
  CHECK(contains(message_of([&] { TokenFile file(folder.file("model.h5")); }),
                 "is a model file; a token file is needed"));
  text::TokenizerModel bad = model;
  bad.end_of_text = 5000;
  save_tokenizer(folder.file("bad.h5"), bad, start_provenance("test"));
  CHECK(contains(message_of([&] { load_tokenizer(folder.file("bad.h5")); }), folder.file("bad.h5") + ": /tokenizer: "));
}

TEST_CASE("a vocabulary in a directory is recorded as the files that it is made of") {
  const TemporaryFolder folder;
  write_bytes(folder.file("vocab.json"), "{}");
  write_bytes(folder.file("merges.txt"), "#version: 0.2\n");
  Provenance provenance = start_provenance("test");
  add_tokenizer_input(provenance, folder.path().string());
  REQUIRE(provenance.own.inputs.size() == 2);
  CHECK(provenance.own.inputs[0].name == folder.file("vocab.json"));
  CHECK(provenance.own.inputs[1].name == folder.file("merges.txt"));
  CHECK(provenance.own.inputs[1].role == "tokenizer");
}

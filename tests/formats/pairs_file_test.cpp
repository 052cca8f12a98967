#include "formats/heddle/pairs_file.hpp"

#include <doctest/doctest.h>

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

using Ids = std::vector<TokenId>;

// Texts of 0 to 6 tokens.
Ids numbered_text(Index number, Index vocab_size) {
  Ids ids;
  for (Index i = 0; i < number * 5 % 7; ++i) ids.push_back(static_cast<TokenId>((number * 31 + i) % vocab_size));
  return ids;
}

void write_pairs(const std::string& path, Index pairs, const text::Tokenizer& source, const text::Tokenizer& target,
                 TokenFileOptions options = {}) {
  PairsFileWriter file(path, source, target, options);
  for (Index i = 0; i < pairs; ++i) {
    file.append(Side::source, numbered_text(i, source.vocab_size()), i);
    file.end_text(Side::source);
    file.append(Side::target, numbered_text(i + 1, target.vocab_size()), 2);
    file.end_text(Side::target);
  }
  file.commit(start_provenance("test"));
}

text::Tokenizer byte_tokenizer() {
  return text::Tokenizer(byte_tokenizer_model());
}

text::Tokenizer words(Index size) {
  return text::Tokenizer(word_tokenizer_model(size));
}

// A file of heddle's kind `pairs` with columns as they are given.
struct RawSide {
  Ids tokens;
  std::vector<std::uint64_t> documents;
};
void write_raw(const std::string& path, const RawSide& source, const RawSide& target, bool compress = false) {
  OutputFile file(path, FileKind::pairs);
  file.needs_version(4);
  write_tokenizer(file.root(), byte_tokenizer_model());
  for (const auto& [name, side] : {std::pair<const char*, const RawSide&>("source", source), {"target", target}}) {
    const hdf5::OutputGroup group = file.root().create_group(name);
    ColumnWriter<std::uint16_t> tokens(group, "tokens", {compress});
    tokens.append(std::vector<std::uint16_t>(side.tokens.begin(), side.tokens.end()));
    tokens.finish().set_attribute<Index>("text_bytes", 0);
    ColumnWriter<std::uint64_t> documents(group, "documents", {compress});
    documents.append(side.documents);
    documents.finish();
  }
  file.commit(start_provenance("test"));
}

}  // namespace

TEST_CASE("pairs file: pairs come back, with one tokenizer or two, narrow and wide, compressed and not") {
  const TemporaryFolder folder;
  const std::string path = folder.file("pairs.h5");
  constexpr Index pairs = 30'000;
  const std::pair<text::Tokenizer, text::Tokenizer> tokenizers[] = {
      {byte_tokenizer(), byte_tokenizer()}, {words(70'000), byte_tokenizer()}, {words(100), words(65'537)}};
  for (const auto& [source, target] : tokenizers) {
    for (const bool compress : {false, true}) {
      CAPTURE(source.vocab_size());
      CAPTURE(compress);
      write_pairs(path, pairs, source, target, {.compress = compress});
      const PairsFile file(path);
      CHECK(file.name() == path);
      CHECK(file.size() == pairs);
      CHECK(file.source_vocab_size() == source.vocab_size());
      CHECK(file.target_vocab_size() == target.vocab_size());
      CHECK(file.has_source_tokenizer() == (source.vocab_size() != target.vocab_size()));
      CHECK(file.tokenizer(Side::source).fingerprint() == source.fingerprint());
      CHECK(file.tokenizer(Side::target).fingerprint() == target.fingerprint());
      CHECK(file.tokens(Side::source).text_bytes() == pairs * (pairs - 1) / 2);
      CHECK(file.tokens(Side::target).text_bytes() == 2 * pairs);
      for (Index i = 0; i < pairs; i += 7) {
        REQUIRE(file.source(i) == numbered_text(i, source.vocab_size()));
        REQUIRE(file.target(i) == numbered_text(i + 1, target.vocab_size()));
        REQUIRE(file.source_length(i) == i * 5 % 7);
        REQUIRE(file.target_length(i) == (i + 1) * 5 % 7);
        REQUIRE(file.number_in_file(i) == i);
      }
      CHECK(file.verify().empty());
    }
  }
}

TEST_CASE("pairs file: an empty one is possible, and pairs outside it are refused") {
  const TemporaryFolder folder;
  const std::string path = folder.file("pairs.h5");
  write_pairs(path, 0, byte_tokenizer(), byte_tokenizer());
  CHECK(PairsFile(path).size() == 0);
  CHECK(PairsFile(path).verify().empty());
  write_pairs(path, 2, byte_tokenizer(), byte_tokenizer());
  const PairsFile file(path);
  for (const Index bad : {Index{-1}, Index{2}, std::numeric_limits<Index>::max()}) {
    const std::string message = path + ": has no pair " + std::to_string(bad) + ", only 2";
    CHECK(message_of([&] { file.source(bad); }) == message);
    CHECK(message_of([&] { file.target(bad); }) == message);
    CHECK(message_of([&] { file.source_length(bad); }) == message);
    CHECK(message_of([&] { file.target_length(bad); }) == message);
  }
}

TEST_CASE("pairs file: neither ids outside a vocabulary nor a missing text are written") {
  const TemporaryFolder folder;
  const std::string path = folder.file("pairs.h5");
  CHECK(message_of([&] {
          PairsFileWriter file(path, words(3), byte_tokenizer());
          file.append(Side::target, Ids{1, 2, 3});
          file.append(Side::source, Ids{1, 2, 3});
        }) == path + ": /source: token 2 is 3, outside the vocabulary of 3");
  CHECK(message_of([&] {
          PairsFileWriter file(path, byte_tokenizer(), byte_tokenizer());
          file.end_text(Side::source);
          file.end_text(Side::source);
          file.append(Side::target, Ids{1});
          file.commit(start_provenance("test"));
        }) == path + ": would have 2 sources and 1 targets");
  CHECK(folder.names().empty());
}

TEST_CASE("pairs file: a committed file does not change any more") {
  const TemporaryFolder folder;
  const std::string path = folder.file("pairs.h5");
  std::string committed;
  {
    PairsFileWriter file(path, byte_tokenizer(), byte_tokenizer());
    file.append(Side::source, Ids{1});
    file.append(Side::target, Ids{2});
    file.commit(start_provenance("test"));
    committed = read_bytes(path);
    CHECK(PairsFile(path).verify().empty());
  }
  CHECK(read_bytes(path) == committed);
}

TEST_CASE("pairs file: files of other kinds, and sides that do not match, are refused") {
  const TemporaryFolder folder;
  const std::string path = folder.file("pairs.h5"), tokens = folder.file("tokens.h5");
  TokenFileWriter(tokens, byte_tokenizer()).commit(start_provenance("test"));
  CHECK(message_of([&] { PairsFile file(tokens); }) == tokens + ": is a token file; a pairs file is needed");
  write_raw(path, {{1, 2}, {0, 1, 2}}, {{3}, {0, 1}});
  CHECK(message_of([&] { PairsFile file(path); }) ==
        path + ": has 2 sources, but 1 targets. The file is damaged or not heddle's");
  CHECK(message_of([&] { TokenFile file(path); }) == path + ": is a pairs file; a token file is needed");

  const std::string bounds = "/documents: does not divide the tokens into documents. The file is damaged";
  for (const std::vector<std::uint64_t>& documents :
       {std::vector<std::uint64_t>{0, 2, 1}, {1, 1, 2}, {0, 1, 1}, {0, 1, 3}, {0, ~std::uint64_t{0}, 2}}) {
    write_raw(path, {{1, 2}, {0, 1, 2}}, {{3, 4}, documents});
    CHECK(message_of([&] { PairsFile file(path); }) == path + ": /target" + bounds);
    write_raw(path, {{1, 2}, documents}, {{3, 4}, {0, 1, 2}});
    CHECK(message_of([&] { PairsFile file(path); }) == path + ": /source" + bounds);
  }

  write_raw(path, {{1, 2}, {0, 1, 2}}, {{3, 300}, {0, 1, 2}});
  const PairsFile file(path);
  CHECK(file.target(0) == Ids{3});
  CHECK(message_of([&] { file.target(1); }) ==
        path + ": /target: token 1 is 300, outside the vocabulary of 257. The file is damaged");
  REQUIRE(file.verify().size() == 1);
}

#ifndef HEDDLE_SANITIZED
TEST_CASE("pairs file: a small file cannot make its reader take much memory") {
  const TemporaryFolder folder;
  const std::string path = folder.file("pairs.h5");
  constexpr std::uint64_t many = 20'000'000;
  write_raw(path, {Ids(many), {0, many}}, {{}, {0, 0}}, true);
  const auto read = [&] { return message_of([&] { PairsFile(path).source(0); }); };
  CHECK(read() == path + ": pair 0 has 20000000 tokens, more than a file of this size can contain");
  CHECK(heddle::testing::peak_memory(read) < std::size_t{30} << 20);
  const std::vector<std::uint64_t> empty(3'000'000);
  write_raw(path, {{}, empty}, {{}, empty}, true);
  CHECK(message_of([&] { PairsFile file(path); }) ==
        path + ": 2999999 pairs are more than a file of this size can contain");
}
#endif

TEST_CASE("pairs file: whether tokenizers made it") {
  const TemporaryFolder folder;
  const std::string path = folder.file("pairs.h5");
  write_pairs(path, 1, words(10), byte_tokenizer());
  const PairsFile file(path);
  file.check_made_with(words(10), byte_tokenizer(), "model.h5");
  CHECK(message_of([&] { file.check_made_with(words(11), byte_tokenizer(), "model.h5"); }) ==
        path +
            ": /source: vocabulary of 10 does not match the model's 11; encode the pairs with the model's "
            "tokenizers (tokenize --pairs -t model.h5)");
  write_pairs(path, 1, byte_tokenizer(), byte_tokenizer());
  text::TokenizerModel other = byte_tokenizer_model();
  std::swap(other.pieces[1], other.pieces[2]);
  CHECK(message_of([&] { PairsFile(path).check_made_with(text::Tokenizer(other), text::Tokenizer(other), "m.h5"); }) ==
        path +
            ": /source: was made with another tokenizer than the model's; encode the pairs with the model's "
            "tokenizer (tokenize --pairs -t m.h5)");
}

TEST_CASE("pairs file: load_tokenizer gives the tokenizer of a side") {
  const TemporaryFolder folder;
  const std::string path = folder.file("pairs.h5");
  write_pairs(path, 1, words(10), byte_tokenizer());
  CHECK(load_tokenizer(path).fingerprint() == byte_tokenizer().fingerprint());
  CHECK(load_tokenizer(path, Side::source).fingerprint() == words(10).fingerprint());
  write_pairs(path, 1, byte_tokenizer(), byte_tokenizer());
  CHECK(load_tokenizer(path, Side::source).fingerprint() == byte_tokenizer().fingerprint());
}

TEST_CASE("pairs file: several threads may read") {
  const TemporaryFolder folder;
  const std::string path = folder.file("pairs.h5");
  write_pairs(path, 2000, byte_tokenizer(), byte_tokenizer(), {.compress = true});
  const PairsFile file(path);
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (Index thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (Index i = thread; i < 2000; i += 17) {
        if (file.source(i) != numbered_text(i, 257) || file.target(i) != numbered_text(i + 1, 257)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

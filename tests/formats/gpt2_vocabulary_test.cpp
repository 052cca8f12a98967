#include "formats/huggingface/gpt2_vocabulary.hpp"

#include <doctest/doctest.h>

#include <functional>

#include "formats/golden.hpp"
#include "libcore/text/spelling.hpp"
#include "libcore/text/stream_encoder.hpp"

using namespace heddle;
using namespace heddle::formats;
using namespace heddle::tests;

namespace {

text::Tokenizer gpt2_of_folder(const std::string& tokenizers) {
  return text::Tokenizer(read_gpt2_vocabulary(tokenizers + "/gpt2"));
}

// A vocabulary of the 256 bytes, "th", "the" and <|endoftext|>.
nlohmann::json small_pieces() {
  nlohmann::json pieces;
  for (int byte = 0; byte < 256; ++byte) {
    pieces[text::spell(text::TokenizerKind::bpe, std::string(1, static_cast<char>(byte)))] = byte;
  }
  pieces["th"] = 256;
  pieces["the"] = 257;
  pieces["<|endoftext|>"] = 258;
  return pieces;
}

}  // namespace

TEST_CASE("gpt2 vocabulary: 50,257 pieces") {
  const std::string data = shared_tokenizers();
  if (data.empty()) return;
  const text::Tokenizer tokenizer = gpt2_of_folder(data);
  CHECK(tokenizer.vocab_size() == 50257);
  CHECK(tokenizer.model().merges.size() == 2 * 50000);
  CHECK(tokenizer.end_of_text() == 50256);
  CHECK(tokenizer.piece(262) == "\xc4\xa0the");
  CHECK(tokenizer.id_of("\xc4\xa0the") == 262);
}

TEST_CASE("gpt2 vocabulary: the golden ids") {
  const std::string data = shared_tokenizers();
  if (data.empty()) return;
  const text::Tokenizer tokenizer = gpt2_of_folder(data);
  CHECK(check_golden_cases(tokenizer, data + "/golden/gpt2.jsonl") == 92);
}

TEST_CASE("gpt2 vocabulary: tinyshakespeare as one text, whole and in blocks") {
  const std::string data = shared_tokenizers();
  if (data.empty()) return;
  const text::Tokenizer tokenizer = gpt2_of_folder(data);
  const std::vector<TokenId> golden = numbers(unpacked(data + "/golden/verified/tinyshakespeare.gpt2.ids.txt.gz"));
  REQUIRE(golden.size() == 338025);
  const std::string text = read_bytes(data + "/../tinyshakespeare/input.txt");
  CHECK(tokenizer.encode(text) == golden);
  CHECK(tokenizer.decode(golden) == text);
  std::vector<TokenId> streamed;
  text::StreamEncoder encoder(
      tokenizer,
      [&](const text::StreamEncoder::Part& part) { streamed.insert(streamed.end(), part.ids.begin(), part.ids.end()); },
      {.block_bytes = 1000});
  encoder.add(text);
  encoder.end_document();
  encoder.flush();
  CHECK(streamed == golden);
}

TEST_CASE("gpt2 vocabulary: German lines") {
  const std::string data = shared_tokenizers();
  if (data.empty()) return;
  CHECK(check_golden_lines(gpt2_of_folder(data), unpacked(data + "/../multi30k/val.de.gz"),
                           data + "/golden/verified/multi30k-val.de.gpt2.ids.txt") == 1014);
}

TEST_CASE("gpt2 vocabulary: either naming of the files, with a byte order mark, too") {
  for (const auto& [pieces, merges, mark] : {std::tuple("vocab.json", "merges.txt", std::string()),
                                             {"encoder.json", "vocab.bpe", ""},
                                             {"vocab.json", "merges.txt", "\xef\xbb\xbf"}}) {
    const TemporaryFolder folder;
    const std::string path = folder.path().string();
    CHECK(gpt2_vocabulary_files(path).empty());
    CHECK(contains(message_of([&] { read_gpt2_vocabulary(path); }), "not a GPT-2 vocabulary"));
    write_bytes(folder.file(pieces), mark + small_pieces().dump());
    CHECK(gpt2_vocabulary_files(path).empty());
    write_bytes(folder.file(merges), mark + "#version: 0.2\nt h\r\n\r\nth e\n\n");
    CHECK_FALSE(gpt2_vocabulary_files(path).empty());
    const text::Tokenizer tokenizer(read_gpt2_vocabulary(path));
    CHECK(tokenizer.encode("the th<|endoftext|>") == std::vector<TokenId>{257, ' ', 256, 258});
  }
  CHECK(gpt2_vocabulary_files("/nowhere").empty());
  const TemporaryFolder old;  // with the line ends of old Macs
  write_bytes(old.file("vocab.json"), small_pieces().dump());
  write_bytes(old.file("merges.txt"), "#version: 0.2\rt h\rth e\r");
  CHECK(text::Tokenizer(read_gpt2_vocabulary(old.path().string())).encode("the th") ==
        std::vector<TokenId>{257, ' ', 256});
}

TEST_CASE("gpt2 vocabulary: what is wrong is said with file and line") {
  const auto problem = [](const std::string& pieces, const std::string& merges) {
    const TemporaryFolder folder;
    write_bytes(folder.file("vocab.json"), pieces);
    write_bytes(folder.file("merges.txt"), merges);
    const std::string message = message_of([&] { text::Tokenizer{read_gpt2_vocabulary(folder.path().string())}; });
    return message.substr(std::min(message.size(), message.starts_with("/") ? folder.path().string().size() + 1 : 0));
  };
  const std::string good_merges = "#version: 0.2\nt h\n", good_pieces = small_pieces().dump();
  const auto with = [](const std::function<void(nlohmann::json&)>& change) {
    nlohmann::json pieces = small_pieces();
    change(pieces);
    return pieces.dump();
  };
  CHECK(problem(good_pieces, good_merges).empty());
  CHECK(problem("", good_merges).starts_with("vocab.json:1: not valid JSON"));
  CHECK(problem("{\n\"a\": 0,\n\"b\" 1}", good_merges).starts_with("vocab.json:3: not valid JSON"));
  CHECK(problem("{\"a\": 0, \"\xff\": 1}", good_merges).starts_with("vocab.json:1: not valid JSON"));
  CHECK(problem("[1, 2]", good_merges).starts_with("vocab.json: is not a JSON object"));
  CHECK(problem("{}", good_merges).starts_with("vocab.json: is not a JSON object"));
  CHECK(problem("{\"a\": {\"b\": 0}}", good_merges).starts_with("vocab.json: a: must be a whole number"));
  CHECK(problem("{\"a\": 0, \"b\": \"1\"}", good_merges) ==
        "vocab.json: b: must be a whole number from 0 to 2147483647, not \"1\"");
  CHECK(problem("{\"a\": -1}", good_merges).starts_with("vocab.json: a: must be a whole number"));
  CHECK(problem("{\"a\": 99999999999}", good_merges).starts_with("vocab.json: a: must be a whole number"));
  CHECK(problem("{\"a\": 0, \"a\": 1}", good_merges) ==
        "vocab.json:1: the object that ends in this line repeats the key 'a'");
  CHECK(problem(with([](auto& p) { p["th"] = 259; }), good_merges) ==
        "vocab.json: th: the id 259 is outside the 259 pieces");
  CHECK(contains(problem(with([](auto& p) { p["th"] = 7; }), good_merges), "has the id of "));
  CHECK(problem(with([](auto& p) { p.erase("the"), p["a b"] = 257; }), good_merges) ==
        "piece 257 of the tokenizer, 'a\\sb', does not have the spelling of pieces of a bpe tokenizer");
  CHECK(problem(good_pieces, "#version\nt h\nth xyz\n").starts_with("merges.txt:3: 'xyz' is not a piece"));
  CHECK(problem(good_pieces, "t h\nth\n").starts_with("merges.txt:2: 'th' is not a merge"));
  CHECK(problem(good_pieces, "t h e\n").starts_with("merges.txt:1: 'h\\se' is not a piece"));
  CHECK(problem(good_pieces, "t\x01h\n").starts_with("merges.txt:1: 't\\x01h' is not a merge"));
  CHECK(contains(problem(good_pieces, "t q\n"), "which is not one of its pieces"));
  CHECK(contains(problem(good_pieces, "t h\nt h\n"), "are the same"));
}

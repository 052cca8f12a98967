#include "formats/huggingface/wordpiece_vocabulary.hpp"

#include <doctest/doctest.h>

#include "formats/golden.hpp"

using namespace heddle;
using namespace heddle::formats;
using namespace heddle::tests;

namespace {

text::TokenizerModel read_vocabulary(const std::string& content) {
  const TemporaryFolder folder;
  write_bytes(folder.file("vocab.txt"), content);
  return read_wordpiece_vocabulary(folder.path().string());
}

}  // namespace

TEST_CASE("wordpiece vocabulary: BERT's golden ids") {
  const std::string data = shared_tokenizers();
  if (data.empty()) return;
  const text::Tokenizer tokenizer(read_wordpiece_vocabulary(data + "/bert-base-uncased"));
  CHECK(tokenizer.vocab_size() == 30522);
  CHECK(tokenizer.mask() == 103);
  CHECK(tokenizer.padding() == 0);
  CHECK(check_golden_cases(tokenizer, data + "/golden/bert-base-uncased.jsonl") == 66);
}

TEST_CASE("wordpiece vocabulary: 1,014 German lines") {
  const std::string data = shared_tokenizers();
  if (data.empty()) return;
  const text::Tokenizer tokenizer(read_wordpiece_vocabulary(data + "/bert-base-uncased/vocab.txt"));
  CHECK(check_golden_lines(tokenizer, unpacked(data + "/../multi30k/val.de.gz"),
                           data + "/golden/verified/multi30k-val.de.bert-base-uncased.ids.txt") == 1014);
}

TEST_CASE("wordpiece vocabulary: capital letters make it cased") {
  CHECK(read_vocabulary("[UNK]\na\n##b\n").lowercase);
  CHECK_FALSE(read_vocabulary("[UNK]\na\n##B\n").lowercase);
  for (const char* capital : {"Москва", "##Ж", "Ωμέγα", "Éa", "Աբ"}) {
    CHECK_FALSE(read_vocabulary(std::string("[UNK]\nа\n") + capital + "\n").lowercase);
  }
  CHECK(read_vocabulary("[UNK]\nмосква\nωςé\nß\nかパ\nकुल\n").lowercase);
  for (const std::string content :
       {"[PAD]\r\n[UNK]\r\na\r\n", "\xef\xbb\xbf[PAD]\n[UNK]\na", "[PAD]\n[UNK]\r\na", "[PAD]\r[UNK]\ra\r"}) {
    CAPTURE(content);
    const text::TokenizerModel model = read_vocabulary(content);
    CHECK(model.pieces == std::vector<std::string>{"[PAD]", "[UNK]", "a"});
    CHECK(model.special_tokens == std::vector<Index>{0, 1});
    CHECK(model.padding == 0);
  }
}

TEST_CASE("wordpiece vocabulary: what is wrong is named") {
  const auto message = [](const std::string& content) { return message_of([&] { read_vocabulary(content); }); };
  CHECK(contains(message("[UNK]\na\na\n"), "vocab.txt:3: the piece 'a' is already in line 2"));
  CHECK(contains(message("a\nb\n"), "no piece [UNK]"));
  CHECK(contains(message("[UNK]\n\xff\n"), "vocab.txt:2: "));
}

TEST_CASE("wordpiece vocabulary: blank lines keep the ids of the lines after them") {
  const text::Tokenizer tokenizer(read_vocabulary("[PAD]\n[UNK]\na\n\nb\n\r\n##c\n"));
  CHECK(tokenizer.encode("a b bc") == std::vector<TokenId>{2, 4, 4, 6});
  CHECK(tokenizer.vocab_size() == 7);
  CHECK(tokenizer.encode("blank line 4") == std::vector<TokenId>{1, 1, 1});
}

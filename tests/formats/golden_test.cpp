// The ids and texts that other projects' own tests expect of published tokenizers.
#include "formats/golden.hpp"

#include <doctest/doctest.h>

#include <utility>

#include "libcore/text/basic_words.hpp"

using namespace heddle;
using namespace heddle::tests;
using nlohmann::json;

namespace {

// Texts between lines "__ggml_vocab_test__", which may themselves have empty lines.
std::vector<std::string> ggml_texts(const std::string& content) {
  const std::string separator = "\n__ggml_vocab_test__\n";
  std::vector<std::string> texts;
  std::size_t begin = 0;
  for (std::size_t end = content.find(separator); end != content.npos; end = content.find(separator, begin)) {
    texts.push_back(content.substr(begin, end - begin));
    begin = end + separator.size();
  }
  return texts;
}

// Python's transformers take out blanks before punctuation and contractions after they have decoded.
std::string without_blanks(std::string text) {
  const std::vector<std::pair<std::string, std::string>> rules{
      {" .", "."},     {" ?", "?"},   {" !", "!"},   {" ,", ","},     {" ' ", "'"},
      {" n't", "n't"}, {" 'm", "'m"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto& [from, to] : rules) {
    for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
      text.replace(at, from.size(), to);
    }
  }
  return text;
}

// Special tokens around the ids in another tokenizer of the same vocabulary.
struct Frame {
  std::string name;        // name of the golden cases
  std::string vocabulary;  // a folder of tokenizers
  std::ptrdiff_t before = 0, after = 0;
  bool cleans = true;  // whether decoded texts are without those blanks
};

void check_case(const text::Tokenizer& tokenizer, const json& one, const Frame& frame) {
  const std::string text = one["input"];
  CAPTURE(text);
  const auto all = one["encoded"]["input_ids"].get<std::vector<TokenId>>();
  const std::vector<TokenId> expected(all.begin() + frame.before, all.end() - frame.after);
  CHECK(tokenizer.encode(text, text::SpecialText::plain) == expected);
  std::vector<TokenId> known = expected;  // the unknown token is one of those that the text is without
  std::erase_if(known, [&](TokenId id) { return id == tokenizer.unknown(); });
  const std::string decoded = tokenizer.decode(known);
  CHECK((frame.cleans ? without_blanks(decoded) : decoded) == one["decoded_without_special"]);
}

}  // namespace

TEST_CASE("golden: llama.cpp's ids of five vocabularies") {
  const std::string data = shared_tokenizers();
  if (data.empty()) return;
  for (const auto& [vocabulary, file] :
       std::vector<std::pair<std::string, std::string>>{{"bert-base-uncased", "bert-bge"},
                                                        {"falcon", "falcon"},
                                                        {"gpt2", "gpt-2"},
                                                        {"phi-3-mini", "phi-3"},
                                                        {"roberta-base", "roberta-bpe"}}) {
    CAPTURE(vocabulary);
    const text::Tokenizer tokenizer(read_shared(data, vocabulary));
    const std::string path = data + "/golden/llama.cpp/ggml-vocab-" + file + ".gguf.";
    const std::vector<std::string> texts = ggml_texts(read_bytes(path + "inp"));
    CHECK(texts.size() == 46);
    std::istringstream ids(read_bytes(path + "out"));
    for (const std::string& text : texts) {
      CAPTURE(text);
      std::string golden;
      REQUIRE(std::getline(ids, golden));
      CHECK(tokenizer.encode(text) == numbers(golden));
      if (vocabulary != "bert-base-uncased") CHECK(tokenizer.decode(numbers(golden)) == text);
    }
  }
}

TEST_CASE("golden: swift-transformers' ids and decoded texts") {
  const std::string data = shared_tokenizers();
  if (data.empty()) return;
  const json golden = json::parse(read_bytes(data + "/golden/swift-transformers/tokenizer_tests.json"));
  for (const Frame& frame : std::vector<Frame>{{"bert-base-uncased", "bert-base-uncased", 1, 1},
                                               {"google-bert/bert-base-uncased", "bert-base-uncased", 1, 1},
                                               {"distilgpt2", "gpt2"},
                                               {"openai/whisper-tiny.en", "gpt2", 2, 1},
                                               {"coreml-projects/Llama-2-7b-chat-coreml", "phi-3-mini", 1, 0, false},
                                               {"tiiuae/falcon-7b", "falcon"},
                                               {"t5-base", "t5-small", 0, 1}}) {
    CAPTURE(frame.name);
    const text::Tokenizer tokenizer(read_shared(data, frame.vocabulary));
    CHECK(golden[frame.name].size() >= 18);
    for (const json& one : golden[frame.name]) check_case(tokenizer, one, frame);
  }
}

TEST_CASE("golden: BERT's words, pieces and ids of the 10,570 questions of SQuAD") {
  const std::string data = shared_tokenizers();
  if (data.empty()) return;
  const text::Tokenizer tokenizer(read_shared(data, "bert-base-uncased"));
  const std::string folder = data + "/golden/swift-transformers/";
  const json pieces = json::parse(unpacked(folder + "question_tokens.json.gz"));
  const json ids = json::parse(unpacked(folder + "tokenized_questions.json.gz"));
  REQUIRE(pieces.size() == 10570);
  REQUIRE(ids.size() == pieces.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::string question = pieces[i]["original"];
    CAPTURE(question);
    const std::vector<TokenId> found = tokenizer.encode(question, text::SpecialText::plain);
    CHECK(found == ids[i].get<std::vector<TokenId>>());
    std::vector<std::string> words, names;
    text::for_each_basic_word(question, {}, [&](std::string_view word) { words.emplace_back(word); });
    CHECK(words == pieces[i]["basic"].get<std::vector<std::string>>());
    for (const TokenId id : found) names.emplace_back(tokenizer.piece(id));
    CHECK(names == pieces[i]["wordpiece"].get<std::vector<std::string>>());
  }
}

// Published tokenizers, and the ids that other programs gave to texts.
#pragma once

#include <nlohmann/json.hpp>

#include "formats/files.hpp"
#include "formats/huggingface/tokenizer_json.hpp"
#include "libcore/text/tokenizer.hpp"

namespace heddle::tests {

// The shared data's folder of tokenizers; "" with a message where there is none.
inline std::string shared_tokenizers() {
  return shared_path("tokenizers");
}

// The folder's tokenizer.json, compressed or not.
inline text::TokenizerModel read_shared(const std::string& tokenizers, const std::string& name) {
  const std::string file = tokenizers + "/" + name + "/tokenizer.json";
  const TemporaryFolder folder;
  write_bytes(folder.file("tokenizer.json"), content_of(std::filesystem::exists(file) ? file : file + ".gz"));
  return formats::read_tokenizer_json(folder.path().string());
}

// Between the model's [CLS] and [SEP], or what it has of them.
inline std::vector<TokenId> framed(const text::Tokenizer& tokenizer, std::vector<TokenId> ids) {
  if (tokenizer.classification()) ids.insert(ids.begin(), *tokenizer.classification());
  if (tokenizer.separator()) ids.push_back(*tokenizer.separator());
  return ids;
}

// Checks the ids of each case of a file of objects; returns how many there are.
inline int check_golden_cases(const text::Tokenizer& tokenizer, const std::string& path) {
  std::ifstream file(path);
  int cases = 0;
  for (std::string line; std::getline(file, line); ++cases) {
    const nlohmann::json golden = nlohmann::json::parse(line);
    std::vector<TokenId> ids = tokenizer.encode(golden["text"].get<std::string>());
    if (golden["add_special_tokens"]) ids = framed(tokenizer, std::move(ids));
    CAPTURE(golden["text"].dump());
    CHECK(ids == golden["ids"].get<std::vector<TokenId>>());
  }
  return cases;
}

// The same for each line of a text, and the lines of a file of ids.
inline int check_golden_lines(const text::Tokenizer& tokenizer, const std::string& text, const std::string& ids_path) {
  std::istringstream lines(text), ids(content_of(ids_path));
  int count = 0;
  for (std::string line, golden; std::getline(lines, line) && std::getline(ids, golden); ++count) {
    CAPTURE(line);
    CHECK(tokenizer.encode(line) == numbers(golden));
  }
  return count;
}

}  // namespace heddle::tests

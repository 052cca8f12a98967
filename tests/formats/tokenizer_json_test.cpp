#include "heddle/formats/tokenizer_json.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "formats/files.hpp"
#include "heddle/formats/foreign_vocabulary.hpp"
#include "heddle/formats/gpt2_vocabulary.hpp"
#include "heddle/formats/tokenizer_file.hpp"
#include "heddle/formats/wordpiece_vocabulary.hpp"
#include "heddle/text/tokenizer.hpp"

using namespace heddle;
using namespace heddle::formats;
using namespace heddle::tests;
using nlohmann::json;

namespace {

// The shared data's folder of tokenizers; "" where there is none.
std::string shared_tokenizers() {
  const char* folder = std::getenv("HEDDLE_SHARED_DATA");
  const std::string path = folder != nullptr ? std::string(folder) + "/tokenizers" : "";
  if (std::filesystem::exists(path + "/t5-small/tokenizer.json.gz")) return path;
  MESSAGE("skipped: no shared data");
  return "";
}

text::TokenizerModel read_shared(const std::string& data, const std::string& name) {
  const std::string file = data + "/" + name + "/tokenizer.json";
  if (std::filesystem::exists(file)) return read_tokenizer_json(file);
  const TemporaryFolder folder;
  write_bytes(folder.file("tokenizer.json"), unpacked(file + ".gz"));
  return read_tokenizer_json(folder.path().string());
}

std::vector<TokenId> framed(const text::Tokenizer& tokenizer, std::vector<TokenId> ids) {
  if (tokenizer.classification()) ids.insert(ids.begin(), *tokenizer.classification());
  if (tokenizer.separator()) ids.push_back(*tokenizer.separator());
  return ids;
}

int count_golden_cases(const text::Tokenizer& tokenizer, const std::string& path) {
  std::ifstream file(path);
  int cases = 0;
  for (std::string line; std::getline(file, line); ++cases) {
    const json golden = json::parse(line);
    std::vector<TokenId> ids = tokenizer.encode(golden["text"].get<std::string>());
    if (golden["add_special_tokens"]) ids = framed(tokenizer, std::move(ids));
    CAPTURE(golden["text"].dump());
    CHECK(ids == golden["ids"].get<std::vector<TokenId>>());
  }
  return cases;
}

}  // namespace

TEST_CASE("tokenizer.json: the golden ids of real files") {
  const std::string data = shared_tokenizers();
  if (data.empty()) return;
  for (const auto& [name, cases] : std::vector<std::pair<std::string, int>>{{"gpt2", 92},
                                                                            {"bert-base-uncased", 66},
                                                                            {"roberta-base", 47},
                                                                            {"t5-small", 19},
                                                                            {"falcon", 67},
                                                                            {"phi-3-mini", 47}}) {
    CAPTURE(name);
    const text::Tokenizer tokenizer(read_shared(data, name));
    CHECK(count_golden_cases(tokenizer, data + "/golden/" + name + ".jsonl") == cases);
  }
}

// Normalisers, pre-tokenisers and added tokens of tokenizer.json, against the ids of Hugging Face's own library
// (steps/make.mjs).
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "formats/files.hpp"
#include "formats/heddle/tokenizer_file.hpp"
#include "formats/huggingface/load_tokenizer.hpp"
#include "formats/huggingface/tokenizer_json.hpp"
#include "libcore/text/spelling.hpp"
#include "libcore/text/stream_encoder.hpp"
#include "libcore/text/tokenizer.hpp"

using namespace heddle;
using namespace heddle::formats;
using namespace heddle::tests;
using nlohmann::json;

namespace {

using Ids = std::vector<TokenId>;

const json& steps_golden() {
  static const json golden = json::parse(read_bytes(HEDDLE_STEPS));
  return golden;
}

json document_of(const json& one) {
  json document{{"version", "1.0"}, {"post_processor", nullptr}, {"decoder", nullptr}};
  for (const char* part : {"normalizer", "pre_tokenizer", "added_tokens"}) document[part] = one[part];
  document["model"] = steps_golden()[one["model"].get<std::string>()];
  if (one.contains("ignore_merges")) document["model"]["ignore_merges"] = true;
  return document;
}

text::TokenizerModel model_of(const json& document) {
  const TemporaryFolder folder;
  write_bytes(folder.file("tokenizer.json"), document.dump());
  return load_tokenizer(folder.file("tokenizer.json")).model();
}

std::string refusal(const json& document) {
  return message_of([&] { model_of(document); });
}

json step_golden(const std::string& name) {
  for (const json& one : steps_golden()["cases"]) {
    if (one["name"] == name) return one;
  }
  FAIL("no case " << name);
  return {};
}

void check_ids(const text::Tokenizer& tokenizer, const json& one) {
  for (std::size_t i = 0; i < one["ids"].size(); ++i) {
    CAPTURE(steps_golden()["texts"][i].dump());
    CHECK(tokenizer.encode(steps_golden()["texts"][i].get<std::string>()) == one["ids"][i].get<Ids>());
  }
}

// The texts as one, which blocks cut wherever they may.
Ids streamed(const text::Tokenizer& tokenizer, const std::string& whole) {
  Ids ids;
  text::StreamEncoder stream(tokenizer,
                             [&](const auto& part) { ids.insert(ids.end(), part.ids.begin(), part.ids.end()); },
                             {.block_bytes = 16});
  for (const char byte : whole) stream.add({&byte, 1});
  stream.end_document();
  stream.flush();
  return ids;
}

}  // namespace

TEST_CASE("tokenizer steps: ids are those of Hugging Face's library") {
  CHECK(steps_golden()["cases"].size() > 50);
  for (const json& one : steps_golden()["cases"]) {
    CAPTURE(one["name"].get<std::string>());
    check_ids(text::Tokenizer(model_of(document_of(one))), one);
  }
}

TEST_CASE("tokenizer steps: a tokenizer goes through heddle's file and back to tokenizer.json") {
  const TemporaryFolder folder;
  for (const json& one : steps_golden()["cases"]) {
    CAPTURE(one["name"].get<std::string>());
    const text::TokenizerModel model = model_of(document_of(one));
    save_tokenizer(folder.file("tokenizer.h5"), model, start_provenance("test"));
    CHECK(load_tokenizer(folder.file("tokenizer.h5")).model() == model);
    write_tokenizer_json(folder.file("tokenizer.json"), model);
    const text::TokenizerModel again = read_tokenizer_json(folder.file("tokenizer.json"));
    CHECK(again.normalisers == model.normalisers);
    CHECK(again.cuts == model.cuts);
    CHECK(again == model);
    const json written = json::parse(read_bytes(folder.file("tokenizer.json")));
    const bool spelled_otherwise =
        one["name"] == "prefix space in a sequence" || one["name"] == "strip" || one["name"] == "replace" ||
        one["name"] == "string" || one["name"] == "delimiter" ||
        one["name"].get<std::string>().starts_with("punctuation Merged") || one["name"] == "punctuation Removed" ||
        one["name"].get<std::string>().starts_with("words") || one["name"].get<std::string>().starts_with("bert") ||
        one["name"] == "BertPreTokenizer";
    if (!spelled_otherwise) {
      CHECK(written["pre_tokenizer"] == one["pre_tokenizer"]);
      CHECK(written["normalizer"] == one["normalizer"]);
    }
  }
}

TEST_CASE("tokenizer steps: text that is cut into blocks has the same ids") {
  std::string whole;
  for (const json& text : steps_golden()["texts"]) whole += text.get<std::string>() + "\nSo it is, and so on. ";
  for (const json& one : steps_golden()["cases"]) {
    CAPTURE(one["name"].get<std::string>());
    const text::Tokenizer tokenizer(model_of(document_of(one)));
    CHECK(streamed(tokenizer, whole) == tokenizer.encode(whole));
    std::size_t boundaries = 0;
    for (std::size_t at = 1; at < whole.size(); ++at) {
      if (!tokenizer.is_boundary(whole, at)) continue;
      ++boundaries;
      Ids parts = tokenizer.encode(whole.substr(0, at));
      tokenizer.encode(std::string_view(whole).substr(at), parts);
      if (at % 7 == 0) CHECK(parts == tokenizer.encode(whole));
    }
    // Blocks of the published ones can be found.
    const json& name = one["name"];
    if (name == "llama3" || name == "qwen2" || name == "deepseek3" || name == "gpt4o") CHECK(boundaries > 100);
  }
}

TEST_CASE("tokenizer steps: tokens lie where their text was before it was normalised") {
  const auto places = [](const std::string& name, const std::string& text) {
    const text::Tokenizer tokenizer(model_of(document_of(step_golden(name))));
    std::vector<std::pair<std::string, std::string>> result;
    for (const text::LocatedToken& token : tokenizer.encode_with_offsets(text)) {
      result.emplace_back(tokenizer.bytes(token.id), text.substr(token.begin, token.end - token.begin));
    }
    return result;
  };
  using Places = std::vector<std::pair<std::string, std::string>>;
  CHECK(places("NFC", "e\u0301a") == Places{{"\u00e9", "e\u0301"}, {"a", "a"}});
  CHECK(places("NFKC", "x\uFB01y") == Places{{"x", "x"}, {"f", "\uFB01"}, {"i", "\uFB01"}, {"y", "y"}});
  CHECK(places("Lowercase", "X\u0130") == Places{{"x", "X"}, {"i", "\u0130"}, {"\xCC", "\u0130"}, {"\x87", "\u0130"}});
  CHECK(places("strip", "  x \n") == Places{{"x", "x"}});
  CHECK(places("prefix space", "qx") == Places{{" ", ""}, {"q", "q"}, {"x", "x"}});
  CHECK(places("WhitespaceSplit", "x  q") == Places{{"x", "x"}, {"q", "q"}});
  CHECK(places("normalised tokens", "xFOOB ") == Places{{"x", "x"}, {"FooB", "FOOB"}, {" ", " "}});
  CHECK(places("words of the tour", "THE \u00e9 \u20ac") ==
        Places{{"the", "THE"}, {"e", "\u00e9"}, {"[UNK]", "\u20ac"}});
  for (const json& one : steps_golden()["cases"]) {
    CAPTURE(one["name"].get<std::string>());
    const text::Tokenizer tokenizer(model_of(document_of(one)));
    for (const json& text : steps_golden()["texts"]) {
      const std::string content = text.get<std::string>();
      Ids ids;
      for (const text::LocatedToken& token : tokenizer.encode_with_offsets(content)) {
        ids.push_back(token.id);
        CHECK(token.begin <= token.end);
        CHECK(token.end <= content.size());
      }
      CHECK(ids == tokenizer.encode(content));
    }
  }
}

TEST_CASE("tokenizer steps: BPE of characters with a split that finds nothing, as Gemma's files have it") {
  json vocabulary{{"<unk>", 0}};
  for (int byte = 0; byte < 256; ++byte) vocabulary[text::byte_name(static_cast<unsigned char>(byte))] = byte + 1;
  for (const char* piece : {"\u2581", "a", "b", "\u2581a", "ab", "\u2581\u2581"}) vocabulary[piece] = vocabulary.size();
  const json merges = json::array({"\u2581 a", "a b", "\u2581 \u2581"});
  const json document{
      {"version", "1.0"},
      {"added_tokens", {{{"id", 0}, {"content", "<unk>"}, {"special", true}}}},
      {"normalizer", {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "\u2581"}}},
      {"pre_tokenizer",
       {{"type", "Split"}, {"pattern", {{"String", " "}}}, {"behavior", "MergedWithPrevious"}, {"invert", false}}},
      {"decoder",
       {{"type", "Sequence"},
        {"decoders",
         {{{"type", "Replace"}, {"pattern", {{"String", "\u2581"}}}, {"content", " "}},
          {{"type", "ByteFallback"}},
          {{"type", "Fuse"}}}}}},
      {"model",
       {{"type", "BPE"},
        {"dropout", nullptr},
        {"unk_token", "<unk>"},
        {"continuing_subword_prefix", nullptr},
        {"end_of_word_suffix", nullptr},
        {"fuse_unk", true},
        {"byte_fallback", true},
        {"ignore_merges", false},
        {"vocab", vocabulary},
        {"merges", merges}}}};
  const text::Tokenizer tokenizer(model_of(document));
  CHECK(tokenizer.encode("a ab  b\u00e9") == Ids{258, 260, 259, 262, 259, 196, 170});
  CHECK(tokenizer.decode(tokenizer.encode("a ab  b\u00e9")) == "a ab  b\u00e9");
}

TEST_CASE("tokenizer steps: what heddle does not carry out is named") {
  const auto with_split = [](const char* expression) {
    json document = document_of(step_golden("llama3"));
    document["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = expression;
    return refusal(document);
  };
  CHECK(with_split("\\p{N}|a").empty());
  CHECK(contains(with_split("(?<=a)b|c"), "pre_tokenizer.pretokenizers[0].pattern: heddle does not support '(?<'"));
  CHECK(contains(with_split("a(?=bc)"), "looking ahead at more than one character"));
  CHECK(contains(with_split("\\p{Han}"), "the property \\p{Han}"));
  CHECK(contains(with_split("(a|b)++c"), "a possessive quantifier of more than one character"));
  CHECK(contains(with_split("a*"), "matches nothing"));
  CHECK(contains(with_split("(a"), "a '(' without ')'"));
  CHECK(contains(with_split("\\bx"), "'\\b'"));
  CHECK(contains(with_split("(a|(b|c{100}){100}){100}"), "so long an expression"));
  json document = document_of(step_golden("smollm"));
  document["pre_tokenizer"]["pretokenizers"] = {document["pre_tokenizer"]["pretokenizers"][1],
                                                document["pre_tokenizer"]["pretokenizers"][0]};
  CHECK(contains(refusal(document), "follows ByteLevel"));
  document = document_of(step_golden("NFC"));
  document["normalizer"] = {{"type", "Nmt"}};
  CHECK(contains(refusal(document), "normalizer: is of type 'Nmt'"));
  document["normalizer"] = {{"type", "Replace"}, {"pattern", {{"String", ""}}}, {"content", "x"}};
  CHECK(contains(refusal(document), "normalizer.pattern.String: is empty"));
  document = document_of(step_golden("NFC"));
  document["added_tokens"] = {{{"id", 516}, {"content", "a"}}};
  CHECK(contains(refusal(document), "added_tokens[0]: has the id 516, which is not that of 'a'"));
}

TEST_CASE("tokenizer steps: neither expressions nor normalisers take more time and memory than a text deserves") {
  json document = document_of(step_golden("replace"));
  json steps = json::array();
  for (int i = 0; i < 50; ++i)
    steps.push_back({{"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", "aaa"}});
  document["normalizer"]["normalizers"] = steps;
  const text::Tokenizer growing(model_of(document));
  CHECK_THROWS_WITH_AS(growing.encode(std::string(2000, 'a')), "1:1: normalisation makes this text far longer",
                       DataError);
  document = document_of(step_golden("llama3"));
  document["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = "a[a-c]*d|[a-c]";
  const text::Tokenizer quadratic(model_of(document));
  CHECK(quadratic.encode(std::string(200, 'a')).size() > 50);
  CHECK_THROWS_AS(quadratic.encode(std::string(1 << 20, 'a')), DataError);
  // Marks in an order that sorting has to turn round.
  std::string marks = "a";
  for (int i = 0; i < 100000; ++i) marks += i % 2 == 0 ? "\u0301" : "\u0323";
  CHECK(text::Tokenizer(model_of(document_of(step_golden("NFC")))).encode(marks).size() > 1000);
}

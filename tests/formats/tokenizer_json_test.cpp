#include "formats/huggingface/tokenizer_json.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <map>

#include "formats/golden.hpp"
#include "formats/heddle/tokenizer_file.hpp"
#include "formats/huggingface/foreign_vocabulary.hpp"
#include "formats/huggingface/gpt2_vocabulary.hpp"
#include "formats/huggingface/load_tokenizer.hpp"
#include "formats/huggingface/wordpiece_vocabulary.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/text/samples.hpp"
#include "libcore/text/tokenizer.hpp"
#include "libcore/text/vocabulary_training.hpp"

using namespace heddle;
using namespace heddle::formats;
using namespace heddle::tests;
using nlohmann::json;

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
    CHECK(check_golden_cases(tokenizer, data + "/golden/" + name + ".jsonl") == cases);
  }
}

TEST_CASE("tokenizer.json: the same models as from the other files") {
  const std::string data = shared_tokenizers();
  if (data.empty()) return;
  CHECK(read_shared(data, "gpt2") == read_gpt2_vocabulary(data + "/gpt2"));
  CHECK(read_shared(data, "bert-base-uncased") == read_wordpiece_vocabulary(data + "/bert-base-uncased"));
  CHECK(read_shared(data, "bert-base-cased") == read_wordpiece_vocabulary(data + "/bert-base-cased"));
}

TEST_CASE("tokenizer.json: special tokens have their roles") {
  const std::string data = shared_tokenizers();
  if (data.empty()) return;
  const text::TokenizerModel roberta = read_shared(data, "roberta-base");
  CHECK(roberta.classification == 0);
  CHECK(roberta.separator == 2);
  CHECK(roberta.pair_separators == 2);
  CHECK(roberta.padding == 1);
  CHECK(roberta.mask == 50264);
  CHECK(text::Tokenizer(roberta).encode("a <mask>") == std::vector<TokenId>{102, 50264});
  const text::TokenizerModel t5 = read_shared(data, "t5-small");
  CHECK(t5.separator == 1);
  CHECK(t5.end_of_text == 1);
  CHECK(t5.padding == 0);
  CHECK(t5.unknown == 2);
  CHECK(t5.classification == -1);
}

TEST_CASE("tokenizer.json: T5's ids of 1,014 German lines are SentencePiece's") {
  const std::string data = shared_tokenizers();
  if (data.empty()) return;
  CHECK(check_golden_lines(text::Tokenizer(read_shared(data, "t5-small")), unpacked(data + "/../multi30k/val.de.gz"),
                           data + "/golden/sentencepiece/multi30k-val.de.t5-small.ids.txt") == 1014);
}

TEST_CASE("tokenizer.json: added tokens that are text") {
  const std::string data = shared_tokenizers();
  if (data.empty()) return;
  const text::Tokenizer phi2(read_shared(data, "phi-2"));
  CHECK(phi2.encode("a    b") == std::vector<TokenId>{64, 50284, 65});
  CHECK(phi2.encode("a    b", text::SpecialText::plain) == std::vector<TokenId>{64, 50284, 65});
  CHECK(phi2.decode(phi2.encode("if x:\n\t\ty  = 1")) == "if x:\n\t\ty  = 1");
}

TEST_CASE("tokenizer.json: a written file reads back as the same model") {
  const std::string data = shared_tokenizers();
  if (data.empty()) return;
  const TemporaryFolder folder;
  const std::string path = folder.file("tokenizer.json");
  for (const char* name :
       {"gpt2", "bert-base-uncased", "bert-base-cased", "roberta-base", "t5-small", "falcon", "phi-2", "phi-3-mini"}) {
    CAPTURE(name);
    const text::TokenizerModel model = read_shared(data, name);
    write_tokenizer_json(path, model);
    CHECK(read_tokenizer_json(path) == model);
    save_tokenizer(folder.file("tokenizer.h5"), model, start_provenance("test"));
    CHECK(load_tokenizer(folder.file("tokenizer.h5")).model() == model);
  }
}

namespace {

text::TokenizerModel trained(const text::TrainerOptions& options) {
  text::Trainer trainer(options);
  trainer.add("the cat sat on the mat, and the dog sat on the log; there the cats and dogs ran, they ran. ▁\t\n");
  return trainer.finish();
}

}  // namespace

TEST_CASE("tokenizer.json: what heddle trains reads back with the same ids") {
  const TemporaryFolder folder;
  const std::string path = folder.file("tokenizer.json");
  for (const text::TrainerOptions& options : std::vector<text::TrainerOptions>{
           {.kind = text::TokenizerKind::bpe, .vocab_size = 280, .special_tokens = {"<|pad|>"}},
           {.kind = text::TokenizerKind::wordpiece, .vocab_size = 60},
           {.kind = text::TokenizerKind::wordpiece, .vocab_size = 60, .cased = true},
           {.kind = text::TokenizerKind::wordpiece, .vocab_size = 60, .marks = text::Marks::keep},
           {.kind = text::TokenizerKind::wordpiece, .vocab_size = 60, .marks = text::Marks::remove},
           {.kind = text::TokenizerKind::wordpiece, .vocab_size = 60, .cased = true, .marks = text::Marks::european},
           {.kind = text::TokenizerKind::unigram, .vocab_size = 300},
           {.kind = text::TokenizerKind::unigram, .vocab_size = 60, .byte_fallback = false, .unknown = "<unk>"}}) {
    const text::Tokenizer tokenizer(trained(options));
    write_tokenizer_json(path, tokenizer.model());
    const text::Tokenizer read = load_tokenizer(path);
    CHECK(read.model().pieces == tokenizer.model().pieces);
    CHECK(read.model().lowercase == tokenizer.model().lowercase);
    CHECK(read.model().strip_accents == tokenizer.model().strip_accents);
    CHECK(read.model().european_accents == tokenizer.model().european_accents);
    CHECK(read.model().final_sigma == tokenizer.model().final_sigma);
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const std::string random = text::tricky_text(50, seed);
      if (tokenizer.kind() == text::TokenizerKind::unigram && !tokenizer.model().byte_fallback && !is_utf8(random))
        continue;
      CHECK(read.encode(random) == tokenizer.encode(random));
    }
    for (const std::string text :
         {"the cats ▁ran\t\n\n<|endoftext|>The [MASK] dög, <0x41>", "", "  ", "sat  on\u3000ran"}) {
      CHECK(read.encode(text) == tokenizer.encode(text));
    }
  }
  for (const text::TokenizerKind kind :
       {text::TokenizerKind::byte, text::TokenizerKind::character, text::TokenizerKind::word}) {
    const std::string message = message_of([&] { to_tokenizer_json(trained({.kind = kind, .vocab_size = 300})); });
    CHECK(contains(message, "cannot be written as tokenizer.json"));
  }
  // Without a frame, the tokens that one would name are known by their texts.
  const text::TokenizerModel pieces = trained({.kind = text::TokenizerKind::wordpiece, .vocab_size = 60});
  json bare = json::parse(to_tokenizer_json(pieces).dump());
  bare["post_processor"] = nullptr;
  write_bytes(path, bare.dump());
  const text::TokenizerModel read = read_tokenizer_json(path);
  CHECK(pieces.classification >= 0);
  CHECK(read.classification == pieces.classification);
  CHECK(read.separator == pieces.separator);
}

TEST_CASE("tokenizer.json: the steps around a model are written as they are published") {
  const std::map<std::string, std::vector<std::string>> steps{
      {"bert-base-uncased", {"pre_tokenizer", "post_processor"}},
      {"bert-base-cased", {"pre_tokenizer", "post_processor"}},
      {"gpt2", {"normalizer", "pre_tokenizer"}},
      {"phi-2", {"normalizer", "pre_tokenizer"}},
      {"falcon", {"normalizer", "pre_tokenizer", "post_processor"}},
      {"t5-small", {"post_processor"}},
      {"phi-3-mini", {"normalizer", "pre_tokenizer", "decoder"}}};
  for (const auto& [name, fields] : steps) {
    const std::string path = std::string(HEDDLE_GOLDENS) + "/" + name + "/tokenizer.json";
    json published = json::parse(read_bytes(path));
    json written = json::parse(to_tokenizer_json(read_tokenizer_json(path)).dump());
    for (const std::string& field : fields) {
      CAPTURE(name);
      CAPTURE(field);
      CHECK(written[field] == published[field]);
    }
  }
}

TEST_CASE("tokenizer.json: capitals and accents each go as the file says, accents by default where capitals go") {
  const TemporaryFolder folder;
  const std::string path = folder.file("tokenizer.json");
  text::TokenizerModel model = trained({.kind = text::TokenizerKind::wordpiece, .vocab_size = 60});
  for (const bool lowercase : {false, true}) {
    for (const bool strip_accents : {false, true}) {
      CAPTURE(lowercase);
      CAPTURE(strip_accents);
      model.lowercase = lowercase;
      model.strip_accents = strip_accents;
      model.european_accents = model.final_sigma = false;
      write_tokenizer_json(path, model);
      const text::TokenizerModel read = read_tokenizer_json(path);
      CHECK(read.lowercase == lowercase);
      CHECK(read.strip_accents == strip_accents);
    }
    json document = json::parse(to_tokenizer_json(model).dump());
    document["normalizer"]["strip_accents"] = nullptr;
    write_bytes(path, document.dump());
    CHECK(read_tokenizer_json(path).strip_accents == lowercase);
  }
}

TEST_CASE("tokenizer.json: what heddle does not have is named") {
  const TemporaryFolder folder;
  const std::string path = folder.file("tokenizer.json");
  const json good = json::parse(to_tokenizer_json(trained({.vocab_size = 280})).dump());
  const auto problem = [&](const std::function<void(json&)>& change) {
    json document = good;
    change(document);
    write_bytes(path, document.dump());
    const std::string message = message_of([&] { load_tokenizer(path); });
    return message.starts_with(path + ": ") ? message.substr(path.size() + 2) : "elsewhere: " + message;
  };
  CHECK(problem([](json&) {}) == "elsewhere: ");
  CHECK(problem([](json& d) {
          d["truncation"] = {{"max_length", 50}};
        }) == "truncation: is {\"max_length\":50}; heddle only supports null");
  CHECK(problem([](json& d) { d["new"] = 1; }) == "has 'new', which heddle does not support");
  CHECK(problem([](json& d) {
          d["normalizer"] = {{"type", "Nmt"}};
        }) == "normalizer: is of type 'Nmt', which heddle does not support");
  CHECK(contains(problem([](json& d) { d["normalizer"] = {{"type", "Replace"}}; }), "normalizer.pattern: must be"));
  for (const auto& [part, members] :
       {std::pair{"normalizer", "normalizers"}, std::pair{"pre_tokenizer", "pretokenizers"}}) {
    const std::string said = problem([&](json& d) {
      d[part] = {{"type", "Sequence"}, {members, json::array()}, {"behavior", "x"}};
    });
    CHECK_MESSAGE(contains(said, "has 'behavior', which heddle does not support"), said);
  }
  CHECK(contains(problem([](json& d) { d["pre_tokenizer"] = nullptr; }), "no tokenizer of type BPE with these"));
  CHECK(contains(problem([](json& d) { d["pre_tokenizer"] = {{"type", "Whitespace"}}; }), "pre_tokenizers: words"));
  CHECK(problem([](json& d) { d["model"]["type"] = "WordLevel"; }) ==
        "model.type: is 'WordLevel'; heddle has BPE, WordPiece and Unigram");
  CHECK(contains(problem([](json& d) { d["model"]["dropout"] = 0.1; }), "model.dropout: is 0.1"));
  CHECK(contains(problem([](json& d) { d["model"]["vocab"]["th"] = 7; }), "has the id of"));
  CHECK(contains(problem([](json& d) { d["model"]["vocab"]["th"] = -1; }), "model.vocab.th: must be a whole number"));
  CHECK(contains(problem([](json& d) { d["model"]["vocab"]["th"] = 1e9; }), "model.vocab.th: must be a whole number"));
  CHECK(contains(problem([](json& d) { d["model"]["vocab"]["th"] = 900; }), "outside the 281 pieces"));
  CHECK(contains(problem([](json& d) { d["model"]["merges"][0] = "th"; }), "model.merges[0]: is not a merge"));
  CHECK(contains(problem([](json& d) { d["model"]["merges"][0] = "q zz"; }), "names 'zz', which is not a piece"));
  CHECK(problem([](json& d) {
          json& merge = d["model"]["merges"][0];
          const std::string both = merge;
          merge = {both.substr(0, both.find(' ')), both.substr(both.find(' ') + 1)};
        }) == "elsewhere: ");
  CHECK(contains(problem([](json& d) {
                   d["model"]["merges"][0] = {"t", 5};
                 }),
                 "model.merges[0][1]: must be text, not 5"));
  CHECK(contains(problem([](json& d) { d["added_tokens"][0]["id"] = 300; }), "added_tokens[0]: has the id 300"));
  CHECK(contains(problem([](json& d) { d["decoder"]["type"] = "CTC"; }), "decoder: is of type 'CTC'"));
  CHECK(contains(problem([](json& d) { d["post_processor"] = {{"type", "X"}}; }), "post_processor: is of type 'X'"));
  CHECK(contains(problem([](json& d) { d = json::array(); }), "must be an object"));
  write_bytes(path, "{\n\"model\": }");
  CHECK(message_of([&] { load_tokenizer(path); }).starts_with(path + ":2: not valid JSON"));
  write_bytes(path, std::string(100000, '['));
  CHECK(contains(message_of([&] { load_tokenizer(path); }), "not valid JSON"));
}

TEST_CASE("tokenizer.json: frames of models that fill in no masks, as Llama and Whisper have them") {
  const TemporaryFolder folder;
  const std::string path = folder.file("tokenizer.json");
  const auto special = [](const char* name) { return json{{"SpecialToken", {{"id", name}, {"type_id", 0}}}}; };
  const auto text = [](const char* name) { return json{{"Sequence", {{"id", name}, {"type_id", 0}}}}; };
  const auto read = [&](const json& single, const json& pair, const char* second) {
    json document{
        {"model", {{"type", "BPE"}, {"vocab", {{"a", 0}, {"b", 1}, {"", 2}, {"ab", 3}}}, {"merges", {"a b"}}}},
        {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}}},
        {"post_processor",
         {{"type", "TemplateProcessing"},
          {"single", single},
          {"pair", pair},
          {"special_tokens", {{"<s>", {{"ids", {4}}}}, {"<t>", {{"ids", {5}}}}}}}},
        {"added_tokens", json::array()}};
    for (const char* name : {"<s>", second}) {
      const auto id = 4 + document["added_tokens"].size();
      document["added_tokens"].push_back({{"id", id}, {"content", name}, {"special", true}});
    }
    write_bytes(path, document.dump());
    return read_tokenizer_json(path);
  };
  const json llama = {special("<s>"), text("A")}, llama_pair = {special("<s>"), text("A"), special("<s>"), text("B")};
  const text::TokenizerModel model = read(llama, llama_pair, "<t>");
  CHECK(model.classification == 4);
  CHECK(model.separator == -1);
  const text::Tokenizer tokenizer(model);
  CHECK(tokenizer.encode("aba") == std::vector<TokenId>{3, 0});
  CHECK(tokenizer.decode(std::vector<TokenId>{3, 2, 0}) == "aba");  // Whisper's piece of no bytes
  const json whisper = {special("<s>"), special("<t>"), text("A"), special("<t>")},
             whisper_pair = {special("<s>"), special("<t>"), text("A"), text("B"), special("<t>")};
  const text::TokenizerModel other = read(whisper, whisper_pair, "<t>");
  CHECK(other.classification == -1);
  CHECK(other.separator == -1);
  CHECK(text::Tokenizer(other).encode("ab") == std::vector<TokenId>{3});
  CHECK(contains(message_of([&] { read(whisper, whisper_pair, "<mask>"); }), "post_processor: "));
}

TEST_CASE("tokenizer.json: added tokens may be listed in any order") {
  const TemporaryFolder folder;
  const std::string path = folder.file("tokenizer.json");
  const auto read = [&](const std::vector<Index>& order) {
    json tokens = json::array();
    for (const Index id : order) {
      tokens.push_back({{"id", id}, {"content", concatenate("<", id, ">")}, {"special", id != 3}});
    }
    const json document{{"model", {{"type", "BPE"}, {"vocab", {{"a", 0}, {"<1>", 1}}}, {"merges", json::array()}}},
                        {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}}},
                        {"added_tokens", tokens}};
    write_bytes(path, document.dump());
    return read_tokenizer_json(path);
  };
  const text::TokenizerModel model = read({1, 2, 3, 4});
  CHECK(model.pieces == std::vector<std::string>{"a", "<1>", "<2>", "<3>", "<4>"});
  CHECK(model.added_tokens == std::vector<Index>{3});
  CHECK(read({4, 2, 1, 3}) == model);
}

TEST_CASE("tokenizer.json: added tokens that are not normalised come before those that are, without a normalizer too") {
  const TemporaryFolder folder;
  const std::string path = folder.file("tokenizer.json");
  const auto read = [&](bool first_is_normalised, bool second_is_normalised) {
    const auto added = [](Index id, const char* content, bool is_normalised) {
      return json{{"id", id}, {"content", content}, {"normalized", is_normalised}, {"special", false}};
    };
    const json document{
        {"model", {{"type", "BPE"}, {"vocab", {{"a", 0}, {"b", 1}, {"c", 2}}}, {"merges", json::array()}}},
        {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}}},
        {"added_tokens", {added(3, "ab", first_is_normalised), added(4, "bc", second_is_normalised)}}};
    write_bytes(path, document.dump());
    return text::Tokenizer(read_tokenizer_json(path));
  };
  CHECK(read(true, false).encode("abc") == std::vector<TokenId>{0, 4});
  CHECK(read(false, true).encode("abc") == std::vector<TokenId>{3, 2});
  CHECK(read(false, false).encode("abc") == std::vector<TokenId>{3, 2});
  CHECK(read(true, true).model() == read(false, false).model());
}

TEST_CASE("tokenizer.json: the unknown token is special, and no added token, whatever the file says of it") {
  const TemporaryFolder folder;
  const std::string path = folder.file("tokenizer.json");
  const auto read = [&](bool special) {
    const json document{
        {"model",
         {{"type", "WordPiece"},
          {"unk_token", "[UNK]"},
          {"continuing_subword_prefix", "##"},
          {"max_input_chars_per_word", 100},
          {"vocab", {{"a", 0}, {"[UNK]", 1}}}}},
        {"added_tokens",
         {{{"id", 1}, {"content", "[UNK]"}, {"special", special}}, {{"id", 2}, {"content", "b"}, {"special", false}}}}};
    write_bytes(path, document.dump());
    return read_tokenizer_json(path);
  };
  const text::TokenizerModel model = read(false);
  CHECK(model.unknown == 1);
  CHECK(model.special_tokens == std::vector<Index>{1});
  CHECK(model.added_tokens == std::vector<Index>{2});
  CHECK(read(true) == model);
}

TEST_CASE("tokenizer.json: a piece of no bytes takes part in no merge") {
  text::TokenizerModel model;
  model.kind = text::TokenizerKind::bpe;
  model.pieces = {"a", "", "b"};
  CHECK(text::Tokenizer(model).encode("ab") == std::vector<TokenId>{0, 2});
  model.merges = {0, 1};
  CHECK_THROWS_AS(text::Tokenizer{model}, DataError);
}

TEST_CASE("tokenizer.json: a place names the piece whose id is wrong, whatever the piece") {
  const TemporaryFolder folder;
  const std::string path = folder.file("tokenizer.json");
  write_bytes(path, R"({"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false},)"
                    R"("model": {"type": "BPE", "vocab": {"a": 0, "": 0}, "merges": []}})");
  CHECK(message_of([&] { load_tokenizer(path); }) == path + ": model.vocab.'': has the id of 'a'");
}

TEST_CASE("foreign vocabularies: what is none of them is told what would be") {
  const TemporaryFolder folder;
  write_bytes(folder.file("text"), "words\n");
  const std::string directory = message_of([&] { load_tokenizer(folder.path().string()); });
  CHECK(contains(directory, "is a directory without a tokenizer"));
  const std::string file = message_of([&] { load_tokenizer(folder.file("text")); });
  CHECK(contains(file, "is plain text"));
  write_bytes(folder.file("vocab.json"), R"({"a": 0, "b": 1, "ab": 2})");
  CHECK(
      contains(message_of([&] { load_tokenizer(folder.file("vocab.json")); }),
               "vocab.json: is a list of pieces and ids, not a tokenizer; name the directory that has it with merges"));
  for (const char* name : {"tokenizer.json", "vocab.txt", "merges.txt", "vocab.bpe"}) {
    CHECK(contains(directory, name));
    CHECK(contains(file, name));
  }
}

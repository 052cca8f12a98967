// Fields of the files beside a vocabulary or a model: carried out, refused by name, or reported as not used.
#include "formats/huggingface/side_files.hpp"

#include "formats/foreign_models.hpp"
#include "formats/huggingface/load_tokenizer.hpp"

using namespace heddle;
using namespace heddle::formats;
using namespace heddle::tests;

namespace {

// GPT-2's two files with a piece for each of a few letters, and side files.
class LetterFolder {
 public:
  LetterFolder() {
    json ids;
    for (const char* piece : {"a", "b", "c", "|", "<", ">", "<|endoftext|>"}) ids[piece] = ids.size();
    write("vocab.json", ids);
    write_bytes(folder_.file("merges.txt"), "");
  }
  void write(const std::string& name, const json& content) const { write_bytes(folder_.file(name), content.dump()); }
  std::string path() const { return folder_.path().string(); }
  text::Tokenizer read() const { return load_tokenizer(path()); }
  std::string problem() const {
    return message_of([&] { load_tokenizer(path()); });
  }

 private:
  TemporaryFolder folder_;
};

class WordFolder {
 public:
  WordFolder() { write_bytes(folder_.file("vocab.txt"), "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nab\nAb\n"); }
  text::TokenizerModel with(const json& config) const {
    write_bytes(folder_.file("tokenizer_config.json"), config.dump());
    return load_tokenizer(folder_.path().string()).model();
  }
  std::string problem(const json& config) const {
    return message_of([&] { with(config); });
  }

 private:
  TemporaryFolder folder_;
};

const json user{{"<a|b>", 7}};

}  // namespace

TEST_CASE("side files: tokens of added_tokens.json and added_tokens_decoder are tokens") {
  const std::vector<TokenId> expected{7, 2};  // <a|b> and c
  const LetterFolder one;
  one.write("added_tokens.json", user);
  CHECK(one.read().encode("<a|b>c") == expected);
  CHECK_FALSE(one.read().is_special(7));
  one.write("special_tokens_map.json", {{"additional_special_tokens", {"<a|b>"}}});
  CHECK(one.read().encode("<a|b>c") == expected);
  CHECK(one.read().is_special(7));

  const LetterFolder other;
  const auto decoder = [](const json& token) { return json{{"added_tokens_decoder", {{"7", token}}}}; };
  other.write("tokenizer_config.json", decoder({{"content", "<a|b>"}, {"special", true}, {"lstrip", true}}));
  CHECK(other.read().encode("<a|b>c") == expected);
  CHECK(other.read().is_special(7));
  CHECK(other.read().model().strip_left == std::vector<Index>{7});
  other.write("tokenizer_config.json", decoder({{"content", "<a|b>"}, {"single_word", true}}));
  CHECK(other.read().encode("<a|b>c") == std::vector<TokenId>{4, 0, 3, 1, 5, 2});  // with a letter beside it
  CHECK(other.read().encode("c<<a|b>>") == std::vector<TokenId>{2, 4, 7, 5});
  other.write("tokenizer_config.json", decoder({{"content", "<a|b>"}}));
  other.write("added_tokens.json", {{"<b|a>", 7}});
  CHECK(contains(other.problem(), "another file beside it has"));
}

TEST_CASE("side files: an added token without a place in the vocabulary is an error") {
  const LetterFolder folder;
  folder.write("added_tokens.json", {{"<a|b>", 9}});
  CHECK(contains(folder.problem(), "gives '<a|b>' the id 9"));
  folder.write("added_tokens.json", {{"<a|b>", 2}});
  CHECK(contains(folder.problem(), "the id 2, which is not its id"));
  folder.write("added_tokens.json", {{"c", 2}});
  CHECK(folder.read().model().added_tokens == std::vector<Index>{2});
}

TEST_CASE("side files: the tokens of special_tokens_map.json and tokenizer_config.json have their roles") {
  const LetterFolder folder;
  folder.write("added_tokens.json", user);
  folder.write("special_tokens_map.json", {{"eos_token", {{"content", "<a|b>"}, {"rstrip", true}}}});
  CHECK(folder.read().model().end_of_text == 7);
  CHECK(folder.read().model().strip_right == std::vector<Index>{7});
  folder.write("special_tokens_map.json", {{"eos_token", "<x>"}});
  CHECK(contains(folder.problem(), "special_tokens_map.json: eos_token: names '<x>', which is not a token"));
  const LetterFolder extra;
  extra.write("added_tokens.json", user);
  for (const json& tokens : {json{"<a|b>"}, json{{"user_token", "<a|b>"}}}) {
    extra.write("tokenizer_config.json", {{"extra_special_tokens", tokens}});
    CHECK(extra.read().is_special(7));
  }
  extra.write("tokenizer_config.json", {{"extra_special_tokens", {"<x>"}}});
  CHECK(contains(extra.problem(), "extra_special_tokens[0]: names '<x>', which is not a token"));
  const WordFolder words;
  const text::TokenizerModel model = words.with({{"cls_token", "ab"}, {"sep_token", "Ab"}});
  CHECK(model.classification == 5);
  CHECK(model.separator == 6);
}

TEST_CASE("side files: fields that change ids are carried out or refused by name") {
  const WordFolder words;
  CHECK(words.with({{"do_lower_case", true}}).lowercase);
  CHECK_FALSE(words.with({{"do_lower_case", true}, {"strip_accents", false}}).strip_accents);
  CHECK_FALSE(words.with({{"do_lower_case", false}}).lowercase);
  CHECK(words.problem({{"tokenizer_class", "BertTokenizerFast"}, {"never_split", json::array()}}).empty());
  const std::pair<const char*, json> refused[] = {{"tokenizer_class", "BertJapaneseTokenizer"},
                                                  {"word_tokenizer_type", "mecab"},
                                                  {"subword_tokenizer_type", "character"},
                                                  {"do_basic_tokenize", false},
                                                  {"never_split", {"ab"}},
                                                  {"auto_map", {{"AutoTokenizer", "x.Y"}}}};
  for (const auto& [field, value] : refused) {
    CAPTURE(field);
    CHECK(contains(words.problem({{field, value}}), std::string("tokenizer_config.json: ") + field + ": is "));
  }
  const json upper{{"do_lower_case", true}, {"added_tokens_decoder", {{"7", {{"content", "<A>"}}}}}};
  const text::TokenizerModel lower = words.with(upper);
  const text::Tokenizer tokenizer(lower);
  CHECK(tokenizer.encode("AB <a>[MASK] <A>\u00c1B[mask]") == std::vector<TokenId>{5, 7, 4, 7, 5, 1, 1, 1});
  CHECK(lower.normalisers == std::vector<std::string>{"clean", "space-chinese", "nfd", "strip-accents", "lowercase"});
  const json chinese{{"do_lower_case", false}, {"tokenize_chinese_chars", false}};
  CHECK(text::Tokenizer(words.with(chinese)).encode("\u4e2d\u6587ab").size() == 1);
  CHECK(text::Tokenizer(words.with({{"do_lower_case", false}})).encode("\u4e2d\u6587ab").size() == 3);

  const LetterFolder letters;
  for (const char* field : {"add_prefix_space", "do_lower_case"}) {
    letters.write("tokenizer_config.json", {{field, true}});
    CHECK(contains(letters.problem(), std::string("tokenizer_config.json: ") + field + ": is true"));
  }
}

TEST_CASE("side files: fields that change what a model computes are refused by name") {
  const Copy copy("gpt2-narrow");
  const auto problem = [&](const char* file, const json& content) {
    write_bytes(copy.file(file), content.dump());
    const std::string text = copy.problem();
    std::filesystem::remove(copy.file(file));
    return text;
  };
  CHECK(contains(problem("generation_config.json", {{"forced_bos_token_id", 3}}), "forced_bos_token_id: is 3"));
  CHECK(problem("generation_config.json", {{"num_beams", 3}}).empty());
  CHECK(contains(problem("sentence_bert_config.json", {{"do_lower_case", true}}), "do_lower_case: is true"));
  CHECK(problem("sentence_bert_config.json", {{"max_seq_length", 128}}).empty());
  CHECK(contains(problem("config_sentence_transformers.json", {{"default_prompt_name", "query"}}),
                 "default_prompt_name: is \"query\"; heddle only supports null"));
  CHECK(problem("config_sentence_transformers.json", {{"prompts", {{"query", "q: "}}}}).empty());
  const json dense = json::array({{{"type", "sentence_transformers.models.Dense"}}});
  CHECK(contains(problem("modules.json", dense), "modules.json: [0].type: is 'sentence_transformers.models.Dense'"));
  CHECK(contains(problem("tokenizer_config.json", {{"add_bos_token", true}}), "add_bos_token: is true"));
  std::filesystem::create_directory(copy.file("1_Pooling"));
  CHECK(contains(problem("1_Pooling/config.json", {{"pooling_mode_max_tokens", true}}), "pooling_mode_max_tokens"));
  for (const char* field : {"quantization_config", "auto_map", "rope_scaling", "pruned_heads"}) {
    copy.set(field, {{"x", 1}});
    CHECK(contains(copy.problem(), std::string("config.json: ") + field + ": is {"));
    CHECK_FALSE(contains(copy.problem(), "null or null"));
    copy.set(field, nullptr);
  }
  CHECK(copy.problem().empty());
}

TEST_CASE("side files: the other fields are reported") {
  const LetterFolder folder;
  folder.write("tokenizer_config.json",
               {{"eos_token", "<|endoftext|>"}, {"model_max_length", 9}, {"padding_side", "l"}});
  const std::vector<std::string> expected{folder.path() + "/tokenizer_config.json: not used: model_max_length, " +
                                          "padding_side"};
  CHECK(unused_fields(folder.path()) == expected);
  const Copy copy("gpt2-narrow");
  const std::vector<std::string> unused = unused_fields(copy.path());
  REQUIRE(unused.size() >= 1);
  CHECK(contains(unused.back(), "config.json: not used: "));
  CHECK_FALSE(contains(unused.back(), "n_embd"));
}

// No reader takes more memory than 20 times its file and 64 MB, whatever the file says. A lower bound for
// smaller files finds as much in less time: 10 MB instead of 64 for files of 1 MB.
#include <functional>

#include "formats/files.hpp"
#include "formats/huggingface/foreign_model.hpp"
#include "formats/huggingface/load_tokenizer.hpp"
#include "formats/huggingface/safetensors.hpp"
#include "formats/huggingface/sharded_safetensors.hpp"
#include "formats/json/node.hpp"
#include "formats/labelled/bias_tests.hpp"
#include "formats/labelled/marked_words.hpp"
#include "formats/sentencepiece_proto.hpp"
#include "support/labelled.hpp"
#include "support/peak_memory.hpp"

using namespace heddle;
using namespace heddle::formats;
namespace proto = heddle::tests::proto;
using heddle::tests::TemporaryFolder;
using heddle::tests::write_bytes;

namespace {

constexpr std::size_t file_bytes = std::size_t{1} << 20;

// The part, with the number of each in place of #, as often as it fits.
std::string repeated(const std::string& part, const std::string& before = "", const std::string& behind = "",
                     std::size_t bytes = file_bytes) {
  std::string text = before;
  text.reserve(bytes + part.size() + behind.size());
  const bool is_numbered = part.find('#') != std::string::npos;
  while (!is_numbered && text.size() < bytes) text += part;
  for (std::size_t number = 0; text.size() < bytes; ++number) {
    std::string one = part;
    for (std::size_t at = 0; (at = one.find('#', at)) != std::string::npos;) {
      const std::string digits = std::to_string(number);
      one.replace(at, 1, digits);
      at += digits.size();
    }
    text += one;
  }
  if (text.back() == ',' && !behind.empty()) text.pop_back();
  return text + behind;
}

// As long as a file of labelled data that its reader's own limit stops.
std::string repeated_long(const std::string& part, const std::string& before = "", const std::string& behind = "") {
  return repeated(part, before, behind, 4 * file_bytes);
}

void check_bounded(const std::string& what, std::size_t size, const std::function<void()>& read) {
  CAPTURE(what);
  constexpr std::size_t factor = 20;
  const std::size_t slack = 12 * size;
  const std::size_t peak = heddle::testing::peak_memory(read);
  CAPTURE(peak);
  CAPTURE(size);
  CHECK(peak <= factor * size + slack);
}

// Files of JSON whose values take much memory for their bytes.
const std::vector<std::pair<const char*, std::string>>& hostile_lists() {
  static const std::vector<std::pair<const char*, std::string>> lists = {
      {"numbers", "0,"}, {"lists", "[],"}, {"objects", "{},"}, {"texts", "\"\","}, {"pairs", "[0,0],"}};
  return lists;
}

std::string with_length(const std::string& header) {
  const auto length = static_cast<std::uint64_t>(header.size());
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + header;
}

const std::string bpe_begin =
    R"({"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false}, "model": {"type": "BPE", )";

// A tokenizer whose list of pieces, at the end, is read: one with other parts is refused before.
const std::string unigram_begin =
    R"({"pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, {"type": "Metaspace", )"
    R"("replacement": "\u2581", "add_prefix_space": true}]}, "model": {"type": "Unigram", "unk_id": 0, "vocab": [)";

}  // namespace

TEST_CASE("memory: documents of JSON") {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.json");
  for (const auto& [what, part] : hostile_lists()) {
    write_bytes(path, repeated(part, "[", "]"));
    check_bounded(what, file_bytes, [&] { read_json(path); });
  }
  write_bytes(path, repeated("\"#\":0,", "{", "}"));
  check_bounded("keys", file_bytes, [&] { read_json(path); });
}

TEST_CASE("memory: tokenizer.json") {
  const TemporaryFolder folder;
  const std::string path = folder.file("tokenizer.json");
  for (const auto& [what, part] : hostile_lists()) {
    for (
        const std::string& begin :
        {bpe_begin + R"("vocab": {"a": 0}, "merges": [)", unigram_begin,
         std::string(
             R"({"model": {"type": "WordPiece", "vocab": {}}, "pre_tokenizer": {"type": "Sequence", "pretokenizers": [)"),
         bpe_begin + R"("vocab": {"a": 0}, "merges": []}, "added_tokens": [)"}) {
      CAPTURE(begin);
      const std::string end = begin.find("added") != begin.npos ? "]}" : "]}}";
      write_bytes(path, repeated(part, begin, end));
      check_bounded(what, file_bytes, [&] { load_tokenizer(path); });
      CHECK_FALSE(tests::contains(tests::message_of([&] { load_tokenizer(path); }), "no tokenizer of type"));
    }
  }
  write_bytes(path, repeated("\"#\":#,", bpe_begin + R"("merges": [], "vocab": {)", "}}}"));
  check_bounded("BPE", file_bytes, [&] { load_tokenizer(path); });
  write_bytes(path, repeated(R"(["#",0],)", unigram_begin, "]}}"));
  check_bounded("Unigram", file_bytes, [&] { load_tokenizer(path); });
  CHECK_NOTHROW(load_tokenizer(path));
  write_bytes(path, repeated(R"({"id":#,"content":"#"},)",
                             bpe_begin + R"("vocab": {}, "merges": []}, "added_tokens": [)", "]}"));
  check_bounded("added tokens", file_bytes, [&] { load_tokenizer(path); });
}

TEST_CASE("memory: SentencePiece's models") {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.model");
  const std::string begin = proto::piece("<unk>", 0, proto::unknown) + proto::piece("\u2581");
  const auto check_pieces = [&](const char* what, const std::string& more,
                                const std::function<std::string(int)>& part) {
    std::string bytes = begin + more;
    for (int number = 0; bytes.size() < file_bytes; ++number) bytes += part(number);
    write_bytes(path, bytes);
    check_bounded(what, bytes.size(), [&] { load_tokenizer(path); });
  };
  const std::string bpe = proto::bytes(2, proto::number(3, 2));
  const auto short_one = [](int number) { return proto::bytes(1, proto::bytes(1, std::to_string(number))); };
  check_pieces("empty pieces", "", [](int) { return proto::bytes(1, ""); });
  check_pieces("equal pieces", "", [](int) { return proto::bytes(1, proto::bytes(1, "a")); });
  check_pieces("unigram", "", short_one);
  check_pieces("bpe", bpe, short_one);
  check_pieces("control pieces", "", [](int number) {
    return proto::bytes(1, proto::bytes(1, std::to_string(number)) + proto::number(3, proto::control));
  });
  check_pieces("growing pieces", bpe, [](int number) { return proto::piece(std::string(number % 3000 + 1, 'a')); });
  write_bytes(path, begin + proto::bytes(3, proto::bytes(2, std::string(file_bytes, 'x'))));
  check_bounded("charsmap", file_bytes, [&] { load_tokenizer(path); });
  std::string map = std::string("\0\0\x60\0", 4) + std::string(0x600000, '\x1');
  write_bytes(path, begin + proto::bytes(3, proto::bytes(2, map + '\0')));
  check_bounded("charsmap", map.size(), [&] { load_tokenizer(path); });
}

TEST_CASE("memory: vocabularies and merges") {
  const TemporaryFolder folder;
  const std::string vocabulary = folder.file("vocab.txt");
  for (const char* part : {"#\n", "\n", "a\n"}) {
    write_bytes(vocabulary, repeated(part, "[UNK]\n"));
    check_bounded(part, file_bytes, [&] { load_tokenizer(vocabulary); });
  }
  const TemporaryFolder gpt2;
  write_bytes(gpt2.file("merges.txt"), "");
  write_bytes(gpt2.file("vocab.json"), repeated("\"#\":#,", "{", "}"));
  check_bounded("vocab.json", file_bytes, [&] { load_tokenizer(gpt2.path().string()); });
  write_bytes(gpt2.file("vocab.json"), R"({"a": 0, "b": 1, "ab": 2})");
  for (const char* part : {"a b\n", "\n"}) {
    write_bytes(gpt2.file("merges.txt"), repeated(part));
    check_bounded(part, file_bytes, [&] { load_tokenizer(gpt2.path().string()); });
  }
  const TemporaryFolder marian;
  const std::string pieces = proto::piece("<unk>", 0, proto::unknown) + proto::piece("\u2581") + proto::piece("a");
  for (const char* name : {"source.spm", "target.spm"}) write_bytes(marian.file(name), pieces);
  write_bytes(marian.file("vocab.json"), repeated("\"#\":#,", "{", "}"));
  check_bounded("Marian's vocabulary", file_bytes, [&] { load_tokenizer(marian.path().string()); });
}

TEST_CASE("memory: safetensors and config.json") {
  const TemporaryFolder folder;
  const std::string longer(200, 'd');
  std::filesystem::create_directories(folder.path() / longer / longer);
  const std::string path = folder.file(longer + "/" + longer + "/model.safetensors");
  const std::string directory = std::filesystem::path(path).parent_path().string();
  write_bytes(path, with_length(repeated(R"("#":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},)", "{", "}")));
  check_bounded("tensors", file_bytes, [&] { read_safetensors(path); });
  for (const auto& [what, part] : hostile_lists()) {
    const std::string list = repeated(part, "", "]}}");
    for (const char* begin :
         {R"({"a":{"dtype":"U8","shape":[)", R"({"a":{"shape":[1],"dtype":"U8","data_offsets":[)"}) {
      write_bytes(path, with_length(begin + list));
      check_bounded(what, file_bytes, [&] { read_safetensors(path); });
    }
    write_bytes(directory + "/config.json", repeated(part, R"({"model_type": [)", "]}"));
    check_bounded(what, file_bytes, [&] {
      std::vector<std::string> files;
      read_model_directory(directory, files);
    });
  }
  std::filesystem::remove(path);
  write_bytes(directory + "/model.safetensors.index.json", repeated(R"("#":"m",)", R"({"weight_map": {)", "}}"));
  check_bounded("index", file_bytes, [&] { read_directory_tensors(directory); });
}

TEST_CASE("memory: labelled text") {
  const auto check_text = [](const char* what, const std::string& content, const auto& read) {
    check_bounded(what, content.size(), [&] { read(content); });
  };
  const auto tsv = [](const std::string& text) { read_tsv(text, "x", Texts::one, Gold::given); };
  const auto texts = [](const std::string& text) { read_tsv(text, "x", Texts::one, Gold::absent); };
  const auto csv = [](const std::string& text) { read_csv(text, "x", Texts::one, Gold::given); };
  const auto jsonl = [](const std::string& text) { read_jsonl_texts(text, "x", Texts::one, Gold::given); };
  const auto spans = [](const std::string& text) { read_jsonl_spans(text, "x", Gold::given); };
  const auto squad = [](const std::string& text) { read_squad(text, "x", Gold::given); };
  const auto conll = [](const std::string& text) { read_conll(text, "x", "", Gold::given); };
  const auto conllu = [](const std::string& text) { read_conllu(text, "x", "", Gold::given); };
  const auto marked = [](const std::string& text) { read_marked_words(text, "x", Gold::given); };
  const auto bias = [](const std::string& text) { read_bias_tests(text, "x"); };
  check_text("short lines", repeated_long("a\t\n"), tsv);
  check_text("empty lines", repeated_long("\n"), texts);
  check_text("columns", repeated_long("\t"), tsv);
  check_text("ordinary lines", repeated_long("spam\tan ordinary message of some words\n"), tsv);
  check_text("short rows", repeated_long("a,b\n", "text,label\n"), csv);
  check_text("quoted rows", repeated_long("\"\",\"b\"\n", "text,label\n"), csv);
  check_text("ordinary rows", repeated_long("\"an ordinary message, of some words\",ham\n", "text,label\n"), csv);
  check_text("names of columns", repeated_long(","), csv);
  check_text("fields", repeated_long(",", "text,label\n"), csv);
  check_text("doubled quotes", repeated_long("\"\"", "text,label\na,\"", "\""), csv);
  check_text("an open quote", repeated_long("a\n", "text,label\n\""), csv);
  check_text("lines of JSON", repeated_long("{\"text\":\"\",\"label\":\"a\"}\n"), jsonl);
  check_text("empty lines of JSON", repeated_long("\n"), jsonl);
  check_text("one line of JSON", repeated_long("0,", "{\"text\":[", "]}"), jsonl);
  check_text("questions",
             repeated_long(R"({"question":"","context":"a","answers":[]})"
                           "\n"),
             spans);
  const std::string question = R"("context":"a","qas":[{"id":0,"question":"","answers":)";
  check_text(
      "answers",
      repeated_long(R"({"text":"a","answer_start":0},)", R"({"data":[{"paragraphs":[{)" + question + "[", "]}]}]}]}"),
      squad);
  check_text("questions of SQuAD",
             repeated_long(R"({"id":0,"question":"","answers":[]},)",
                           R"({"data":[{"paragraphs":[{"context":"a","qas":[)", "]}]}]}"),
             squad);
  const std::string starts = repeated_long("0,", "\"answer_start\":[", "]}}]}]}]}");
  std::string answers = R"({"data":[{"paragraphs":[{)" + question + "{\"text\":[";
  for (std::size_t i = 0; i < 2 * file_bytes; ++i) answers += "\"a\",";
  answers.back() = ']';
  check_text("lists of answers", answers + "," + starts, squad);
  check_text("sentences of one word", repeated_long("a b\n\n"), conll);
  check_text("words", repeated_long("a b\n"), conll);
  check_text("columns of words", repeated_long("a "), conll);
  check_text("columns between tabs", repeated_long("\t"), conllu);
  check_text("sentences of CoNLL-U", repeated_long("1\ta\t_\tX\t_\t_\t_\t_\t_\t_\n\n"), conllu);
  const auto tagged = [](const std::string& text) { read_tagged_sentences(text, "x.jsonl", {}, Gold::given); };
  const auto table = [](const std::string& text) { read_tagged_sentences(text, "x.csv", {}, Gold::given); };
  check_text("tagged objects", repeated_long("{\"tokens\":[\"a\"],\"ner_tags\":[\"O\"]}\n"), tagged);
  check_text("texts with spans", repeated_long("{\"text\":\"a b c d e f g\",\"entities\":[]}\n"), tagged);
  check_text("a long text", repeated_long("a ", "{\"entities\":[],\"text\":\"", "\"}"), tagged);
  check_text("rows of words", repeated_long("1,a,O\n", "sentence,word,tag\n"), table);
  check_text("sentences of one row", repeated_long("#,a,O\n", "sentence,word,tag\n"), table);
  check_text("marked words", repeated_long("a "), marked);
  check_text("a marked sentence", repeated_long("a ", "s\t0\t"), marked);
  check_text("marked lines", repeated_long("s\t0\ta\n"), marked);
  check_text("bias tests", repeated_long("a,", "[weat x]\nx = "), bias);
}

TEST_CASE("memory: files of many short lines are refused, ordinary ones are read") {
  const auto refusal = [](const std::string& content) {
    return tests::message_of([&] { read_tsv(content, "x.tsv", Texts::one, Gold::given); });
  };
  CHECK(refusal(repeated_long("a\t\n")) == "x.tsv: has too many parts of a few bytes each to be data of this format");
  CHECK(refusal(repeated_long("a\tword\n")) == "");
}

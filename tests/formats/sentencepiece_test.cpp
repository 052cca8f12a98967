// SentencePiece's model files: the ids that its own program gives to texts, and what is refused.
#include <doctest/doctest.h>

#include <functional>
#include <random>

#include "formats/golden.hpp"
#include "formats/heddle/tokenizer_file.hpp"
#include "formats/huggingface/load_tokenizer.hpp"
#include "formats/sentencepiece/message.hpp"
#include "formats/sentencepiece/sentencepiece_reader.hpp"
#include "formats/sentencepiece_proto.hpp"

using namespace heddle;
using namespace heddle::formats;
using namespace heddle::tests;
using nlohmann::json;

namespace {

using Ids = std::vector<TokenId>;
constexpr auto plain = text::SpecialText::plain;  // as SentencePiece reads text

// Checks the ids of each line; returns how many there are.
int check_lines(const text::Tokenizer& tokenizer, const std::string& texts, const std::string& golden) {
  int count = 0;
  std::istringstream lines(texts), ids(golden);
  for (std::string line, expected; std::getline(lines, line) && std::getline(ids, expected); ++count) {
    CAPTURE(line);
    CHECK(tokenizer.encode(line, plain) == numbers(expected));
  }
  return count;
}

std::string sentencepiece_problem(const std::string& bytes) {
  const TemporaryFolder folder;
  write_bytes(folder.file("x.model"), bytes);
  const std::string message = message_of([&] { load_tokenizer(folder.file("x.model")); });
  const std::string name = folder.file("x.model") + ": ";
  return message.starts_with(name) ? message.substr(name.size()) : message;
}

text::TokenizerModel read_proto(const std::string& bytes) {
  const TemporaryFolder folder;
  write_bytes(folder.file("x.model"), bytes);
  return load_tokenizer(folder.file("x.model")).model();
}

}  // namespace

TEST_CASE("sentencepiece: ids of unigram and bpe models, with and without normalisation, bytes and first spaces") {
  const json golden = json::parse(read_bytes(HEDDLE_SENTENCEPIECE "/golden.json"));
  CHECK(golden.size() >= 8);
  for (const auto& [name, cases] : golden.items()) {
    CAPTURE(name);
    CHECK(cases.size() >= 20);
    const std::string path = std::string(HEDDLE_SENTENCEPIECE) + "/" + name + ".model";
    const text::Tokenizer tokenizer = load_tokenizer(path);
    for (const json& one : cases) {
      CAPTURE(one[0].dump());
      CHECK(tokenizer.encode(one[0].get<std::string>(), plain) == one[1].get<Ids>());
    }
    // The same from a file of heddle's.
    const TemporaryFolder folder;
    save_tokenizer(folder.file("t.h5"), tokenizer.model(), {});
    CHECK(load_tokenizer(folder.file("t.h5")).model() == tokenizer.model());
  }
}

TEST_CASE("sentencepiece: two published models, and two novels") {
  const std::string data = shared_tokenizers();
  if (data.empty()) return;
  const std::string models = data + "/sentencepiece/", ids = data + "/golden/sentencepiece/";
  CHECK(check_lines(load_tokenizer(models + "test_model.model"), read_bytes(models + "botchan.txt"),
                    unpacked(ids + "botchan.test_model.ids.txt.gz")) == 4288);
  CHECK(check_lines(load_tokenizer(models + "test_ja_model.model"), unpacked(models + "wagahaiwa_nekodearu.txt.gz"),
                    unpacked(ids + "wagahaiwa_nekodearu.test_ja_model.ids.txt.gz")) == 2344);
}

TEST_CASE("sentencepiece: roles of control pieces, and the text that pieces stand for") {
  const text::TokenizerModel model =
      read_proto(proto::pieces() + proto::bytes(2, proto::number(42, 2) + proto::number(43, -1)));
  CHECK(model.kind == text::TokenizerKind::unigram);
  CHECK(model.special_tokens == std::vector<Index>{0, 1, 2});
  CHECK(model.unknown == 0);
  CHECK(model.end_of_text == 2);
  CHECK(model.padding == -1);
  const text::Tokenizer tokenizer(model);
  CHECK(tokenizer.encode(" ab  a") == Ids{7, 4});
  CHECK(tokenizer.decode(Ids{7, 4}) == "ab a");
  CHECK(tokenizer.encode("a</s>b") == Ids{4, 2, 3, 5});
  // An id that is not that of a control piece is none.
  CHECK(read_proto(proto::pieces() + proto::bytes(2, proto::number(42, 4))).end_of_text == -1);
  CHECK(read_proto(proto::pieces() + proto::bytes(2, proto::number(42, 1) + proto::number(43, 2))).padding == 2);
  CHECK(read_proto(proto::pieces() + proto::bytes(2, proto::number(3, 2))).kind == text::TokenizerKind::char_bpe);
}

TEST_CASE("sentencepiece: spiece.model in a directory, with the tokens that T5's have besides") {
  const TemporaryFolder folder;
  write_bytes(folder.file("spiece.model"), proto::pieces());
  CHECK(load_tokenizer(folder.path().string()).vocab_size() == 8);
  write_bytes(folder.file("tokenizer_config.json"), R"({"extra_ids": 3, "model_max_length": 512})");
  const text::Tokenizer tokenizer = load_tokenizer(folder.path().string());
  CHECK(tokenizer.vocab_size() == 11);
  CHECK(tokenizer.encode("a<extra_id_0>b<extra_id_2>") == Ids{4, 10, 3, 5, 8});
  write_bytes(folder.file("tokenizer_config.json"), R"({"extra_ids": 20000})");
  CHECK(contains(message_of([&] { load_tokenizer(folder.path().string()); }), "extra_ids"));
}

TEST_CASE("sentencepiece: a model that only cuts text has the pieces of words and of users") {
  using namespace proto;
  const TemporaryFolder folder;
  write_bytes(folder.file("source.spm"), pieces() + piece("xy", 0, user_defined));
  CHECK(read_segmentation(folder.file("source.spm")).segments ==
        std::vector<std::string>{"\u2581", "\u2581a", "b", "a", "\u2581ab", "xy"});
}

TEST_CASE("sentencepiece: what heddle cannot express is an error that names it") {
  using namespace proto;
  const std::string good = pieces();
  struct Case {
    std::string bytes, expected;
  };
  for (const Case& one : std::vector<Case>{
           {good + bytes(2, number(3, 3)), "trainer_spec.model_type: is word; heddle reads unigram and bpe"},
           {good + bytes(2, number(3, 4)), "trainer_spec.model_type: is char"},
           {good + bytes(2, number(3, 9)), "trainer_spec.model_type: is 9"},
           {good + bytes(2, number(24, 1)), "treat_whitespace_as_suffix: is true"},
           {good + bytes(3, number(5, 0)), "escape_whitespaces: is false"},
           {good + bytes(3, number(3, 0)), "add_dummy_prefix and remove_extra_whitespaces must both be true"},
           {good + bytes(3, number(4, 0)), "must both be true in a unigram model"},
           {good + bytes(3, bytes(1, "mine") + bytes(2, "12345678")), "precompiled_charsmap ('mine'): the tokenizer's"},
           {good + bytes(3, number(4, 0) + bytes(2, "x")) + bytes(2, number(3, 2)),
            "only with remove_extra_whitespaces"},
           {good + bytes(5, bytes(2, "x")), "denormalizer_spec: has a map of characters"},
           {good + piece("c", -1, unused), "a piece of the type unused"},
           {good + piece("c", -1, 7), "a piece of the unknown type 7"},
           {good + piece("a\u2581b"), "goes beyond a word"},
           {good + piece("c d"), "the piece 'c\\sd' has a space"},
           {good + piece("\u2581c d", -1, user_defined), "has a space"},
           {good + piece("c", -1, user_defined) + bytes(2, number(3, 2)), "only in unigram models"},
           {good + piece("<u>", 0, unknown), "a second piece of the type unknown"},
           {good + piece("b"), "are both 'b'"},
           {good + piece("<0x41>", 0, byte), "lacks pieces for some of the 256 bytes"},
           {piece("<unk>", 0, unknown) + piece("a"), "no piece stands for a space"},
           {"", "not a model of SentencePiece"},
       }) {
    CAPTURE(one.expected);
    CHECK_MESSAGE(contains(sentencepiece_problem(one.bytes), one.expected), sentencepiece_problem(one.bytes));
  }
}

TEST_CASE("sentencepiece: a denormaliser that has a name alone changes nothing") {
  using namespace proto;
  CHECK(read_proto(pieces() + bytes(5, bytes(1, "identity"))) == read_proto(pieces()));
}

TEST_CASE("sentencepiece: what is no message of protocol buffers is refused at its byte") {
  using namespace proto;
  const std::string good = pieces();
  const std::string at = "at byte " + std::to_string(good.size()) + ": ";
  struct Case {
    std::string more, expected;
  };
  for (const Case& one : std::vector<Case>{
           {"\x08\x80", "ends within a number"},
           {std::string("\x10") + std::string(9, '\x80') + "\x02", "more than 64 bits"},
           {std::string("\x10") + std::string(10, '\x80') + "\x01", "more than 64 bits"},
           {std::string("\x20\x80\x00", 3), "more bytes than it needs"},
           {std::string("\x8a\x80\x00\x00", 4), "more bytes than it needs"},
           {std::string("\x02\x00", 2), "a field whose number is out of range"},
           {"\x53", "unknown form 3"},
           {"\x57", "unknown form 7"},
           {"\x52\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "a field of 18446744073709551615 bytes, and 0 are left"},
           {"\x55z", "a field of 4 bytes, and 1 are left"},
           {number(1, 5), "field 1 is a number, not text"},
           {bytes(1, bytes(1, "\xc3\x28")), "field 1 is not UTF-8"},
           {bytes(1, number(1, 1)), "field 1 is a number"},
           {bytes(1, bytes(1, "c") + number(2, 1)), "field 2 is not a number of 32 bits"},
           {bytes(1, bytes(1, "c") + bytes(1, "d")), "the field must not repeat"},
           {bytes(1, bytes(1, "c") + number(3, std::int64_t{1} << 40)), "field 3 is out of range"},
           {bytes(1, ""), "a piece without text"},
           {piece("c", std::numeric_limits<float>::infinity()), "a piece whose score is not finite"},
           {bytes(2, "") + bytes(2, ""), "the field must not repeat"},
           {bytes(3, number(3, 2)), "field 3 is neither true nor false"},
       }) {
    CAPTURE(one.expected);
    CHECK_MESSAGE(contains(sentencepiece_problem(good + one.more), one.expected),
                  sentencepiece_problem(good + one.more));
  }
  CHECK(contains(sentencepiece_problem(good + bytes(1, "")), at));
  // Fields that heddle does not know are passed over; a file that is cut off is refused but where a field ends.
  CHECK(sentencepiece_problem(good + bytes(99, "x") + real(98, 1) + number(97, -1)) == "");
  int whole = 0;
  for (std::size_t size = 0; size < good.size(); ++size)
    whole += sentencepiece_problem(good.substr(0, size)).empty() ? 1 : 0;
  CHECK(whole == 4);  // after the space and each piece that follows it
}

TEST_CASE("sentencepiece: models that spm_train makes here, and what spm_encode gives to random texts") {
  int status = 0;
  output_of("spm_train --version && spm_encode --version", status);
  if (status != 0) return testing::skipped("spm_train and spm_encode are not in PATH");
  const std::vector<std::string> parts{"the",          "cat",          "na\u00efve", "e\u0301",
                                       "\uff26\uff35", "\ufb01n",      "\u00bd",     "\u65e5\u672c\u8a9e",
                                       "\u4e2d",       "\u3002",       "\U0001f642", "\u00a0",
                                       "\u3000",       "\u2003",       "\t",         "   ",
                                       "\u2581",       "\u200b",       "\ufeff",     "\u2028",
                                       "\u0085",       "\u00df",       "123",        "...",
                                       "\u0e44\u0e17", "\u05e2",       "\x01",       "zzzz",
                                       "\\",           "\uff76\uff9e", "A\u030a",    "\r"};
  std::mt19937 draw(1);
  std::string texts;
  for (int line = 0; line < 400; ++line) {
    for (auto words = draw() % 12; words > 0; --words) {
      texts += parts[draw() % parts.size()];
      if (draw() % 3 > 0) texts += ' ';
    }
    texts += '\n';
  }
  const TemporaryFolder folder;
  write_bytes(folder.file("texts"), texts);
  for (const char* options : {"--model_type=unigram", "--model_type=unigram --byte_fallback --character_coverage=0.98",
                              "--model_type=bpe", "--model_type=bpe --normalization_rule_name=nmt_nfkc_cf",
                              "--model_type=unigram --normalization_rule_name=nfkc"}) {
    CAPTURE(options);
    const std::string trained =
        output_of("cd " + folder.path().string() + " && spm_train --input=texts --model_prefix=m --vocab_size=400 " +
                      "--hard_vocab_limit=false --minloglevel=2 " + options,
                  status);
    REQUIRE_MESSAGE(status == 0, trained);
    const std::string ids =
        output_of("cd " + folder.path().string() + " && spm_encode --model=m.model --output_format=id texts", status);
    REQUIRE(status == 0);
    CHECK(check_lines(load_tokenizer(folder.file("m.model")), texts, ids) == 400);
  }
}

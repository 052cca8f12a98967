// tokenize from outside: what it prints, what it writes, and how it fails.
#include <doctest/doctest.h>

#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "formats/heddle/token_file.hpp"
#include "libcore/base/random.hpp"
#include "support/json.hpp"
#include "support/skips.hpp"
#include "tools/command.hpp"
#include "tools/watching.hpp"

using heddle::testing::contains;
using heddle::testing::lines_in;
using heddle::testing::Outcome;
using heddle::testing::parse_json;
using heddle::testing::read_file;
using heddle::testing::repeated;
using heddle::testing::run_command;
using heddle::testing::TemporaryFolder;
using heddle::testing::watching;
using heddle::testing::write_file;

namespace tokenize_tests {

namespace {

using namespace std::string_literals;

const std::string tokenize = HEDDLE_TOOLS "/tokenize";

// Every kind of difficult character.
const std::string odd_text =
    "The cat sat on the mat.\r\nthe cat\n\n\r\n   \nna\xC3\xAFve \xF0\x9F\x90\x88\n\0\xff\xfe\x80\n"
    "<|endoftext|> the end<|endoftext|>\nno end"s;

std::string random_bytes(std::size_t count) {
  const heddle::RandomStream stream(7, heddle::random_site("tokenize_test"));
  std::string bytes;
  for (std::uint64_t block = 0; bytes.size() < count; ++block) {
    for (const std::uint32_t word : stream.block(block)) {
      for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(word >> shift);
    }
  }
  bytes.resize(count);
  return bytes;
}

// A folder with a text and a tokenizer of each kind trained on it, where commands run.
class Workplace {
 public:
  Workplace() {
    std::string text;
    for (int i = 0; i < 50; ++i) text += "the cat sat on the mat, and the dog saw that the cat sat there\n";
    write_file(folder_ / "text", text);
    write_file(folder_ / "odd", odd_text);
    for (const char* kind : {"bpe", "byte", "char", "word", "unigram"}) {
      REQUIRE(run("$T --train --model " + std::string(kind) + " -o " + kind + ".h5 text").status == 0);
    }
  }

  // $T is the program.
  Outcome run(const std::string& command) const {
    return run_command("cd " + (folder_ / ".") + "; T=" + tokenize + "; " + command);
  }
  std::string path(const std::string& name) const { return folder_ / name; }
  void write(const std::string& name, const std::string& bytes) const { write_file(folder_ / name, bytes); }
  std::string names() const { return run("ls -A").out; }

 private:
  TemporaryFolder folder_;
};

// A folder of real data, or "" where there is none.
std::string shared_data(const std::string& name) {
  const char* folder = std::getenv("HEDDLE_SHARED_DATA");
  const std::string path = folder == nullptr ? "" : std::string(folder) + "/" + name;
  if (!path.empty() && std::filesystem::exists(path)) return path;
  heddle::testing::skipped("no " + name + " in HEDDLE_SHARED_DATA");
  return "";
}

}  // namespace

TEST_CASE("tokenize: text, ids and text again are the same bytes") {
  const Workplace place;
  for (const std::string kind : {"bpe", "byte", "char", "word", "unigram"}) {
    for (const std::string special : {"token", "plain"}) {
      CAPTURE(kind);
      const std::string there = "$T -t " + kind + ".h5 --special " + special + " ";
      const std::string back = "$T -t " + kind + ".h5 --decode";
      CHECK(place.run(there + "odd | " + back).out == odd_text);
      CHECK(place.run("cat odd | " + there + "- | " + back + " -").out == odd_text);
      CHECK(place.run(there + "< odd > ids; " + back + " -o back ids; cat back").out == odd_text);
      CHECK(lines_in(read_file(place.path("ids"))) == lines_in(odd_text));
      for (const std::string text : {"", "\n", "x", "\r", "\r\n", "x\n", "\n\n", "\n\nx"}) {
        place.write("short", text);
        CHECK(place.run(there + "short | " + back).out == text);
      }
    }
  }
}

TEST_CASE("tokenize: a line of ids for every line of every file") {
  const Workplace place;
  place.write("open", "cat");
  const std::string cat = place.run("$T -t bpe.h5 open").out;
  CHECK(place.run("$T -t bpe.h5 open open open").out == cat + "\n" + cat + "\n" + cat);
  CHECK(place.run("$T -t byte.h5 open").out == "99 97 116");
  CHECK(place.run("$T -t byte.h5 --pieces odd | head -n 1").out == "T h e Ġ c a t Ġ s a t Ġ o n Ġ t h e Ġ m a t . č\n");
  CHECK(place.run("$T -t word.h5 --pieces <<< 'the cat'").out == "the \\scat\n");
  CHECK(place.run("$T -t bpe.h5 --pieces -o pieces text; cat pieces").out ==
        place.run("$T -t bpe.h5 --pieces text").out);
  CHECK(place.run("$T -t bpe.h5 -o - open").out == cat);
}

TEST_CASE("tokenize: special tokens in the text are tokens, or text like any other") {
  const Workplace place;
  CHECK(place.run("$T -t byte.h5 <<< 'a<|endoftext|>'").out == "97 256\n");
  CHECK(place.run("$T -t byte.h5 --special plain <<< '<|'").out == "60 124\n");
  CHECK(place.run("$T --train --model byte --special-tokens '<sep>,<pad>' --end-of-text none -o own.h5 text").status ==
        0);
  CHECK(place.run("$T -t own.h5 <<< '<pad><sep><|endoftext|>' | cut -d ' ' -f 1-3").out == "257 256 60\n");
}

TEST_CASE("tokenize: token files hold the text byte for byte, however it is divided") {
  const Workplace place;
  const std::map<std::string, long> documents{{"line", 12}, {"blank", 6}, {"file", 3}, {"whole", 1}};
  place.write("paragraphs", "\nfirst\nfirst\n\n\nsecond\r\n\r\nthird");
  const std::string all = read_file(place.path("paragraphs")) + "a\n\nb\n" + "xyz";
  place.write("tail", "xyz");
  for (const auto& [separator, count] : documents) {
    for (const std::string compress : {"", " --compress"}) {
      CAPTURE(separator);
      const Outcome made = place.run("printf 'a\\n\\nb\\n' | $T -t bpe.h5 --documents " + separator + compress +
                                     " -o tokens.h5 paragraphs - tail");
      CHECK(made.status == 0);
      CHECK(place.run("$T --decode tokens.h5").out == all);
      CHECK(place.run("$T -t bpe.h5 --decode tokens.h5").out == all);
      const heddle::formats::TokenFile file(place.path("tokens.h5"));
      CHECK(file.text_bytes() == static_cast<long>(all.size()));
      CHECK(file.documents() == count);
    }
  }
  // Tokens have two bytes each, or few where the text repeats itself.
  place.write("long", repeated(read_file(place.path("text")), 10));
  REQUIRE(place.run("$T -t byte.h5 -o plain.h5 long; $T -t byte.h5 --compress -o packed.h5 long").status == 0);
  CHECK(std::filesystem::file_size(place.path("plain.h5")) > 2 * 31'500);
  CHECK(std::filesystem::file_size(place.path("packed.h5")) < 31'500);
}

TEST_CASE("tokenize: every document of a token file ends with the end-of-text token, if there is one") {
  const Workplace place;
  place.write("two", "a<|endoftext|>\nb");
  CHECK(place.run("$T -t byte.h5 --documents line -o tokens.h5 two").err ==
        "tokenize: tokens.h5: 6 tokens of 2 documents, 16 bytes of text, 2.67 bytes per token\n");
  const heddle::formats::TokenFile file(place.path("tokens.h5"));
  std::vector<heddle::TokenId> ids(static_cast<std::size_t>(file.size()));
  file.read(0, ids);
  CHECK(ids == std::vector<heddle::TokenId>{97, 256, 10, 256, 98, 256});
  CHECK(file.text_bytes() == 3);
  CHECK(place.run("$T --decode tokens.h5").out == read_file(place.path("two")));

  REQUIRE(
      place.run("$T --train --model byte --end-of-text none -o bare.h5; $T -t bare.h5 -o bare_tokens.h5 two").status ==
      0);
  CHECK(heddle::formats::TokenFile(place.path("bare_tokens.h5")).size() == 16);
  CHECK(place.run("$T --decode bare_tokens.h5").out == read_file(place.path("two")));
}

TEST_CASE("tokenize: ten megabytes of random bytes come back") {
  const Workplace place;
  place.write("random", random_bytes(10'000'000));
  CHECK(place.run("$T -t bpe.h5 random | $T -t bpe.h5 --decode | cmp - random").status == 0);
  CHECK(place.run("$T -t bpe.h5 -o tokens.h5 random && $T --decode tokens.h5 | cmp - random").status == 0);
  const std::string gpt2 = shared_data("tokenizers/gpt2");
  if (gpt2.empty()) return;
  CHECK(place.run("G=" + gpt2 + "; cat random | $T -t $G | $T -t $G --decode | cmp - random").status == 0);
}

TEST_CASE("tokenize: GPT-2's ids through the executable") {
  const std::string gpt2 = shared_data("tokenizers/gpt2"), golden = shared_data("tokenizers/golden/gpt2.jsonl");
  if (gpt2.empty() || golden.empty()) return;
  const Workplace place;
  std::ifstream cases(golden);
  std::string text, wanted;
  for (std::string line; std::getline(cases, line);) {
    const auto entry = parse_json(line);
    const auto sample = entry["text"].get<std::string>();
    if (sample.find('\n') != std::string::npos) continue;
    text += sample + "\n";
    std::string ids;
    for (const int id : entry["ids"]) ids += (ids.empty() ? "" : " ") + std::to_string(id);
    wanted += ids + "\n";
  }
  REQUIRE(lines_in(wanted) > 20);
  place.write("cases", text);
  CHECK(place.run("$T -t " + gpt2 + " cases").out == wanted);
}

TEST_CASE("tokenize: the short goldens of published tokenizers through the executable") {
  const Workplace place;
  for (const std::string name :
       {"gpt2", "bert-base-uncased", "bert-base-cased", "roberta-base", "phi-2", "phi-3-mini", "falcon", "t5-small"}) {
    CAPTURE(name);
    const std::string folder = HEDDLE_GOLDENS "/" + name;
    const auto golden = parse_json(read_file(folder + "/golden.json"));
    std::string lines;
    std::vector<std::vector<int>> wanted;
    for (const auto& one : golden["cases"]) {
      const auto text = one["text"].get<std::string>();
      if (contains(text, "\n")) continue;
      lines += text + "\n";
      wanted.push_back(one["ids"]);
    }
    place.write("lines", lines);
    std::istringstream answers(place.run("$T -t " + folder + " lines").out);
    std::size_t at = 0;
    for (std::string line; std::getline(answers, line); ++at) {
      std::istringstream numbers(line);
      std::vector<int> ids;
      for (std::size_t id = 0; numbers >> id;) ids.push_back(golden["published"].at(id));
      CHECK(ids == wanted.at(at));
    }
    CHECK(at == wanted.size());
  }
}

TEST_CASE("tokenize: wordpiece gives words back, a line for a line, and documents in lines") {
  const Workplace place;
  REQUIRE(place.run("$T --train --model wordpiece --vocab-size 60 -o wordpiece.h5 text").status == 0);
  place.write("lines", "The CAT s\xC3\xA0t,\n\n  on\tthe dog\nthere sat");
  const Outcome ids = place.run("$T -t wordpiece.h5 lines");
  CHECK(lines_in(ids.out) == 3);
  CHECK(place.run("$T -t wordpiece.h5 lines | $T -t wordpiece.h5 --decode").out ==
        "the cat sat ,\n\non the dog\nthere sat");
  CHECK(contains(place.run("$T -t wordpiece.h5 --pieces lines").out, "the cat sat ,\n"));
  CHECK(place.run("printf 'what' | $T -t wordpiece.h5 --pieces").out == "[UNK]");
  CHECK(place.run("$T -t wordpiece.h5 --documents line -o tokens.h5 lines && $T --decode tokens.h5").out ==
        "the cat sat ,\n\non the dog\nthere sat\n");
  CHECK(place.run("mkdir bert; printf '[UNK]\\nthe\\n##m\\n' >bert/vocab.txt; echo Them | $T -t bert").out == "1 2\n");
  const Outcome damaged = place.run("printf '[UNK]\\nthe\\nthe\\n' >bert/vocab.txt; echo Them | $T -t bert");
  CHECK(damaged.status == 1);
  CHECK(contains(damaged.err, "bert/vocab.txt:3: the piece 'the' is already in line 2"));
}

TEST_CASE("tokenize: T5's words come back, a line for a line, and documents in lines") {
  const std::string packed = shared_data("tokenizers/t5-small/tokenizer.json.gz");
  if (packed.empty()) return;
  const Workplace place;
  place.write("lines", " the  cat\n\nHello\tWorld");
  REQUIRE(place.run("gzip -dc " + packed + " > tokenizer.json").status == 0);
  CHECK(place.run("$T -t tokenizer.json lines").out == "8 1712\n\n8774 1150");
  CHECK(place.run("$T -t tokenizer.json lines | $T -t . --decode").out == "the cat\n\nHello World");
  CHECK(place.run("$T -t . --documents line -o tokens.h5 lines && $T --decode tokens.h5").out ==
        "the cat\n\nHello World\n");
}

TEST_CASE("tokenize: the same file whatever the number of threads, and from a pipe") {
  const Workplace place;
  place.write("random", random_bytes(1'500'000));
  CHECK(place
            .run("$T -t bpe.h5 --threads 1 random > one; $T -t bpe.h5 --threads 3 random > three;"
                 "cat random | $T -t bpe.h5 > piped; cmp one three && cmp one piped")
            .status == 0);
}

TEST_CASE("tokenize: a line is answered before the next is there") {
  const Workplace place;
  const auto answers = [&](const std::string& options, const std::string& lines) {
    return place
        .run("coproc $T -t byte.h5 " + options + "; for line in " + lines +
             "; do echo $line >&${COPROC[1]}; read -ru ${COPROC[0]} -t 600 answer || break; echo \"$answer\"; done; "
             "kill $COPROC_PID")
        .out;
  };
  CHECK(answers("", "a bc") == "97\n98 99\n");
  CHECK(answers("--decode", "97 '98 99'") == "a\nbc\n");
  CHECK(answers("--offsets", "a bc") == "97:0:1\n98:0:1 99:1:2\n");
  CHECK(answers("--jsonl --offsets", "a bc") ==
        "{\"text\":\"a\",\"ids\":[97],\"offsets\":[[0,1]]}\n"
        "{\"text\":\"bc\",\"ids\":[98,99],\"offsets\":[[0,1],[1,2]]}\n");
}

TEST_CASE("tokenize: training reports its result, and warns when the text gives too little") {
  const Workplace place;
  const Outcome small = place.run("$T --train --vocab-size 5000 -o small.h5 text");
  CHECK(small.status == 0);
  CHECK(contains(small.err, "tokenize: warning: the vocabulary has "));
  CHECK(contains(small.err, " pieces instead of 5,000: "));
  CHECK(contains(small.err, "tokenize: small.h5: bpe tokenizer with "));
  CHECK(contains(small.err, "3,150 bytes of text"));
  const Outcome exact = place.run("cat text | $T --train --vocab-size 270 -o small.h5");
  CHECK(exact.err == "tokenize: small.h5: bpe tokenizer with 270 pieces, from 3,150 bytes of text\n");
  CHECK(place.run("$T -q --train -o small.h5 text").err.empty());
}

TEST_CASE("tokenize: provenance leads from the tokens through the tokenizer to the text") {
  const Workplace place;
  REQUIRE(place.run("$T -t bpe.h5 -o tokens.h5 odd - < text").status == 0);
  const heddle::formats::TokenFile file(place.path("tokens.h5"));
  const heddle::formats::Provenance provenance = file.file().provenance();
  REQUIRE(provenance.earlier.size() == 1);
  CHECK(provenance.earlier[0].command_line == "tokenize --train --model bpe -o bpe.h5 text");
  CHECK(provenance.own.command_line == "tokenize -t bpe.h5 -o tokens.h5 odd -");
  REQUIRE(provenance.own.inputs.size() == 3);
  CHECK(provenance.own.inputs[0].role == "tokenizer");
  CHECK(provenance.own.inputs[0].made_by == 0);
  const auto checksum = heddle::formats::checksum_file(place.path("text"));
  CHECK(provenance.own.inputs[1].name == "odd");
  CHECK(provenance.own.inputs[2].size == checksum.size);
  CHECK(provenance.own.inputs[2].xxh128 == checksum.xxh128);
  CHECK(provenance.earlier[0].inputs.at(0).xxh128 == checksum.xxh128);
}

TEST_CASE("tokenize: equal commands make equal files") {
  const Workplace place;
  const std::string command =
      "export SOURCE_DATE_EPOCH=1700000000; $T --train -o same.h5 text; $T -t same.h5 -o tokens.h5 text;";
  CHECK(place.run(command + "cp same.h5 a; cp tokens.h5 b;" + command + "cmp a same.h5 && cmp b tokens.h5").status ==
        0);
}

TEST_CASE("tokenize: text that has no tokens is found by file, line and byte") {
  const Workplace place;
  REQUIRE(place.run("$T --train --model char --no-byte-fallback -o strict.h5 text").status == 0);
  place.write("bad", "the cat\nthe ca\xfft\n");
  const std::string wanted = "tokenize: bad:2:7: invalid UTF-8";
  const auto last_line = [](const Outcome& outcome) { return heddle::testing::lines_of("\n" + outcome.err).back(); };
  CHECK(last_line(place.run("$T -t strict.h5 text bad")).starts_with(wanted));
  for (const std::string documents : {"line", "blank", "file", "whole"}) {
    CAPTURE(documents);
    const Outcome outcome = place.run("$T -t strict.h5 --documents " + documents + " -o tokens.h5 text bad text");
    CHECK(outcome.status == 1);
    CHECK(last_line(outcome).starts_with(wanted));
    CHECK(last_line(
              place.run("$T --train --model char --no-byte-fallback --documents " + documents + " -o new.h5 text bad"))
              .starts_with(wanted));
  }
  CHECK(place.run("printf 'the Q' | $T -t strict.h5").err.starts_with("tokenize: standard input:1:5: "));
  // A file counts its own lines and bytes, also where the one before it ends within a line.
  place.write("open", "the cat\nthe ca");
  place.write("first", "t Q\nthe cat\n");
  place.write("second", "t\nthe Q\n");
  for (const std::string documents : {"line", "blank", "file", "whole"}) {
    CAPTURE(documents);
    const std::string command = "$T -t strict.h5 --documents " + documents + " -o tokens.h5 open ";
    CHECK(last_line(place.run(command + "first")).starts_with("tokenize: first:1:3: "));
    CHECK(last_line(place.run(command + "second")).starts_with("tokenize: second:2:5: "));
  }
  CHECK_FALSE(contains(place.names(), "tokens.h5"));
  CHECK_FALSE(contains(place.names(), "new.h5"));
}

TEST_CASE("tokenize: ids that cannot be are found by file and line") {
  const Workplace place;
  place.write("ids", "97 98\n97\t\r\n 999 1\n");
  const Outcome outside = place.run("$T -t byte.h5 --decode ids");
  CHECK(outside.status == 1);
  CHECK(outside.err ==
        "tokenize: ids:3: token id 999 is outside the tokenizer's vocabulary of 257; decode it with the "
        "tokenizer that encoded it\n");
  for (const char* word : {"x7", "7x", "-1", "+1", "1.5", "99999999999999999999999999"}) {
    CAPTURE(word);
    const Outcome outcome = place.run("printf '1\\n2 " + std::string(word) + " 3' | $T -t byte.h5 --decode");
    CHECK(outcome.status == 1);
    CHECK(outcome.err.starts_with("tokenize: standard input:2: "));
    CHECK(lines_in(outcome.err) == 1);
  }
}

TEST_CASE("tokenize: missing, empty, foreign and damaged files are one line and status 1") {
  const Workplace place;
  place.write("empty", "");
  place.write("half.h5", read_file(place.path("bpe.h5")).substr(0, 3000));
  REQUIRE(place.run("$T -q -t bpe.h5 -o tokens.h5 text").status == 0);
  const std::map<std::string, std::string> failures{
      {"$T -t bpe.h5 absent", "tokenize: absent: cannot open"},
      {"$T -t absent text", "tokenize: absent: cannot open"},
      {"$T -t text text", "tokenize: text: is plain text"},
      {"$T -t empty text", "tokenize: empty: is empty"},
      {"$T -t half.h5 text", "tokenize: half.h5: "},
      {"mkdir -p folder; $T -t folder text", "tokenize: folder: "},
      {"$T -t bpe.h5 .", "tokenize: .: cannot read"},
      {"$T -t bpe.h5 -o out.h5 empty", "tokenize: empty: no text"},
      {"$T --train -o out.h5 empty", "tokenize: empty: no text"},
      {"$T --train -o out.h5 text absent", "tokenize: absent: cannot open"},
      {"$T -t bpe.h5 -o nowhere/out.h5 text", "tokenize: nowhere/out.h5: cannot create"},
      {"$T --train -o nowhere/out.h5 text", "tokenize: nowhere/out.h5: cannot create"},
      {"$T -t byte.h5 --decode tokens.h5", "tokenize: tokens.h5: was made with another tokenizer"},
      {"$T --decode bpe.h5", "tokenize: bpe.h5: "},
      {"$T -t bpe.h5 --decode < tokens.h5", "tokenize: standard input: is an HDF5 file"}};
  const std::string before = place.run("mkdir -p folder; ls -A").out;
  for (const auto& [command, message] : failures) {
    CAPTURE(command);
    const Outcome outcome = place.run(command);
    CHECK(outcome.status == 1);
    CHECK(outcome.err.starts_with(message));
    CHECK(lines_in(outcome.err) == 1);
    CHECK(outcome.out.empty());
  }
  CHECK(place.names() == before);
}

TEST_CASE("tokenize: a tokenizer that has no place to be written to is refused before the text is read") {
  const Workplace place;
  // More than a pipe holds.
  place.write("long", repeated(read_file(place.path("text")), 200));
  const Outcome outcome = place.run("{ cat long && touch was-read; } | $T --train -o nowhere/out.h5");
  CHECK(outcome.status == 1);
  CHECK(outcome.err.starts_with("tokenize: nowhere/out.h5: cannot create"));
  CHECK_FALSE(contains(place.names(), "was-read"));
}

TEST_CASE("tokenize: compressed text is refused, from files and pipes") {
  const Workplace place;
  const auto refused = [&](const std::string& command, const std::string& says) {
    const Outcome outcome = place.run(command);
    CAPTURE(command);
    CAPTURE(outcome.err);
    CHECK(outcome.status == 1);
    CHECK(contains(outcome.err, says));
    CHECK(outcome.out.empty());
  };
  refused("gzip -k text && $T -t bpe.h5 text.gz", "text.gz: is compressed with gzip; decompress it first");
  refused("$T --train -o x.h5 text.gz", "compressed with gzip");
  refused("cat text.gz | $T -t bpe.h5 -o x.h5", "standard input: is compressed with gzip");
  refused("printf '' | $T -t bpe.h5 -o x.h5", "standard input: no text to encode");
  CHECK_FALSE(contains(place.names(), "x.h5"));
  refused("printf 'BZh91AY&SY' | $T -t bpe.h5", "with bzip2");
  refused("printf '\\xfd7zXZ\\0\\0\\4' | $T -t bpe.h5", "with xz");
  refused("printf '\\x28\\xb5\\x2f\\xfd\\4' | $T -t bpe.h5", "with zstd");
  CHECK(place.run("echo 'BZh9 is a name' | $T -t byte.h5").status == 0);
  // A line may be longer than what is read at once.
  const std::string ids = place.run("head -c 400000 /dev/zero | tr '\\0' a | $T -t byte.h5").out;
  CHECK(lines_of(ids).size() == 1);
  CHECK(std::ranges::count(ids, ' ') == 399999);
}

TEST_CASE("tokenize: no bit of a tokenizer file can flip unnoticed or crash") {
  const Workplace place;
  const std::string good = read_file(place.path("byte.h5"));
  const std::string ids = place.run("$T -t byte.h5 odd").out;
  for (std::size_t at = 0; at < good.size(); at += good.size() / 40) {
    CAPTURE(at);
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x10);
    place.write("flipped.h5", bad);
    const Outcome outcome = place.run("$T -t flipped.h5 odd");
    CHECK((outcome.status == 0 || outcome.status == 1));
    if (outcome.status == 0) CHECK(outcome.out == ids);
    if (outcome.status == 1) CHECK(lines_in(outcome.err) == 1);
  }
}

TEST_CASE("tokenize: wrong usage is status 2") {
  const Workplace place;
  for (const char* words : {"", "-t bpe.h5 --train -o x.h5", "--train", "--train -o -", "-t bpe.h5 --decode --pieces",
                            "--pieces", "-t bpe.h5 --vocab-size 9", "-t bpe.h5 --compress",
                            "-t bpe.h5 --documents line", "--decode --special plain", "--train --vocab-size 0 -o x.h5",
                            "--train --vocab-size 10 -o x.h5", "--train --model nonsense -o x.h5", "--decode"}) {
    CAPTURE(words);
    const Outcome outcome = place.run("$T " + std::string(words) + " < text");
    CHECK(outcome.status == 2);
    CHECK(lines_in(outcome.err) == 1);
  }
}

TEST_CASE("tokenize: nothing is written over what is read") {
  const Workplace place;
  REQUIRE(place.run("cp text linked && ln -s linked link").status == 0);
  for (const char* words :
       {"-t bpe.h5 -o linked linked", "-t bpe.h5 -o link linked", "--train -o linked text linked",
        "-t bpe.h5 -o bpe.h5 text", "-t bpe.h5 --pieces -o linked linked", "-t bpe.h5 --decode -o linked linked"}) {
    CAPTURE(words);
    const Outcome outcome = place.run("$T " + std::string(words));
    CHECK(outcome.status == 2);
    CHECK(contains(outcome.err, "; give the result another name"));
    CHECK(read_file(place.path("linked")) == read_file(place.path("text")));
  }
}

TEST_CASE("tokenize: full disks and lost outputs leave nothing, and old files stand") {
  const Workplace place;
  std::string letters = random_bytes(1'000'000);
  for (char& letter : letters) letter = static_cast<char>('!' + (letter & 63));
  place.write("random", letters);
  place.write("out.h5", "old");
  const std::string before = place.names();
  for (const char* task : {"-t bpe.h5", "--train --vocab-size 20000"}) {
    CAPTURE(task);
    const Outcome full = place.run("ulimit -f 100; $T " + std::string(task) + " -o out.h5 random");
    CHECK(full.status == 1);
    CHECK(full.err.starts_with("tokenize: out.h5: cannot write: File too large"));
    CHECK(lines_in(full.err) == 1);
  }
  CHECK(place.names() == before);
  CHECK(read_file(place.path("out.h5")) == "old");
  CHECK(place.run("$T -t bpe.h5 random > /dev/full").err ==
        "tokenize: standard output: cannot write: No space left on device\n");
  CHECK(place.run("$T -t bpe.h5 -o /dev/full random").status == 1);
  const Outcome closed = place.run("$T -t bpe.h5 random random | head -n 1; echo ${PIPESTATUS[0]}");
  CHECK(closed.out.ends_with("\n141\n"));
  CHECK(closed.err.empty());
}

TEST_CASE("tokenize: a signal leaves no file") {
  const Workplace place;
  const std::string before = place.names();
  const Outcome outcome = place.run(
      watching +
      "coproc $T -t bpe.h5 -o out.h5; run=$COPROC_PID\nawait $run 'ls -A | grep -q out.h5'; kill $run; wait $run");
  CHECK(outcome.status == 143);
  CHECK(place.names() == before);
}

TEST_CASE("tokenize: other tools read its files") {
  if (run_command("command -v h5ls h5dump").status != 0) {
    heddle::testing::skipped("h5ls and h5dump are not installed");
    return;
  }
  const Workplace place;
  REQUIRE(place.run("$T -q -t byte.h5 -o tokens.h5 <<< ab").status == 0);
  CHECK(contains(place.run("h5ls tokens.h5").out, "tokens                   Dataset {4"));
  CHECK(contains(place.run("h5dump -d tokens -y tokens.h5").out, "97, 98, 10, 256"));
  CHECK(contains(place.run("h5dump -a kind bpe.h5").out, "\"tokenizer\""));
}

TEST_CASE("tokenize: --check says that text comes back, or where it first does not") {
  const Workplace place;
  for (const char* kind : {"bpe", "byte", "char", "word", "unigram"}) {
    CAPTURE(kind);
    for (const char* options : {"", "--documents file", "--documents blank", "--threads 1", "--special plain"}) {
      CAPTURE(options);
      const Outcome outcome = place.run("$T -t " + std::string(kind) + ".h5 --check text odd " + std::string(options));
      CHECK(outcome.status == 0);
      CHECK(contains(outcome.out, ", 0 different\n"));
      CHECK(lines_in(outcome.out) == 1);
    }
  }
  place.write("two", "ab\n\nc");
  CHECK(place.run("$T -t byte.h5 --check two").out == "3 lines, 5 bytes, 3 tokens, 0 different\n");
  CHECK(place.run("$T -t byte.h5 --check two --documents file").out == "1 document, 5 bytes, 5 tokens, 0 different\n");
  // The unknown token does not come back.
  REQUIRE(place.run("$T --train --model char --no-byte-fallback --unknown '<unk>' -o unk.h5 text").status == 0);
  place.write("q", "the cat\nthe Qat\nthe cat\nQ\n");
  const Outcome outcome = place.run("$T -t unk.h5 --check text q");
  CHECK(outcome.status == 1);
  CHECK(outcome.out == "54 lines, 3176 bytes, 3122 tokens, 2 different\n");
  CHECK(outcome.err == "tokenize: q:2:5: 'Qat' comes back as '<unk>at'\n");
  const Outcome whole = place.run("$T -t unk.h5 --check --documents file q");
  CHECK(whole.err.starts_with("tokenize: q:2:5: "));
  CHECK(contains(whole.out, "1 document, "));
  CHECK(contains(whole.out, ", 1 different\n"));
  CHECK(place.run("$T -t wordpiece.h5 --check q").status != 0);
  CHECK(place.run("$T -t byte.h5 --check --pieces q").status == 2);
  CHECK(place.run("$T -t byte.h5 --check --decode q").status == 2);
}

TEST_CASE("tokenize: --offsets has the bytes of each token, in plain text and as JSON") {
  const Workplace place;
  CHECK(place.run("printf 'ab\\n\\nna\\xc3\\xaf' | $T -t byte.h5 --offsets").out ==
        "97:0:1 98:1:2\n\n110:0:1 97:1:2 195:2:3 175:3:4\n");
  CHECK(place.run("printf 'a:b' | $T -t byte.h5 --offsets --pieces").out == "a:0:1 ::1:2 b:2:3\n");
  const auto object = parse_json(place.run("printf 'hi<|endoftext|>' | $T -t byte.h5 --offsets --pieces --jsonl").out);
  CHECK(object == parse_json(R"({"text": "hi<|endoftext|>", "ids": [104, 105, 256],
            "pieces": ["h", "i", "<|endoftext|>"], "offsets": [[0, 1], [1, 2], [2, 15]]})"));
  const auto plain = parse_json(place.run("printf 'hi' | $T -t byte.h5 --jsonl").out);
  CHECK(plain == parse_json(R"({"text": "hi", "ids": [104, 105]})"));
  for (const char* kind : {"bpe", "char", "word", "unigram"}) {
    CAPTURE(kind);
    const std::string with = "$T -t " + std::string(kind) + ".h5 odd text ";
    const auto ids = heddle::testing::lines_of(place.run(with).out);
    const auto lines = heddle::testing::lines_of(place.run(with + "--jsonl --offsets").out);
    // A file without a last line end joins nothing to the next here, and there its ids end in a line end, too.
    REQUIRE(lines.size() == ids.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const auto line = parse_json(lines[i]);
      std::string joined;
      for (const auto& id : line["ids"]) joined += (joined.empty() ? "" : " ") + id.dump();
      CHECK(joined == ids[i]);
      std::size_t at = 0;
      for (const auto& span : line["offsets"]) {
        CHECK(span[0] == at);
        at = span[1].get<std::size_t>();
      }
    }
  }
  CHECK(place.run("$T -t byte.h5 --offsets --decode text").status == 2);
}

TEST_CASE("tokenize: a warning says that lines end with carriage returns alone, which are text") {
  const Workplace place;
  const std::string says = "its lines end with carriage returns alone, and are read as one; tr '\\r' '\\n' < FILE";
  place.write("returns", "the cat\rsat\r");
  const Outcome outcome = place.run("$T -t byte.h5 returns -o r.h5");
  CHECK(contains(outcome.err, "tokenize: warning: returns: " + says));
  CHECK(place.run("$T --decode r.h5 | cmp - returns").status == 0);
  CHECK(contains(place.run("$T --train --model char -o c.h5 returns").err, says));
  for (const std::string text : {"a\r\nb\r\n", "a\rb\rc\n", "a\r"}) {
    place.write("others", text);
    CHECK_FALSE(contains(place.run("$T -t byte.h5 others -o r.h5").err, says));
  }
}

TEST_CASE("tokenize: --invalid says what becomes of bytes that are not UTF-8") {
  const Workplace place;
  REQUIRE(place.run("$T --train --model char --no-byte-fallback --unknown '<unk>' -o strict.h5 text").status == 0);
  REQUIRE(place.run("$T --train --model wordpiece --vocab-size 60 -o wordpiece.h5 text").status == 0);
  // A stray byte, half a character before a line end, an overlong form, and half a character at the end.
  place.write("bad", "the\xff cat\nth\xc3\ne\xc0\x80 sat\nmat\xe2\x82");
  const std::string last = "bad:1:4: invalid UTF-8";
  for (const char* kind : {"strict", "wordpiece"}) {
    CAPTURE(kind);
    const std::string with = "$T -t " + std::string(kind) + ".h5 ";
    for (const char* mode : {"", "--invalid error", "--jsonl", "--check", "-o tokens.h5"}) {
      CAPTURE(mode);
      const Outcome outcome = place.run(with + "text bad " + mode);
      CHECK(outcome.status == 1);
      CHECK(contains(outcome.err, "tokenize: " + last));
    }
    CHECK(place.run(with + "bad --invalid skip").out == place.run("printf 'the cat\\nth\\ne sat\\nmat' | " + with).out);
    CHECK(place.run(with + "bad --invalid replace").out ==
          place
              .run("printf 'the\\xef\\xbf\\xbd cat\\nth\\xef\\xbf\\xbd\\ne\\xef\\xbf\\xbd\\xef\\xbf\\xbd "
                   "sat\\nmat\\xef\\xbf\\xbd\\xef\\xbf\\xbd' | " +
                   with)
              .out);
    for (const char* mode : {"", " --jsonl", " --offsets"}) {
      CAPTURE(mode);
      CHECK(place.run(with + "bad --invalid skip" + mode).err ==
            "tokenize: 6 bytes were invalid UTF-8, and left out\n");
    }
    CHECK(contains(place.run(with + "bad --invalid replace -o tokens.h5").err,
                   "tokenize: 6 bytes were invalid UTF-8, and replaced by U+FFFD\n"));
    CHECK(parse_json(place.run("head -n 1 bad | " + with + "--invalid skip --jsonl").out)["text"] == "the cat");
  }
  // The lines before the bad one are there.
  place.write("late", "the cat\nthe mat\n\xff\n");
  CHECK(place.run("$T -t strict.h5 late").out == place.run("head -n 2 late | $T -t strict.h5").out);
  CHECK(place.run("$T -t strict.h5 late --offsets").out == place.run("head -n 2 late | $T -t strict.h5 --offsets").out);
  // A character that is cut between two reads is whole: here every even number of bytes cuts one.
  place.write("wide", "t" + repeated("\xc3\xaf", 300'000));
  CHECK(place.run("cat wide | $T --pieces -t strict.h5 | tr ' ' '\\n' | grep -c '^<unk>$'").out == "300000\n");
  // Training takes the same care.
  CHECK(contains(place.run("$T --train --model wordpiece --vocab-size 60 -o new.h5 text bad").err, "bad:1:4: invalid"));
  CHECK(place.run("$T --train --model char --no-byte-fallback -o new.h5 text bad --invalid skip").status == 0);
  // Where every byte has a token, all pass.
  const Outcome untouched = place.run("$T -t byte.h5 bad --invalid skip | $T -t byte.h5 --decode | cmp - bad");
  CHECK(untouched.status == 0);
  CHECK(contains(untouched.err, "--invalid has no effect: the tokenizer has all bytes"));
  CHECK(place.run("$T -t byte.h5 --decode --invalid skip bad").status == 2);
}

}  // namespace tokenize_tests

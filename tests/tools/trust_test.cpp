// Untrusted files and odd paths: they must not affect the terminal, other files or a pipeline.
#include <sys/resource.h>
#include <sys/wait.h>

#include "formats/heddle/tokenizer_file.hpp"
#include "formats/huggingface/load_tokenizer.hpp"
#include "tools/small_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace trust_tests {

namespace {

const std::string red = "\x1b[31m", c1 = "\u009b31m", invalid = "\x9b\xff";
const std::string small_model =
    " --layers 1 --width 16 --heads 2 --context 16 --positions learned --batch-size 2 --steps 4 ";

// Whether a terminal would take any of it as more than text.
bool controls_terminal(const std::string& shown) {
  const bool c0 = std::any_of(shown.begin(), shown.end(), [](char letter) {
    const auto byte = static_cast<unsigned char>(letter);
    return (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7F;
  });
  return c0 || contains(shown, "\xC2\x9B") || !is_utf8(shown);
}

struct Hostile : SmallCorpus {
  Outcome shows(const std::string& command, const std::string& wanted) const {
    const Outcome outcome = run(command);
    CAPTURE(command);
    CAPTURE(outcome.err);
    CAPTURE(outcome.out);
    CHECK(contains(outcome.out + outcome.err, wanted));
    CHECK_FALSE(controls_terminal(outcome.out));
    CHECK_FALSE(controls_terminal(outcome.err));
    return outcome;
  }
};

// The most memory in bytes that the command takes, which must end well.
std::size_t peak_of(const std::string& command) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(static_cast<unsigned>(patient_seconds(120)));
    ::execl("/bin/bash", "bash", "-c", command.c_str(), nullptr);
    ::_exit(127);
  }
  int status = 0;
  rusage usage{};
  REQUIRE(::wait4(child, &status, 0, &usage) == child);
  REQUIRE(status == 0);
  return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
}

}  // namespace

TEST_CASE("trust: what a file says of itself cannot control the terminal") {
  const Hostile corpus;
  const text::TokenizerModel model = formats::load_tokenizer(corpus.path("tokenizer.h5")).model();
  formats::Provenance provenance = formats::start_provenance("tokenize " + red + c1);
  provenance.own.created_at = "today" + red + c1;
  provenance.own.created_by = "heddle" + red + c1;
  provenance.own.inputs.push_back({"text" + red, "name" + c1, 1, "hash" + red, -1});
  formats::save_tokenizer(corpus.path("hostile.h5"), model, provenance);
  corpus.shows("inspect hostile.h5", "today\\x1b[31m\\xc2\\x9b31m");
  corpus.shows("inspect hostile.h5 --provenance --json", "today\\u001b[31m\\u009b31m");
  corpus.shows("inspect diff tokenizer.h5 hostile.h5", "");
}

TEST_CASE("trust: pieces of a stranger's vocabulary cannot control the terminal") {
  const Hostile corpus;
  write_file(corpus.path("vocab.txt"), "[UNK]\n" + red + "\n" + c1 + "\n");
  corpus.must("convert -q vocab.txt -o pieces.h5");
  corpus.shows("inspect pieces.h5", "\\x1b[31m");
  corpus.shows("inspect pieces.h5 --tokens --json", "\\u009b31m");
  write_file(corpus.path("twice.txt"), "[UNK]\n" + c1 + "\n" + c1 + "\n");
  corpus.shows("convert twice.txt -o x.h5", "\\xC2\\x9B31m");
  write_file(corpus.path("t.json"), "{\"model\": {\"type\": \"" + c1 + "\"}}");
  corpus.shows("convert t.json -o x.h5", "t.json: model.type: is ");
  write_file(corpus.path("u.json"), "{\"" + c1 + "\": 1, \"" + c1 + "\": 1}");
  corpus.shows("convert u.json -o x.h5", "repeats the key");
}

TEST_CASE("trust: labels, texts and options cannot control the terminal") {
  const Hostile corpus;
  corpus.must("pretrain -q --train train.h5 -o model.h5" + small_model);
  write_file(corpus.path("labels.tsv"), "a" + c1 + "\ttext\nb\ttext\n");
  const Outcome refused =
      corpus.shows("finetune --from model.h5 --task classify --train labels.tsv -o x.h5", "labels.tsv:1: the label ");
  CHECK(refused.status == 1);
  write_file(corpus.path("x.ini"), "la" + red + c1 + "yers = 1\n");
  corpus.shows("pretrain --config x.ini", "x.ini:1: unknown option la\\x1b[31m");
  write_file(corpus.path("bad.txt"), "\xE9t\xE9 " + invalid + red + "\n");
  write_file(corpus.path("name" + red + c1), "\xE9t\xE9\n");
  corpus.shows("tokenize -t tokenizer.h5 -o x.h5 name*", "is not UTF-8");
  corpus.shows("tokenize -t tokenizer.h5 -o x.h5 --documents line $'no\\x1b\\xc2\\x9bfile'",
               "no\\x1b\\xc2\\x9bfile: cannot open");
  corpus.shows("classify model.h5 --labels $'a\\xc2\\x9b,b' --template '{}' labels.tsv", "--labels: ");
}

TEST_CASE("trust: what is data comes out as it is") {
  const Hostile corpus;
  write_file(corpus.path("in.txt"), red + c1 + invalid + "\n");
  CHECK(corpus.must("tokenize -q -t tokenizer.h5 in.txt | tokenize -q -t tokenizer.h5 --decode").out ==
        red + c1 + invalid + "\n");
}

TEST_CASE("trust: any path that the system allows works in a whole pipeline") {
  const SmallCorpus corpus;
  const std::string long_name(200, 'n');
  for (const std::string& name : {std::string("tr\xe9"), std::string("new\nline"), std::string("it's \"q\" $x \\"),
                                  std::string("-dash"), long_name, "c1" + c1 + red, std::string("日本 語")}) {
    CAPTURE(name);
    const std::string folder = corpus.path("d" + name.substr(0, 20));
    std::filesystem::create_directories(folder);
    for (const char* file : {"train.txt", "valid.txt"}) {
      std::filesystem::copy_file(corpus.path(file), folder + "/./" + name + file,
                                 std::filesystem::copy_options::overwrite_existing);
    }
    write_file(folder + "/" + name + "l.tsv", "cat\tthe cat\nking\tthe king\ncat\ta cat\nking\ta king\n");
    // Names are words of a script; the shell that starts it is given their bytes.
    write_file(corpus.path("steps"), R"(set -e
cd -- "$1"; n=./$2
tokenize -q --train --vocab-size 300 -o "${n}t.h5" "${n}train.txt"
tokenize -q -t "${n}t.h5" -o "${n}a.h5" "${n}train.txt"
tokenize -q -t "${n}t.h5" -o "${n}v.h5" "${n}valid.txt"
pretrain -q --train "${n}a.h5" --valid "${n}v.h5" --eval-every 2 -o "${n}m.h5" --log "${n}m.jsonl" )" +
                                         small_model + R"(
generate -q "${n}m.h5" -p 'the cat' --max-tokens 3 > "${n}g.txt"
finetune -q --from "${n}m.h5" --task classify --train "${n}l.tsv" -o "${n}f.h5" --epochs 1
finetune -q --from "${n}m.h5" --task classify --train "${n}l.tsv" -o "${n}b.h5" --lora-rank 1 --epochs 1
echo 'the cat' | classify -q "${n}f.h5" - > "${n}c.txt"
echo 'the cat' | classify -q "${n}b.h5" --base "${n}m.h5" - >> "${n}c.txt"
echo 'the cat' | classify -q "${n}b.h5" - | cmp - <(tail -n 1 "${n}c.txt")  # which finds its base beside it
case $n in
  *\\*) ;;  # a backslash means something in a list
  *)
    finetune -q --arch bag --task classify --train "${n}l.tsv" -o "${n}x.h5" --epochs 1
    finetune -q --ensemble "${n}f.h5,${n}x.h5" --valid "${n}l.tsv" -o "${n}e.h5" > "${n}e.txt"
    echo 'the cat' | classify -q "${n}e.h5" - >> "${n}e.txt" ;;
esac
convert -q "${n}m.h5" -o "${n}hf/"
convert -q "${n}hf" -o "${n}w.h5"
inspect "${n}w.h5" > "${n}i.txt"
inspect verify "${n}f.h5" > "${n}y.txt"
inspect "${n}f.h5" --json > "${n}j.json"
test -s "${n}g.txt" && test -s "${n}c.txt"
)");
    std::string words;
    for (const std::string& word : {folder, name}) {
      words += " $'";
      for (const char letter : word) {
        char hexadecimal[8];
        std::snprintf(hexadecimal, sizeof hexadecimal, "\\x%02x", static_cast<unsigned char>(letter));
        words += hexadecimal;
      }
      words += "'";
    }
    corpus.must("bash steps" + words);
    const std::string shown = read_file(folder + "/" + name + "i.txt");
    CHECK_FALSE(controls_terminal(shown));
    CHECK(nlohmann::json::accept(read_file(folder + "/" + name + "j.json")));
  }
}

TEST_CASE("trust: an adapter chooses no file outside its folder") {
  const SmallCorpus corpus;
  corpus.must("pretrain -q --train train.h5 -o model.h5" + small_model);
  write_file(corpus.path("l.tsv"), "cat\tthe cat\nking\tthe king\n");
  corpus.must("mkdir there; finetune -q --from model.h5 --task classify --train l.tsv -o there/lora.h5 --lora-rank 1");
  const Outcome refused = corpus.run("echo cat | classify there/lora.h5 -");
  CHECK(refused.status == 1);
  CHECK(
      contains(refused.err,
               "there/lora.h5: is an adapter of 'model.h5', which is not in the same directory; name it with --base"));
  corpus.must("echo cat | classify -q there/lora.h5 --base model.h5 -");
  corpus.must("cp model.h5 there/ && echo cat | classify -q there/lora.h5 -");
}

TEST_CASE("trust: a file keeps who may read and write it, and nobody's rights") {
  const SmallCorpus corpus;
  corpus.must("touch x.h5; chmod 6751 x.h5; tokenize -q -t tokenizer.h5 -o x.h5 train.txt");
  CHECK(corpus.must("stat -c %a x.h5").out == "751\n");
}

TEST_CASE("trust: wrong usage says what is wrong") {
  const SmallCorpus corpus;
  corpus.must("pretrain -q --train train.h5 -o model.h5" + small_model);
  corpus.refused("classify model.h5 --labels a,a --template '{}' valid.txt", 2, "--labels: 'a' is listed twice");
  corpus.refused("generate model.h5 -p a --stop ''", 2, "--stop");
  write_file(corpus.path("x.conll"), "the DET\n\n");
  corpus.refused(
      "finetune --from model.h5 --task classify --train x.conll -o x.h5", 2,
      "x.conll: is conll, which holds tagged sentences, for --task label; this task needs labelled texts: tsv, csv, "
      "jsonl or fasttext (--format");
  corpus.must("convert -q model.h5 -o hf/ && rm hf/config.json");
  corpus.refused("convert hf -o new.h5", 1, "hf: has tensors, but no config.json");
  CHECK_FALSE(std::filesystem::exists(corpus.path("new.h5")));
  CHECK(contains(corpus.must("finetune --help=all | tr -s ' \\n' ' '").out,
                 "with --task lm or translate, what to predict"));
}

TEST_CASE("trust: a vocabulary is known by what it is, whatever it is called") {
  const SmallCorpus corpus;
  corpus.must("tokenize -q --train --model wordpiece --vocab-size 200 -o pieces.h5 train.txt");
  corpus.must("pretrain -q --train train.h5 -o model.h5" + small_model + "&& convert -q model.h5 -o hf/");
  corpus.must("convert -q pieces.h5 -o p.json && cp hf/tokenizer.json other-name");
  const std::string ids = corpus.must("tokenize -q -t tokenizer.h5 valid.txt").out;
  CHECK(corpus.must("tokenize -q -t other-name valid.txt").out == ids);
  write_file(corpus.path("bert-uncased.txt"), "[UNK]\nthe\nking\n");
  CHECK(corpus.must("echo the king sees | tokenize -q -t bert-uncased.txt").out == "1 2 0\n");
}

TEST_CASE("trust: names as long as the system allows, and names of two lines") {
  const SmallCorpus corpus;
  const std::string longest = std::string(252, 'n') + ".h5";
  corpus.must("tokenize -q -t tokenizer.h5 -o " + longest + " train.txt && inspect verify " + longest);
  corpus.must("mkdir d && cd d && ln -s ../train.txt . && tokenize -q -t ../tokenizer.h5 -o ../" + longest +
              " train.txt");
  CHECK(corpus.leftovers() == 0);
  corpus.refused("tokenize -q -t tokenizer.h5 -o n" + longest + " train.txt", 1, "cannot create: File name too long");
  // A run needs room for the names of its checkpoints, which it finds out at once.
  corpus.refused("pretrain -q --train train.h5 -o " + longest + small_model, 1,
                 ".checkpoint.h5: cannot create: File name too long");
  corpus.refused("pretrain -q --train train.h5 -o " + std::string(240, 'n') + ".h5" + small_model, 1,
                 ".best-STEP.h5: cannot create: File name too long");
  CHECK(corpus.leftovers() == 0);
  corpus.must("cp tokenizer.h5 \"$(printf 'x\\ny.h5')\"");
  CHECK(corpus.must("inspect \"$(printf 'x\\ny.h5')\"").out.starts_with("x\\x0ay.h5: tokenizer file"));
}

TEST_CASE("trust: the memory of one long word is within twenty times its own") {
  const SmallCorpus corpus;
  constexpr std::size_t bytes = std::size_t{15} << 20, slack = std::size_t{64} << 20;
  std::string word;
  for (std::uint32_t state = 1; word.size() < bytes;) {
    state = state * 1664525 + 1013904223;
    word += static_cast<char>('a' + (state >> 24) % 26);
  }
  write_file(corpus.path("word.txt"), word + "\n");
  const std::string begin = "cd '" + corpus.path("") + "' && exec '" HEDDLE_TOOLS "/tokenize' -q --threads 1 ";
  corpus.must("tokenize -q --train --model unigram --vocab-size 400 -o unigram.h5 train.txt");
  CHECK(peak_of(begin + "-t tokenizer.h5 -o x.h5 word.txt") <= 20 * bytes + slack);
  CHECK(peak_of(begin + "-t unigram.h5 -o x.h5 word.txt") <= 20 * bytes + slack);
  CHECK(peak_of(begin + "-t tokenizer.h5 --jsonl -o x.jsonl word.txt") <= 20 * bytes + slack);
}

TEST_CASE("trust: the memory of what is said of the tokens of a long line is within twenty times its own") {
  const SmallCorpus corpus;
  constexpr std::size_t bytes = std::size_t{2} << 20, slack = std::size_t{64} << 20;
  std::string line;
  while (line.size() < bytes) line += "the queen sees a cat ";
  write_file(corpus.path("line.txt"), line + "\n");
  corpus.must(
      "tokenize -q --train --model char -o letters.h5 train.txt && tokenize -q -t letters.h5 -o l.h5 train.txt");
  corpus.must("pretrain -q --train l.h5 -o model.h5" + small_model);
  for (const std::string command :
       {"tokenize -q -t letters.h5 --offsets line.txt", "tokenize -q -t letters.h5 --offsets --pieces --jsonl line.txt",
        "inspect tokens letters.h5 line.txt", "inspect tokens letters.h5 line.txt --json",
        "inspect tokens letters.h5 line.txt -o x.tsv", "generate -q model.h5 --score --overlong truncate line.txt",
        "inspect surprise -q model.h5 --overlong truncate line.txt"}) {
    CAPTURE(command);
    CHECK(peak_of("cd '" + corpus.path("") + "' && exec '" HEDDLE_TOOLS "/'" + command + " > /dev/null") <=
          20 * bytes + slack);
  }
  corpus.refused("inspect tokens letters.h5 line.txt --table", 1,
                 "tokens are more than the 50,000 of a table for people");
}

TEST_CASE("trust: an evaluation does not keep the probabilities of all classes of all texts") {
  const SmallCorpus corpus;
  constexpr std::size_t texts = 80000, classes = 300;
  std::string known, many;
  for (std::size_t i = 0; i < texts; ++i) {
    const std::string line = "c" + std::to_string(i % classes) + "\tw" + std::to_string(i % 900) + "\n";
    if (i < 900) known += line;
    many += line;
  }
  write_file(corpus.path("known.tsv"), known);
  write_file(corpus.path("many.tsv"), many);
  corpus.must("finetune -q --arch bag --task classify --epochs 1 --train known.tsv -o bag.h5");
  const std::size_t numbers = texts * classes * sizeof(double);
  CHECK(peak_of("cd '" + corpus.path("") + "' && exec '" HEDDLE_TOOLS "/classify' -q bag.h5 many.tsv --evaluate") <
        numbers);
}

TEST_CASE("trust: the memory of a file of options is within twenty times its size") {
  const SmallCorpus corpus;
  constexpr std::size_t bytes = std::size_t{15} << 20, slack = std::size_t{64} << 20;
  write_file(corpus.path("lines.ini"), std::string(bytes, '\n') + "steps = 3\n");
  CHECK(peak_of("cd '" + corpus.path("") + "' && exec '" HEDDLE_TOOLS "/pretrain' --config lines.ini --print-config") <=
        20 * bytes + slack);
}

}  // namespace trust_tests

// Text as it should not be, to every tool that reads text: an answer for each line or one line that says what is wrong.
#include "tools/small_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace bad_input_tests {

namespace {

const std::string tiny = " --layers 1 --width 16 --heads 2 --context 16 --batch-size 2 --steps 2 ";

struct Text {
  std::string name, bytes;
  bool utf8 = true;
};

const std::vector<Text> texts{
    {"empty", ""},
    {"newline", "\n"},
    {"blank_lines", "\n\n  \n\t\n"},
    {"crlf", "the cat sees\r\nthe king\r\n\r\n"},
    {"lone_cr", "the cat\rthe king\r"},
    {"no_final_newline", "the cat\nthe king"},
    {"nul", std::string("the cat\0 sees\n\0\n", 16)},
    {"latin1", "the king\nthe caf\xE9\n", false},
    {"utf16", std::string("\xFE\xFF\0t\0h\0e\0\n\0c\0a\0t\0\n", 18), false},
    {"byte_order_mark", "\xEF\xBB\xBFthe cat\nthe king\n"},
    {"surrogate", "\xED\xA0\x80 cat\nking\n", false},
    {"overlong_form", "\xC0\x80 cat\nking\n", false},
    {"cut_character", "the cat\nthe caf\xC3", false},
    {"terminal_codes", "\x1B[31mthe cat\x07\nthe \x7F king\n"},
    {"odd_characters", "\xEF\xBF\xBE\xF4\x8F\xBF\xBF \xE2\x80\xAE\nthe\xE2\x80\xA8king\n"},
    {"long_line", ""},
    {"long_word", ""},
};

// Models of each kind, and the texts as files.
struct Tools : SmallCorpus {
  Tools() {
    begin_with("tools", [&] { write(); });
  }

  void write() const {
    must("pretrain -q --train train.h5 -o decoder.h5" + tiny);
    must("tokenize -q --train --model wordpiece --vocab-size 200 -o pieces.h5 train.txt");
    must("tokenize -q --train --model unigram --vocab-size 300 -o unigram.h5 train.txt");
    must("tokenize -q -t pieces.h5 -o masked.h5 train.txt");
    must("pretrain -q --train masked.h5 -o encoder.h5 --arch encoder" + tiny);
    write_file(path("texts.tsv"), "a\tthe cat\nb\tthe king\na\tcat\nb\tking\n");
    write_file(path("numbers.tsv"), "1\tthe cat\n2\tthe king\n");
    write_file(path("tags.conll"), "the\tX\ncat\tY\n\nthe\tX\nking\tY\n");
    must("finetune -q --from encoder.h5 --train texts.tsv -o classes.h5 --steps 2");
    must("finetune -q --from encoder.h5 --task regress --train numbers.tsv -o numbers.h5 --steps 2");
    must("finetune -q --from encoder.h5 --task label --train tags.conll -o tags.h5 --steps 2");
    for (const Text& text : texts) write_file(path(text.name), bytes_of(text));
  }

  static std::string bytes_of(const Text& text) {
    std::string bytes = text.bytes;
    if (text.name == "long_line") {
      for (int i = 0; i < 50'000; ++i) bytes += "the cat ";
    }
    if (text.name == "long_word") bytes = std::string(400'000, 'a');
    return bytes;
  }
};

// Lines of input, the last of which may lack its end.
long lines_of_input(const std::string& bytes) {
  return lines_in(bytes) + (bytes.empty() || bytes.back() == '\n' ? 0 : 1);
}

void check_refusal(const Outcome& outcome, const std::string& tool) {
  CHECK((outcome.status == 1 || outcome.status == 2));
  const std::vector<std::string> said = lines_of(outcome.err);
  REQUIRE_FALSE(said.empty());
  CHECK(said.back().starts_with(tool + ": "));
  CHECK(std::ranges::none_of(
      outcome.err, [](char letter) { return (letter >= 0 && letter < ' ' && letter != '\n') || letter == 127; }));
}

}  // namespace

TEST_CASE("bad input: every line has its answer, and text that is not UTF-8 is told of once") {
  const Tools tools;
  for (const std::string command :
       {"tokenize -t tokenizer.h5", "tokenize -t unigram.h5", "tokenize -t pieces.h5 --invalid skip",
        "tokenize -t tokenizer.h5 --pieces", "generate decoder.h5 --max-tokens 2 --overlong truncate",
        "generate decoder.h5 --max-tokens 2 --overlong truncate --jsonl",
        "generate decoder.h5 --max-tokens 2 --overlong truncate --beam 2",
        "generate decoder.h5 --score --overlong truncate", "generate encoder.h5 --overlong truncate",
        "classify classes.h5 --overlong truncate", "classify classes.h5 --overlong split --jsonl",
        "classify numbers.h5 --overlong truncate",
        "classify decoder.h5 --labels ' a, b' --template '{} is' --overlong truncate"}) {
    CAPTURE(command);
    for (const Text& text : texts) {
      CAPTURE(text.name);
      const Outcome outcome = tools.run(command + " < " + text.name);
      CAPTURE(outcome.err);
      CHECK(outcome.status == 0);
      const bool returns = text.name == "lone_cr" && !command.starts_with("tokenize");
      CHECK(lines_of_input(outcome.out) == (returns ? 2 : lines_of_input(read_file(tools.path(text.name)))));
      const std::string warning = command.ends_with("--invalid skip") ? " invalid UTF-8, and left out\n" : "UTF-8; ";
      const std::size_t told = outcome.err.find(warning);
      // UTF-16 with its mark is read where files have labels.
      const bool is_decoded = text.name == "utf16" && command.starts_with("classify");
      CHECK((told != std::string::npos) == (!text.utf8 && !is_decoded));
      if (told != std::string::npos) CHECK(outcome.err.find(warning, told + 1) == std::string::npos);
    }
  }
}

TEST_CASE("bad input: files are made of it or refused, whole either way") {
  const Tools tools;
  for (const std::string command :
       {"tokenize -t tokenizer.h5 -o out.h5", "tokenize -t pieces.h5 -o out.h5",
        "tokenize -t tokenizer.h5 --pairs -o out.h5", "tokenize -t pieces.h5 --pairs --bad-records skip -o out.h5",
        "tokenize --train --vocab-size 300 -o out.h5", "tokenize --train --model wordpiece --vocab-size 90 -o out.h5",
        "tokenize --train --model unigram --vocab-size 300 -o out.h5",
        "tokenize --train --model word --vocab-size 90 -o out.h5",
        "inspect embed encoder.h5 --overlong truncate -o out.h5"}) {
    CAPTURE(command);
    for (const Text& text : texts) {
      CAPTURE(text.name);
      std::filesystem::remove(tools.path("out.h5"));
      const Outcome outcome = tools.run(command + " < " + text.name);
      CAPTURE(outcome.err);
      CHECK(std::filesystem::exists(tools.path("out.h5")) == (outcome.status == 0));
      if (outcome.status != 0) {
        check_refusal(outcome, command.substr(0, command.find(' ')));
      } else {
        tools.must("inspect verify out.h5");
      }
    }
  }
  CHECK(tools.leftovers() == 0);
}

TEST_CASE("bad input: as examples to learn from") {
  const Tools tools;
  for (const std::string task : {"classify", "regress", "pair", "label", "span", "lm"}) {
    CAPTURE(task);
    for (const Text& text : texts) {
      CAPTURE(text.name);
      for (const std::string before : {"", "1\t", "a\tb\t", "{\"text\": \"", "# "}) {
        write_file(tools.path("examples"), before + read_file(tools.path(text.name)));
        std::filesystem::remove(tools.path("out.h5"));
        const Outcome outcome = tools.run(
            "finetune -q --from encoder.h5 --train examples -o out.h5 --steps 1 --overlong "
            "truncate --task " +
            task);
        CAPTURE(outcome.err);
        CHECK(std::filesystem::exists(tools.path("out.h5")) == (outcome.status == 0));
        if (outcome.status != 0) check_refusal(outcome, "finetune");
      }
    }
  }
  CHECK(tools.leftovers() == 0);
}

TEST_CASE("bad input: words to tag have as many columns on each line, or the first line that has not is named") {
  const Tools tools;
  for (const Text& text : texts) {
    CAPTURE(text.name);
    const Outcome outcome = tools.run("classify tags.h5 --overlong truncate < " + text.name);
    CAPTURE(outcome.err);
    if (outcome.status == 0) {
      const bool returns = text.name == "lone_cr";
      CHECK(lines_of_input(outcome.out) == (returns ? 2 : lines_of_input(read_file(tools.path(text.name)))));
    } else {
      check_refusal(outcome, "classify");
      CHECK(contains(outcome.err, "classify: standard input:2: the number of columns is "));
    }
  }
}

TEST_CASE("bad input: no standard input, a folder for it, and no place for output") {
  const Tools tools;
  for (const std::string command : {"tokenize -t tokenizer.h5", "generate decoder.h5", "classify classes.h5",
                                    "inspect embed encoder.h5 -o out.h5"}) {
    const std::string tool = command.substr(0, command.find(' '));
    CAPTURE(command);
    check_refusal(tools.refused(command + " <&-", 1, "standard input: cannot read: Bad file descriptor"), tool);
    check_refusal(tools.refused(command + " < .", 1, "standard input: cannot read: Is a directory"), tool);
    check_refusal(tools.refused(command + " absent.txt", 1, "absent.txt: cannot open: No such file or directory"),
                  tool);
  }
  for (const std::string& command : std::vector<std::string>{
           "tokenize -q -t tokenizer.h5 train.txt", "tokenize -q --train --vocab-size 300 train.txt",
           "pretrain -q --train train.h5" + tiny, "finetune -q --from encoder.h5 --train texts.tsv --steps 2",
           "convert -q decoder.h5", "classify classes.h5 train.txt", "generate decoder.h5 -p the --max-tokens 2"}) {
    const std::string tool = command.substr(0, command.find(' '));
    CAPTURE(command);
    // Nobody may write into /proc, not even root.
    check_refusal(tools.refused(command + " -o /proc/out.h5", 1, "/proc"), tool);
    check_refusal(tools.refused(command + " -o absent/out.h5", 1, "absent"), tool);
    check_refusal(tools.refused(command + " -o train.txt/out.h5", 1, "train.txt"), tool);
  }
  CHECK(tools.leftovers() == 0);
}

}  // namespace bad_input_tests

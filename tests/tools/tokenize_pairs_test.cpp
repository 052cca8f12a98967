// tokenize --pairs from outside, and inspect on what it writes.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "formats/heddle/pairs_file.hpp"
#include "support/json.hpp"
#include "tools/command.hpp"
#include "tools/watching.hpp"

using namespace heddle;
using heddle::formats::Side;
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

namespace tokenize_pairs_tests {

namespace {

using namespace std::string_literals;

// A folder with two texts whose lines belong together, and tokenizers trained on both, where commands run.
class Workplace {
 public:
  Workplace() {
    std::string german, english;
    for (int i = 0; i < 20; ++i) {
      german += "der hund sieht " + std::to_string(i) + " katzen\n";
      english += "the dog sees " + std::to_string(i) + " cats\n";
    }
    write("de", german);
    write("en", english);
    must("$T -q --train --vocab-size 300 -o bpe.h5 de en");
    must("$T -q --train --model char -o char.h5 de en");
    must("$T -q --train --model byte -o byte.h5");
  }

  // many.de and many.en, 40,000 lines.
  void write_many() const {
    for (const std::string language : {"de", "en"})
      write("many." + language, repeated(read_file(path(language)), 2000));
  }

  // $T is tokenize, $I inspect.
  Outcome run(const std::string& command) const {
    return run_command("cd " + (folder_ / ".") + "; T=" HEDDLE_TOOLS "/tokenize; I=" HEDDLE_TOOLS "/inspect; " +
                       command);
  }
  Outcome must(const std::string& command) const {
    CAPTURE(command);
    Outcome outcome = run(command);
    CAPTURE(outcome.err);
    REQUIRE(outcome.status == 0);
    return outcome;
  }
  // The one line on standard error of a command that fails, without "tokenize: ".
  std::string refused(const std::string& command, int status = 1) const {
    CAPTURE(command);
    const Outcome outcome = run(command);
    CHECK(outcome.status == status);
    CHECK(lines_in(outcome.err) == 1);
    REQUIRE(outcome.err.starts_with("tokenize: "));
    return outcome.err.substr(10, outcome.err.size() - 11);
  }
  std::string path(const std::string& name) const { return folder_ / name; }
  void write(const std::string& name, const std::string& bytes) const { write_file(folder_ / name, bytes); }
  std::string names() const { return run("ls -A").out; }

 private:
  TemporaryFolder folder_;
};

// All pairs of a file, as SOURCE, tab, TARGET lines.
std::string pairs_of(const std::string& path) {
  const formats::PairsFile file(path);
  CHECK(file.verify().empty());
  const text::Tokenizer source = file.tokenizer(Side::source), target = file.tokenizer(Side::target);
  std::string lines;
  for (Index i = 0; i < file.size(); ++i) {
    lines += source.decode(file.source(i)) + "\t" + target.decode(file.target(i)) + "\n";
  }
  return lines;
}

}  // namespace

TEST_CASE("tokenize --pairs: two files, one with tabs, and standard input give the same pairs") {
  const Workplace place;
  const Outcome first = place.must("$T -t bpe.h5 --pairs de en -o pairs.h5");
  CHECK(contains(first.err, "tokenize: pairs.h5: 20 pairs, "));
  CHECK(
      contains(first.err, " target tokens, " +
                              std::to_string(read_file(place.path("de")).size() + read_file(place.path("en")).size()) +
                              " bytes of text\n"));
  const std::string pairs = place.must("paste de en").out;
  CHECK(pairs_of(place.path("pairs.h5")) == pairs);
  for (const char* command :
       {"$T -q -t bpe.h5 --pairs -o other.h5 de - < en", "$T -q -t bpe.h5 --pairs -o other.h5 - en < de",
        "paste de en | $T -q -t bpe.h5 --pairs -o other.h5",
        "paste de en > tab; $T -q -t bpe.h5 --pairs tab -o other.h5",
        "$T -q -t bpe.h5 --pairs --compress --threads 1 -o other.h5 de en",
        "sed 's/$/\\r/' de > crlf; $T -q -t bpe.h5 --pairs crlf en -o other.h5",
        "printf %s \"$(cat en)\" > cut; $T -q -t bpe.h5 --pairs de cut -o other.h5",
        "{ printf '\\xEF\\xBB\\xBF'; cat de; } > mark; $T -q -t bpe.h5 --pairs mark en -o other.h5"}) {
    CAPTURE(command);
    place.must(command);
    CHECK(pairs_of(place.path("other.h5")) == pairs);
    CHECK(place.must("$I diff pairs.h5 other.h5").out == "pairs.h5 and other.h5 have the same content\n");
  }
}

TEST_CASE("tokenize --pairs: a tokenizer for each side") {
  const Workplace place;
  place.must("$T -q -t bpe.h5 --source-tokenizer char.h5 --pairs de en -o pairs.h5");
  CHECK(pairs_of(place.path("pairs.h5")) == place.must("paste de en").out);
  CHECK(place.must("$T --decode pairs.h5").out == place.must("paste de en").out);
  CHECK(place.refused("$T --decode -t bpe.h5 pairs.h5", 2) ==
        "pairs.h5: contains the tokenizers of its sides; leave out -t");
  const formats::PairsFile file(place.path("pairs.h5"));
  CHECK(file.has_source_tokenizer());
  CHECK(file.tokenizer(Side::source).kind() == text::TokenizerKind::character);
  CHECK(file.tokenizer(Side::target).kind() == text::TokenizerKind::bpe);
  // A file with both has both for -t, and that of the sources for --source-tokenizer.
  place.must("$T -q -t pairs.h5 --pairs de en -o again.h5");
  CHECK(place.run("$I diff pairs.h5 again.h5").status == 0);
  place.must("$T -q -t bpe.h5 --source-tokenizer pairs.h5 --pairs de en -o again.h5");
  CHECK(place.run("$I diff pairs.h5 again.h5").status == 0);
  place.must("$T -q -t bpe.h5 --source-tokenizer bpe.h5 --pairs de en -o same.h5");
  CHECK_FALSE(formats::PairsFile(place.path("same.h5")).has_source_tokenizer());
}

TEST_CASE("tokenize --pairs: files of different length") {
  const Workplace place;
  place.must("head -n 7 en > short; head -n 7 de > kurz");
  CHECK(place.refused("$T -q -t bpe.h5 --pairs de short -o pairs.h5") ==
        "de: has more lines than short, which ends after line 7; line N of one must belong to line N of the other");
  CHECK(place.refused("$T -q -t bpe.h5 --pairs - en -o pairs.h5 < kurz") ==
        "en: has more lines than standard input, which ends after line 7; line N of one must belong to line N of the "
        "other");
  CHECK_FALSE(std::filesystem::exists(place.path("pairs.h5")));
}

TEST_CASE("tokenize --pairs: empty sides are an error, or left out and counted") {
  const Workplace place;
  place.write("a", "one\n\nthree\n\nfive\n");
  place.write("b", "eins\nzwei\ndrei\n\n\n");
  CHECK(place.refused("$T -q -t byte.h5 --pairs a b -o pairs.h5") ==
        "a:2: the source is empty; give both texts (line 4 too); b:5: the target is empty; give both texts; 3 of 5 "
        "records cannot be used; --bad-records skip leaves them out");
  place.must("tail -n 1 a > c; tail -n 1 b > d");
  const std::string nothing = "d:1: the target is empty; give both texts";
  CHECK(place.refused("$T -q -t byte.h5 --pairs c d -o pairs.h5") == nothing);
  const Outcome skipped = place.must("$T -t byte.h5 --pairs a b -o pairs.h5 --bad-records skip");
  CHECK(contains(skipped.err, "warning: left out 3 of 5 records: a:2: the source is empty"));
  CHECK(pairs_of(place.path("pairs.h5")) == "one\teins\nthree\tdrei\n");
  CHECK(contains(place.must("$I --json pairs.h5").out, "\"source, 3 pairs left out\""));
  CHECK(place.refused("$T -q -t byte.h5 --pairs c d -o pairs.h5 --bad-records skip") == nothing);
  place.write("e", "a\tb\n \tc\nd\t\u3000\n");
  CHECK(
      place.refused("$T -q -t byte.h5 --pairs e -o pairs.h5") ==
      "e:2: the source is empty; give both texts; line 3: the target is empty; give both texts; 2 of 3 records cannot "
      "be used; --bad-records skip leaves them out");
  CHECK(contains(place.must("$T -t byte.h5 --pairs e -o pairs.h5 --bad-records skip").err, "left out 2 of 3 records"));
  CHECK(place.refused("$T -q -t byte.h5 --pairs -o pairs.h5 < /dev/null") == "standard input: no pair to encode");
}

TEST_CASE("tokenize --pairs: bad text is found by file, line and byte, the first of it first") {
  const Workplace place;
  place.write("a", "the dog\nthe d\xFFog\nthe \xC3\xA9\n");
  place.write("b", "der hund\nder hund\nder hund\nder hund\n");
  const std::string invalid =
      ": invalid UTF-8, which the tokenizer has no tokens for; tokenize --invalid replace puts U+FFFD in its place, "
      "--invalid skip leaves it out";
  place.must("$T -q --train --model char --no-byte-fallback -o strict.h5 de en");
  const std::string both = place.refused("$T -q -t strict.h5 --pairs a b -o pairs.h5");
  CHECK(both.starts_with("a:2:6" + invalid + "; line 3:5: the tokenizer has no piece"));
  CHECK(both.ends_with("; 2 of 3 records cannot be used; --bad-records skip leaves them out"));
  place.must("head -n 3 b > c; paste c a > tab");
  CHECK(place.refused("$T -q -t strict.h5 --pairs tab -o pairs.h5").starts_with("tab:2:15" + invalid));
  CHECK(contains(place.refused("$T -q -t strict.h5 --pairs a c -o pairs.h5 --invalid skip"), "a:3:5: "));
  CHECK(contains(place.refused("$T -q -t strict.h5 --pairs tab -o pairs.h5 --invalid skip"), "tab:3:14: "));
  CHECK(contains(place.refused("$T -q -t strict.h5 --pairs a b -o pairs.h5 --invalid skip"), "a:3:5: "));

  place.must("head -n 2 a > d; head -n 2 b > e");
  const Outcome skipped = place.must("$T -t strict.h5 --pairs d e -o pairs.h5 --invalid skip");
  CHECK(contains(skipped.err, "1 byte was invalid UTF-8, and left out"));
  CHECK(pairs_of(place.path("pairs.h5")) == "the dog\tder hund\nthe dog\tder hund\n");
  place.must("$T -q -t byte.h5 --pairs d e -o pairs.h5");
  CHECK(pairs_of(place.path("pairs.h5")) == "the dog\tder hund\nthe d\xFFog\tder hund\n");

  place.write("tabs", "a\tb\nno tab\n");
  CHECK(place.refused("$T -q -t byte.h5 --pairs tabs -o pairs.h5") ==
        "tabs:2: has 0 tabs; a line must be SOURCE, one tab and TARGET; --bad-records skip leaves it out");
  place.must("$T -q -t byte.h5 --pairs tabs -o pairs.h5 --bad-records skip");
  CHECK(pairs_of(place.path("pairs.h5")) == "a\tb\n");
  place.write("tabs", "a\tb\tc\n");
  CHECK(place.refused("$T -q -t byte.h5 --pairs tabs -o pairs.h5") ==
        "tabs:1: has 2 tabs; a line must be SOURCE, one tab and TARGET");
}

TEST_CASE("tokenize --pairs: text that spells a special token") {
  const Workplace place;
  place.write("a", "x<|endoftext|>\n");
  place.write("b", "y\n");
  place.must("$T -q -t byte.h5 --pairs a b -o pairs.h5");
  {
    const formats::PairsFile file(place.path("pairs.h5"));
    CHECK(file.source(0) == std::vector<TokenId>{'x', 256});
    CHECK(file.tokens(Side::source).text_bytes() == 1);
  }
  place.must("$T -q -t byte.h5 --pairs a b -o pairs.h5 --special plain");
  CHECK(formats::PairsFile(place.path("pairs.h5")).source_length(0) == 14);
}

TEST_CASE("tokenize --pairs: missing files and tokenizers, and wrong usage") {
  const Workplace place;
  const std::string before = place.names();
  CHECK(contains(place.refused("$T -q -t bpe.h5 --pairs de nothing -o pairs.h5"), "nothing: "));
  CHECK(contains(place.refused("$T -q -t bpe.h5 --source-tokenizer de --pairs de en -o pairs.h5"), "de: "));
  CHECK(contains(place.refused("$T -q --pairs de en -o pairs.h5", 2), "-t TOKENIZER is missing"));
  CHECK(contains(place.refused("$T -q -t bpe.h5 --pairs de en", 2), "--pairs needs -o FILE"));
  CHECK(contains(place.refused("$T -q -t bpe.h5 --pairs de en de -o pairs.h5", 2), "not 3 files"));
  CHECK(contains(place.refused("$T -q -t bpe.h5 --pairs - - -o pairs.h5", 2), "cannot be both SOURCE and TARGET"));
  CHECK(contains(place.refused("$T -q -t bpe.h5 --pairs --pieces de en -o pairs.h5", 2), "do not go together"));
  CHECK(contains(place.refused("$T -q --train --pairs de en -o pairs.h5", 2), "do not go together"));
  CHECK(contains(place.refused("$T -q -t bpe.h5 --pairs --documents line de en -o pairs.h5", 2), "--documents"));
  CHECK(contains(place.refused("$T -q -t bpe.h5 --source-tokenizer char.h5 de -o pairs.h5", 2), "--pairs"));
  CHECK(contains(place.refused("$T -q -t bpe.h5 --bad-records skip de -o pairs.h5", 2), "--pairs"));
  CHECK(contains(place.refused("$T -q -t bpe.h5 --pairs de en -o en", 2), "refusing to overwrite"));
  CHECK(contains(place.refused("$T -q -t bpe.h5 --source-tokenizer char.h5 --pairs de en -o char.h5", 2),
                 "refusing to overwrite"));
  CHECK(place.names() == before);
}

TEST_CASE("tokenize --pairs: equal commands make equal files, whatever the number of threads") {
  const Workplace place;
  place.write_many();
  const std::string command = "SOURCE_DATE_EPOCH=1 $T -q -t bpe.h5 --pairs many.de many.en -o pairs.h5 --threads ";
  place.must(command + "1; mv pairs.h5 one.h5");
  place.must(command + "2");
  CHECK(place.must("$I diff one.h5 pairs.h5").out == "one.h5 and pairs.h5 have the same content\n");
  CHECK(formats::PairsFile(place.path("pairs.h5")).size() == 40'000);
  place.must("mv pairs.h5 two.h5");
  place.must(command + "2");
  CHECK(place.run("cmp two.h5 pairs.h5").status == 0);
}

TEST_CASE("tokenize --pairs: provenance leads through both tokenizers to both texts") {
  const Workplace place;
  place.must("$T -q -t bpe.h5 --source-tokenizer char.h5 --pairs de - -o pairs.h5 < en");
  const formats::Provenance provenance = formats::PairsFile(place.path("pairs.h5")).file().provenance();
  std::vector<std::string> roles;
  for (const formats::ProvenanceInput& input : provenance.own.inputs) roles.push_back(input.role + " " + input.name);
  CHECK(roles == std::vector<std::string>{"tokenizer bpe.h5", "source tokenizer char.h5", "source de", "target -"});
  CHECK(provenance.earlier.size() == 2);
  CHECK(provenance.own.inputs[2].xxh128 == formats::checksum_file(place.path("de")).xxh128);
  CHECK(provenance.own.inputs[3].xxh128 == formats::checksum_file(place.path("en")).xxh128);
  place.must("paste de en > tab; $T -q -t bpe.h5 --pairs tab -o tabbed.h5");
  const formats::Provenance of_one = formats::PairsFile(place.path("tabbed.h5")).file().provenance();
  REQUIRE(of_one.own.inputs.size() == 2);
  CHECK(of_one.own.inputs[0].role == "tokenizer");
  CHECK(of_one.own.inputs[1].role == "pairs");
  CHECK(of_one.own.inputs[1].name == "tab");
  CHECK(of_one.own.inputs[1].xxh128 == formats::checksum_file(place.path("tab")).xxh128);
}

TEST_CASE("tokenize --pairs: full disks and signals leave nothing, and old files stand") {
  const Workplace place;
  place.write_many();
  place.write("pairs.h5", "old");
  const std::string before = place.names();
  const std::string full = place.refused("ulimit -f 100; $T -q -t bpe.h5 --pairs many.de many.en -o pairs.h5");
  CHECK(full.starts_with("pairs.h5: cannot write: File too large"));
  CHECK(place.refused("$T -q -t bpe.h5 --pairs de en -o /dev/full").starts_with("/dev/full: "));
  const Outcome killed = place.run(watching +
                                   "coproc $T -t bpe.h5 --pairs many.de - -o pairs.h5; run=$COPROC_PID\n"
                                   "await $run 'ls -A | grep -q .pairs.h5.tmp'; kill $run; wait $run");
  CHECK(killed.status == 143);
  CHECK(place.names() == before);
  CHECK(read_file(place.path("pairs.h5")) == "old");
}

TEST_CASE("tokenize --train learns one tokenizer from both sides") {
  const Workplace place;
  place.must("$T -q --train --vocab-size 300 -o both.h5 de en");
  place.must("$T -q -t both.h5 --pairs de en -o pairs.h5");
  CHECK(pairs_of(place.path("pairs.h5")) == place.must("paste de en").out);
}

TEST_CASE("inspect: pairs files, their tokens, damage and differences") {
  const Workplace place;
  place.must("$T -q -t bpe.h5 --source-tokenizer char.h5 --pairs de en -o pairs.h5");
  const std::string shown = place.must("$I pairs.h5").out;
  for (const char* part : {"pairs.h5: pairs file, ", "Source tokens\n  tokens ", "Target tokens\n", "texts       20\n",
                           "Source tokenizer\n  kind         char\n", "Target tokenizer\n  kind         bpe\n"}) {
    CAPTURE(part);
    CHECK(contains(shown, part));
  }
  const auto json = parse_json(place.must("$I pairs.h5 --json").out);
  CHECK(json["kind"] == "pairs");
  CHECK(json["pairs"] == 20);
  CHECK(json["source"]["tokens"] == json["source"]["text_bytes"]);
  CHECK(json["target"]["text_bytes"] == read_file(place.path("en")).size() - 20);
  CHECK(json["source_tokenizer"]["kind"] == "char");
  CHECK(json["tokenizer"]["kind"] == "bpe");
  const auto tokens = parse_json(place.must("$I pairs.h5 --tokens --top 1 --json").out);
  CHECK(tokens["source"]["statistics"]["frequent"][0]["piece"] == "\\s");
  CHECK_FALSE(tokens.contains("tokenizer"));
  CHECK(contains(place.must("$I pairs.h5 --tokens").out, "tokens per text, median"));
  CHECK_FALSE(contains(place.must("$I pairs.h5 --tokenizer").out, "Source tokens"));

  place.must("sed 5s/dog/cat/ en > changed; $T -q -t bpe.h5 --source-tokenizer char.h5 --pairs de changed -o other.h5");
  const Outcome diff = place.run("$I diff pairs.h5 other.h5");
  CHECK(diff.status == 1);
  CHECK(contains(diff.out, "differ from pair 4 on, counted from 0"));
  CHECK(parse_json(place.run("$I diff pairs.h5 other.h5 --json").out)["first_pair"] == 4);
  place.must("head -n 19 de > de19; head -n 19 en > en19");
  place.must("$T -q -t bpe.h5 --source-tokenizer char.h5 --pairs de19 en19 -o fewer.h5");
  CHECK(contains(place.run("$I diff fewer.h5 pairs.h5").out, "differ from pair 19 on"));
  place.must("$T -q -t bpe.h5 --pairs de en -o one.h5");
  CHECK(contains(place.run("$I diff pairs.h5 one.h5").out, "source_tokenizer"));

  CHECK(place.must("$I verify pairs.h5").out == "pairs.h5: no problem found\n");
  const std::string bytes = read_file(place.path("pairs.h5"));
  place.write("cut.h5", bytes.substr(0, bytes.size() - 100));
  CHECK(place.run("$I verify cut.h5").status == 1);
  CHECK(contains(place.run("$I one.h5 --history").err, "has no history; it is a pairs file, "));
}

}  // namespace tokenize_pairs_tests

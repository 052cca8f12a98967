// New models from labelled examples alone: finetune --arch.
#include <cmath>

#include "support/json.hpp"
#include "tools/labelled_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace bag_tests {

namespace {

const std::string bag = "finetune -q --arch bag --task ";

}  // namespace

TEST_CASE("bag: learns classes from texts alone, with equal bytes twice, and its file is a model like any other") {
  const Labelled corpus;
  corpus.must(bag + "classify --train texts.tsv --valid 10% -o bag.h5");
  corpus.must(bag + "classify --train texts.tsv --valid 10% -o again.h5 --threads 1");
  CHECK(corpus.weights("bag.h5") == corpus.weights("again.h5"));
  CHECK(corpus.evaluated("classify bag.h5 texts.tsv")["accuracy"] == 1.0);
  CHECK(corpus.must("echo 'My QUEEN sees!' | classify bag.h5").out.starts_with("royal\t0."));
  CHECK(lines_in(corpus.must("printf 'unheard words\\n\\n' | classify bag.h5").out) == 2);
  const json about = parse_json(corpus.must("inspect bag.h5 --json").out);
  CHECK(about["config"]["arch"] == "bag");
  CHECK(about["config"]["width"] == 2);
  CHECK(contains(corpus.must("inspect verify bag.h5").out, "no problem"));
  corpus.must("convert -q bag.h5 --dtype bf16 -o half.h5");
  CHECK(corpus.evaluated("classify half.h5 texts.tsv")["accuracy"] == 1.0);
  CHECK(corpus.leftovers() == 0);
}

TEST_CASE("bag: prints evaluations that are the best so far, and the last one, without rates") {
  const Labelled corpus;
  const Outcome outcome = corpus.must(
      "finetune --arch bag --train texts.tsv --valid texts.tsv --steps 60 --eval-every 3 --log log.jsonl -o bag.h5");
  std::vector<std::string> printed;
  for (const std::string& line : lines_of(outcome.err)) {
    if (contains(line, ", validation accuracy ") && contains(line, ", macro f1 ")) printed.push_back(line);
  }
  REQUIRE(printed.size() >= 2);
  CHECK(printed.size() < 10);
  CHECK(contains(printed.back(), "step 60: "));
  for (const std::string& line : printed) CHECK_FALSE(contains(line, "/s"));
  const std::string log = read_file(corpus.path("log.jsonl"));
  CHECK(contains(log, "\"step\":57,"));
}

// One word of each text decides, and differs from that of the other class by a mark alone.
TEST_CASE("bag: marks of scripts other than Latin, Greek and Cyrillic are read, and --marks keeps or removes all") {
  const Labelled corpus;
  const auto write_pairs = [&](const std::string& name, const std::string& one, const std::string& other) {
    std::string train;
    for (int i = 0; i < 10; ++i)
      train += "a\t" + one + " " + std::to_string(i) + "\nb\t" + other + " " + std::to_string(i) + "\n";
    write_file(corpus.path(name + ".tsv"), train);
    write_file(corpus.path(name + "-test.tsv"), "a\t" + one + "\nb\t" + other + "\n");
  };
  const auto accuracy = [&](const std::string& name, const std::string& options) {
    corpus.must(bag + "classify --train " + name + ".tsv -o " + name + ".h5" + options);
    return corpus.evaluated("classify " + name + ".h5 " + name + "-test.tsv")["accuracy"];
  };
  write_pairs("ja", "\u30d1\u30f3\u30c0", "\u30cf\u30f3\u30c0");
  write_pairs("hi", "\u0915\u0941\u0932", "\u0915\u0932");
  write_pairs("es", "a\u00f1o", "ano");
  CHECK(accuracy("ja", "") == 1.0);
  CHECK(accuracy("hi", "") == 1.0);
  CHECK(accuracy("es", "") == 0.5);
  CHECK(accuracy("es", " --marks keep") == 1.0);
  CHECK(accuracy("hi", " --marks remove") == 0.5);
  CHECK(
      corpus
          .must(
              "echo '\u30d1\u30f3\u30c0 \u039f\u0394\u039f\u03a3' | tokenize -q --train --model wordpiece -o w.h5 - && "
              "echo '\u30d1\u30f3\u30c0 \u039f\u0394\u039f\u03a3' | tokenize -q -t w.h5 --pieces")
          .out == "\u30d1\u30f3\u30c0 \u03bf\u03b4\u03bf\u03c2\n");
  corpus.refused(bag + "classify --train ja.tsv -t w.h5 --marks keep -o x.h5", 2, "--marks");
}

TEST_CASE("bag: tags of IOBES, without types, and with marks at the end have entity F1, by which models are chosen") {
  const Labelled corpus;
  const auto metrics = [&](const std::string& first, const std::string& last, const std::string& single) {
    std::string sentences;
    for (int i = 0; i < 10; ++i) sentences += "North " + first + "\nSea " + last + "\nin O\nOslo " + single + "\n\n";
    write_file(corpus.path("tags.conll"), sentences);
    const Outcome trained =
        corpus.must("finetune --arch bag --task label --train tags.conll --valid tags.conll -o tags.h5");
    CHECK(contains(trained.err, "entity_f1"));
    return corpus.evaluated("classify tags.h5 tags.conll");
  };
  const json iobes = metrics("B-MISC", "E-MISC", "S-LOC");
  CHECK(iobes["entities"]["f1"] == 1.0);
  CHECK(iobes["entities"]["support"] == 20);
  CHECK(iobes["entities"]["types"]["MISC"]["support"] == 10);
  CHECK(metrics("B", "I", "B")["entities"]["types"]["entity"]["f1"] == 1.0);
  CHECK(metrics("MISC-B", "MISC-I", "LOC-B")["entities"]["types"]["LOC"]["support"] == 10);
}

TEST_CASE("bag: the column of the words is chosen; running numbers as words are warned of") {
  const Labelled corpus;
  std::string sentences;
  for (int i = 0; i < 10; ++i)
    sentences += "#\thttp://example.org/" + std::to_string(i) + "\n1\tFrau\tO\tO\n2\tin\tO\tO\n3\tOslo\tB-LOC\tO\n\n";
  write_file(corpus.path("germeval.conll"), sentences);
  const std::string train = "finetune -q --arch bag --task label --train germeval.conll --label-column 3 -o tags.h5";
  CHECK(contains(corpus.must(train).err, "germeval.conll:2: the words are running numbers; --text-column says"));
  CHECK_FALSE(contains(corpus.must(train + " --text-column 2").err, "numbers"));
  write_file(corpus.path("plain.conll"), "1\tFrau\n2\tin\n3\tOslo\n\n");
  CHECK(corpus.must("classify -q tags.h5 plain.conll --text-column 2").out ==
        "1\tFrau\tO\n2\tin\tO\n3\tOslo\tB-LOC\n\n");
  CHECK(contains(corpus.must("classify -q tags.h5 plain.conll").err, "running numbers"));
}

TEST_CASE("bag: a gold label that training never saw counts as wrong, with a row of its own and one warning") {
  const Labelled corpus;
  const auto tagged = [](const std::string& tag) { return "EU I-ORG\nUN " + tag + "\nsays O\n\n"; };
  write_file(corpus.path("tags.conll"), tagged("I-ORG") + "Oslo I-LOC\nis O\n\n" + tagged("I-ORG"));
  write_file(corpus.path("tags-test.conll"), tagged("B-ORG"));
  write_file(corpus.path("tags-test.tsv"), "a\tgood one\nc\tstrange\nd\tstrange\n");
  corpus.must("for i in 1 2 3 4 5 6; do printf 'a\\tgood %d\\nb\\tbad %d\\n' $i $i; done > ab.tsv");
  corpus.must(bag + "label --train tags.conll -o tags.h5 && " + bag + "classify --train ab.tsv -o ab.h5");
  const Outcome words = corpus.must("classify tags.h5 tags-test.conll --evaluate --json");
  CHECK(contains(words.err,
                 "tags-test.conll:2: unknown label 'B-ORG'; the model has I-LOC, I-ORG, O; did you mean 'I-ORG'? 1 of "
                 "3 words has a label that the model cannot give, and counts as wrong\n"));
  const json of_words = parse_json(words.out);
  CHECK(of_words["accuracy"].get<double>() == doctest::Approx(2.0 / 3));
  CHECK(of_words["confusion"]["B-ORG"]["I-ORG"] == 1);
  CHECK(of_words["entities"]["recall"] == 0.0);
  const Outcome texts = corpus.must("classify ab.h5 tags-test.tsv --evaluate --json");
  CHECK(contains(texts.err, "2 of 3 examples have a label that the model cannot give, and count as wrong"));
  const json of_texts = parse_json(texts.out);
  CHECK(of_texts["accuracy"].get<double>() == doctest::Approx(1.0 / 3));
  CHECK(of_texts["classes"]["c"]["recall"] == 0.0);
  CHECK(of_texts["classes"]["d"]["support"] == 1);
  CHECK(of_texts["confusion"]["c"].size() == 4);
  CHECK(contains(corpus.must("finetune --arch bag --train ab.tsv --valid tags-test.tsv -o valid.h5").err,
                 "unknown label 'c'"));
  corpus.must("classify -q ab.h5 tags-test.tsv --evaluate -o p.tsv");
  CHECK(contains(read_file(corpus.path("p.tsv")), "strange\tc\t"));
}

TEST_CASE("bag: before training, its probabilities are those of naive Bayes") {
  const Labelled corpus;
  write_file(corpus.path("tiny.tsv"), "praise\tgood good\npraise\tgood film\nblame\tbad\n");
  corpus.must(
      "finetune -q --arch bag:ngrams=1 --task classify --train tiny.tsv -o tiny.h5 --steps 1 --learning-rate 1e-12");
  // Texts that have a token, plus 1: good 3 and 1, film 2 and 1, bad 1 and 2; all have [CLS] and [SEP], which therefore
  // say nothing. The prior counts as much as the words do on average: texts have 3, 4 and 3 features.
  const double praise = std::log(3.0 / 6), blame = std::log(1.0 / 4);
  const double states = (praise - blame) / std::sqrt(3.0);
  const double logit = states + (1 / std::sqrt(3.0) + 1 / std::sqrt(4.0) + 1 / std::sqrt(3.0)) / 3 * std::log(3.0 / 2);
  const json answer = parse_json(corpus.must("echo good | classify tiny.h5 --jsonl").out);
  CHECK(answer["label"] == "praise");
  CHECK(answer["probability"].get<double>() == doctest::Approx(1 / (1 + std::exp(-logit))).epsilon(1e-4));
}

TEST_CASE("bag: few examples are read up to twenty times, many four times, in batches of 32; an option replaces that") {
  const Labelled corpus;
  corpus.must("for i in $(seq 160); do printf 'a\\tred %d\\nb\\tblue %d\\n' $i $i; done > some.tsv");
  corpus.must("for i in $(seq 13); do cat some.tsv; done > more.tsv");
  const auto steps = [&](const std::string& options) {
    return parse_json(corpus.must(bag + "classify -o x.h5 --dry-run --json --train " + options).out)["steps"];
  };
  CHECK(steps("some.tsv") == 20 * 320 / 32);
  CHECK(steps("more.tsv") == 4 * 13 * 320 / 32);
  CHECK(steps("some.tsv --epochs 3 --batch-size 16") == 3 * 320 / 16);
}

TEST_CASE("bag: learns by AdaGrad; another rule wants a rate, and has its own settings") {
  const Labelled corpus;
  const std::string command = bag + "classify --train texts.tsv -o x.h5 ";
  const auto sets = [&](const std::string& options, const std::string& line) {
    return contains(corpus.must(command + options + " --print-config").out, line + "\n");
  };
  CHECK(sets("", "[optimizer]\n# name = adagrad"));
  CHECK(sets("", "# learning-rate = 0.15"));
  CHECK(sets("", "# weight-decay = 0"));
  CHECK(sets("--weight-decay 0.5", "\nweight-decay = 0.5"));
  corpus.refused(command + "--optimizer sgd", 2, "--optimizer sgd: --learning-rate X is missing; 0.15");
  CHECK(sets("--optimizer sgd --learning-rate 0.5", "[optimizer]\nname = sgd"));
  CHECK(sets("--optimizer sgd --learning-rate 0.5", "\nlearning-rate = 0.5"));
  corpus.must(command + "--optimizer sgd:momentum=0 --learning-rate 0.5");
  CHECK(corpus.evaluated("classify x.h5 texts.tsv")["accuracy"] == 1.0);
}

TEST_CASE("bag: pairs, tags and numbers") {
  const Labelled corpus;
  corpus.must(bag + "pair --train pairs.tsv -o p.h5");
  CHECK(corpus.evaluated("classify p.h5 pairs.tsv")["accuracy"] == 1.0);
  // The first texts are all the same.
  corpus.must(
      "for i in {1..30}; do printf 'yes\\tthe cat\\tsings %d\\nno\\tthe cat\\tcries %d\\n' $i $i; done > second.tsv");
  corpus.must(bag + "pair --train second.tsv -o s.h5");
  CHECK(corpus.evaluated("classify s.h5 second.tsv")["accuracy"] == 1.0);
  corpus.must(bag + "label --train tags.conll -o t.h5");
  CHECK(corpus.evaluated("classify t.h5 tags.conll")["accuracy"] == 1.0);
  corpus.must("sed 's/^animal/10/; s/^royal/20/' texts.tsv > numbers.tsv");
  corpus.must(bag + "regress --train numbers.tsv -o n.h5");
  CHECK(corpus.evaluated("classify n.h5 numbers.tsv")["pearson"] > 0.95);
}

TEST_CASE("bag: an interrupted run continues to the same bits, and another shape is refused") {
  const Labelled corpus;
  const std::string rest = " --task classify --train texts.tsv --epochs 4 ", command = "finetune -q --arch bag";
  corpus.must(command + rest + "-o whole.h5");
  corpus.refused(command + rest + "-o parts.h5 --max-time 0.001s", 75, "");
  corpus.refused(command + ":ngrams=3" + rest + "-o parts.h5", 2, " was 2 and is 3 now");
  corpus.must(command + rest + "-o parts.h5");
  CHECK(corpus.weights("parts.h5") == corpus.weights("whole.h5"));
}

TEST_CASE("bag: a finished model of another shape is replaced, also where the shape is left to the examples again") {
  const Labelled corpus;
  const auto shape = [&](const std::string& field) {
    return parse_json(corpus.must("inspect bag.h5 --json").out)["config"][field];
  };
  const auto replaced = [&](const std::string& arch) {
    return corpus.must("finetune --arch " + arch + " --task classify --train texts.tsv -o bag.h5").err;
  };
  replaced("bag:buckets=77,ngrams=3");
  CHECK(shape("buckets") == 77);
  CHECK(contains(replaced("bag:ngrams=3"), " was 77 and is auto now"));
  CHECK(shape("buckets") == 1024);
  CHECK(contains(replaced("bag"), " was 3 and is 2 now"));
  CHECK(shape("ngrams") == 2);
  CHECK(contains(replaced("bag"), "already trained by this command"));
  CHECK(contains(replaced("encoder:layers=1,width=8,heads=1"), " was bag and is encoder now"));
}

TEST_CASE("new models: other architectures learn from examples alone, with a tokenizer that is given") {
  const Labelled corpus;
  corpus.must(
      "finetune -q --arch encoder:layers=1,width=16,heads=2,ffn-width=32 --task classify "
      "--train texts.tsv -o encoder.h5 --learning-rate 1e-2");
  CHECK(corpus.evaluated("classify encoder.h5 texts.tsv")["accuracy"] == 1.0);
  corpus.must(bag + "classify -t model.h5 --train texts.tsv -o other.h5");
  CHECK(corpus.evaluated("classify other.h5 texts.tsv")["accuracy"] == 1.0);
}

TEST_CASE("new models: what does not go together is refused in one line") {
  const Labelled corpus;
  const std::string data = " --train texts.tsv -o x.h5";
  const std::pair<const char*, const char*> wrong[] = {
      {"finetune --task classify", "--from MODEL is missing"},
      {"finetune --from model.h5 --arch bag:ngrams=2 --task classify", "--arch: is for new models"},
      {"finetune --from model.h5 --layers 2 --task classify", "--layers"},
      {"finetune --arch bag:layers=2 --task classify", "bag has no key 'layers'"},
      {"finetune --arch bag --task lm", "pretrain"},
      {"finetune --arch bag --lora-rank 2 --task classify", "--from MODEL"},
      {"finetune --arch sack --task classify", "bag"},
      {"finetune --arch bag:vocab-size=3 --task classify -t model.h5", "vocab-size=3 is less than the 300 pieces"}};
  for (const auto& [command, message] : wrong) {
    CAPTURE(command);
    CHECK(lines_in(corpus.refused(command + data, 2, message).err) == 1);
  }
  corpus.refused("pretrain --arch bag --train train.h5 -o x.h5", 2, "finetune");
}

}  // namespace bag_tests

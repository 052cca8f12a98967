// Sequence-to-sequence models through the tools: pairs of texts in, target texts out.
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "support/json.hpp"
#include "tools/small_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;
using nlohmann::json;

namespace translate_tests {

namespace {

// Pairs of which the target has the source's letters in the reverse order.
class ReversedCorpus : public SmallCorpus {
 public:
  ReversedCorpus() {
    begin_with("reversed", [&] {
      std::string source[2], target[2];
      for (unsigned i = 0, state = 7; i < 660; ++i) {
        std::string letters;
        for (unsigned n = 1 + i % 4; n > 0; --n) {
          state = state * 1664525u + 1013904223u;
          letters += "abcde"[(state >> 16) % 5];
        }
        const std::size_t valid = i % 11 == 10 ? 1 : 0;
        for (const char letter : letters) (source[valid] += letter) += ' ';
        source[valid].back() = '\n';
        for (auto at = letters.rbegin(); at != letters.rend(); ++at) (target[valid] += *at) += ' ';
        target[valid].back() = '\n';
      }
      write_file(path("train.src"), source[0]);
      write_file(path("train.tgt"), target[0]);
      write_file(path("valid.src"), source[1]);
      write_file(path("valid.tgt"), target[1]);
      must("tokenize -q --train --model word -o words.h5 train.src");
      must("tokenize -q -t words.h5 --pairs -o pairs.h5 train.src train.tgt");
      must("tokenize -q -t words.h5 --pairs -o valid-pairs.h5 valid.src valid.tgt");
    });
  }
};

const std::string shape = "--arch encoder-decoder --layers 1 --width 32 --heads 2 ";
const std::string train = "pretrain -q --train pairs.h5 --valid valid-pairs.h5 " + shape +
                          "--batch-size 32 --learning-rate 5e-3 --eval-every 100 ";

// A model that has learned to reverse, made once.
class Reverser : public ReversedCorpus {
 public:
  Reverser() {
    begin_with("reverser", [&] { must(train + "-o model.h5 --steps 500"); });
  }
};

}  // namespace

TEST_CASE("translate: a model learns to reverse, and its greedy texts are those of a beam of one, in any batch") {
  const Reverser corpus;
  const std::string greedy = corpus.must("generate -q model.h5 valid.src").out;
  CHECK(corpus.must("generate -q model.h5 valid.src --beam 1").out == greedy);
  CHECK(corpus.must("generate -q model.h5 valid.src --batch-size 1").out == greedy);
  const json report = parse_json(corpus.must("generate -q model.h5 valid.src --evaluate valid.tgt --json").out);
  CHECK(report["exact"].get<double>() > 0.9);
  CHECK(report["lines"] == 60);
  CHECK(report["chrf"].get<double>() > 90);
  CHECK(report["bleu_signature"] == "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp");
  const json loss = parse_json(corpus.must("inspect evaluate model.h5 valid-pairs.h5 --json").out);
  CHECK(loss["nats_per_token"].get<double>() < 0.2);
  // Far more tokens than there are take no memory.
  CHECK(corpus.must("ulimit -v 4000000; generate -q model.h5 valid.src --max-tokens 1000000000 --batch-size 60").out ==
        corpus.must("generate -q model.h5 valid.src --max-tokens 1000").out);
  const auto lines = lines_of(corpus.must("printf 'a b c\\n\\nb\\n' | generate -q model.h5").out);
  REQUIRE(lines.size() == 3);
  CHECK(lines[0] == "c b a");
  CHECK(lines[2] == "b");
  CHECK(corpus.must("generate -q model.h5 -p 'a b c'").out == "c b a\n");
}

TEST_CASE("translate: the log-likelihood of what was generated is what --score gives it") {
  const Reverser corpus;
  const auto generated = json_lines(corpus.must("printf 'a b c\\nd\\n' | generate -q model.h5 --jsonl").out);
  const auto scored =
      json_lines(corpus.must("printf 'a b c\\tc b a\\nd\\td\\n' | generate -q model.h5 --score --jsonl").out);
  REQUIRE(generated.size() == 2);
  REQUIRE(scored.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(generated[i]["text"] == scored[i]["text"]);
    CHECK(scored[i]["tokens"].get<std::size_t>() == generated[i]["ids"].size() + 1);  // with the end
    const auto& each = scored[i]["log_probabilities"];
    CHECK(scored[i]["log_likelihood"].get<double>() - each.back().get<double>() ==
          doctest::Approx(generated[i]["log_likelihood"].get<double>()).epsilon(1e-4));
  }
  const double sum = scored[0]["log_likelihood"].get<double>() + scored[1]["log_likelihood"].get<double>();
  const std::string said = corpus.must("printf 'a b c\\tc b a\\nd\\td\\n' | generate model.h5 --score").err;
  const std::string begin = "2 pairs, 6 tokens of targets scored: ";
  REQUIRE(contains(said, begin));
  CHECK(std::stod(said.substr(said.find(begin) + begin.size())) == doctest::Approx(-sum / 6).epsilon(1e-4));
}

TEST_CASE("translate: bits per byte are those of the targets, however long the sources are") {
  const ReversedCorpus corpus;
  corpus.must(
      "sed 's/.*/& & &/' valid.tgt > thrice.tgt && tokenize -q -t words.h5 --pairs -o p.h5 valid.src thrice.tgt");
  corpus.must("tokenize -q -t words.h5 --pairs -o turned.h5 thrice.tgt valid.src");
  corpus.must("pretrain -q --train p.h5 --steps 2 -o m.h5 --context 64 " + shape);
  for (const auto& [pairs, targets] : {std::pair("p.h5", "thrice.tgt"), {"turned.h5", "valid.src"}}) {
    const json found = parse_json(corpus.must(concatenate("inspect evaluate --json m.h5 ", pairs)).out);
    const std::string text = read_file(corpus.path(targets));
    const auto bytes = static_cast<double>(std::ranges::count_if(text, [](char letter) { return letter != '\n'; }));
    const double nats = found["nats_per_token"].get<double>() * found["tokens"].get<double>();
    CHECK(found["bits_per_byte"].get<double>() == doctest::Approx(nats / std::log(2) / bytes));
  }
}

TEST_CASE("translate: targets that just fit the context are scored to their ends") {
  const ReversedCorpus corpus;
  corpus.must("pretrain -q --train pairs.h5 " + shape + "--context 8 --steps 1 -o short.h5");
  const auto score = [&](const std::string& target, const std::string& options = "") {
    return corpus.run("printf 'a b\\t" + target + "\\n' | generate -q short.h5 --score --jsonl " + options);
  };
  // A token begins the target, and the one that ends it is not read.
  const Outcome whole = score("a b c d e a b");
  REQUIRE(whole.status == 0);
  CHECK(parse_json(whole.out)["tokens"] == 7 + 1);
  const Outcome refused = score("a b c d e a b c");
  CHECK(refused.status == 1);
  CHECK(contains(refused.err, "the text has 8 tokens, more than the 7 that fit the context"));
  // A source has the token that ends it.
  const auto of_source = [&](const std::string& source) {
    return corpus.run("printf '" + source + "\ta\n' | generate -q short.h5 --score --jsonl");
  };
  CHECK(of_source("a b c d e a b").status == 0);
  CHECK(contains(of_source("a b c d e a b c").err, "the text has 8 tokens, more than the 7 that fit the context"));
  json cut = parse_json(score("a b c d e a b c", "--overlong truncate").out);
  cut["text"] = "a b c d e a b";
  CHECK(cut == parse_json(whole.out));
}

TEST_CASE("translate: the interval of BLEU is drawn by --seed") {
  const Reverser corpus;
  corpus.must("awk 'NR % 3 == 0 { $0 = \"a b c d e\" } { print }' valid.tgt > references");
  const auto report = [&](const std::string& seed) {
    return parse_json(corpus.must("generate -q model.h5 valid.src --evaluate references --json --seed " + seed).out);
  };
  const json one = report("1"), two = report("2");
  CHECK(one == report("1"));
  CHECK(one["bleu_interval"] != two["bleu_interval"]);
  for (const json& each : {one, two}) {
    CHECK(each["bleu"] == one["bleu"]);
    CHECK(each["bleu_interval"]["low"] < each["bleu"]);
    CHECK(each["bleu_interval"]["high"] > each["bleu"]);
  }
}

namespace {

// Sets the bias of a token's logit in a directory of Hugging Face.
void set_bias(const std::string& directory, int token, float bias) {
  std::string bytes = read_file(directory + "/model.safetensors");
  std::uint64_t size = 0;
  std::memcpy(&size, bytes.data(), sizeof size);
  const json header = parse_json(bytes.substr(sizeof size, size));
  const auto begin = header["final_logits_bias"]["data_offsets"][0].get<std::size_t>();
  const std::size_t place = sizeof size + size + begin + static_cast<std::size_t>(token) * sizeof bias;
  std::memcpy(bytes.data() + place, &bias, sizeof bias);
  write_file(directory + "/model.safetensors", bytes);
}

}  // namespace

TEST_CASE("translate: a text without an end has 50 tokens more than its source, and none of them is padding") {
  const SmallCorpus corpus;
  corpus.must("cp -r --no-preserve=mode '" HEDDLE_HUGGINGFACE "/marian-narrow' marian");
  constexpr int end = 0, padding = 44;  // the last token
  set_bias(corpus.path("marian"), end, -50);
  corpus.must("convert -q marian -o endless.h5");
  set_bias(corpus.path("marian"), padding, 50);
  corpus.must("convert -q marian -o padded.h5");
  const json pairs = parse_json(read_file(corpus.path("marian/expected.json")))["pairs"];
  std::string sources;
  for (const json& pair : pairs) sources += pair["source"].get<std::string>() + "\n";
  write_file(corpus.path("sources"), sources);
  const auto ids_of = [&](const std::string& options) {
    std::vector<std::vector<int>> ids;
    for (const json& line : json_lines(corpus.must("generate " + options + " sources --jsonl").out))
      ids.push_back(line["ids"]);
    return ids;
  };
  CHECK(ids_of("padded.h5") == ids_of("endless.h5"));
  for (const std::string options : {"endless.h5", "padded.h5", "padded.h5 --beam 3", "padded.h5 --temperature 1"}) {
    CAPTURE(options);
    const auto texts = ids_of(options);
    REQUIRE(texts.size() == pairs.size());
    for (std::size_t i = 0; i < texts.size(); ++i) {
      // The context is 96 tokens.
      CHECK(texts[i].size() == std::min<std::size_t>(pairs[i]["source_ids"].size() + 50, 96));
      CHECK(std::ranges::count(texts[i], padding) == 0);
    }
  }
}

TEST_CASE("translate: a beam gives several texts of falling score, and reordering hypotheses changes no probability") {
  const Reverser corpus;
  const auto found = json_lines(
      corpus.must("printf 'a b c\\ne d\\n' | generate -q model.h5 --beam 4 --n-best 3 --length-penalty 0 --jsonl").out);
  REQUIRE(found.size() == 6);
  for (std::size_t i = 0; i < 6; ++i) {
    if (i % 3 > 0) CHECK(found[i]["score"].get<double>() <= found[i - 1]["score"].get<double>());
    const std::string pair = found[i]["prompt"].get<std::string>() + "\\t" + found[i]["text"].get<std::string>();
    const double scored = std::stod(corpus.must("printf '" + pair + "\\n' | generate -q model.h5 --score").out);
    CHECK(found[i]["score"].get<double>() == doctest::Approx(scored).epsilon(1e-4));
  }
}

TEST_CASE("translate: a beam wider than the vocabulary keeps all tokens") {
  const Reverser corpus;
  const auto texts = lines_of(corpus.must("generate -q model.h5 -p 'a b' --beam 1000 --max-tokens 3").out);
  REQUIRE(texts.size() == 1);
  CHECK(texts == lines_of(corpus.must("generate -q model.h5 -p 'a b' --beam 400 --max-tokens 3").out));
  corpus.refused({"generate model.h5 -p 'a b' --beam 1000 --n-best 900 --max-tokens 1", "fewer than --n-best 900", 1});
}

TEST_CASE("translate: the vectors of a source are those that its encoder has with the token that ends it") {
  const Reverser corpus;
  const json answer = parse_json(corpus.must("inspect embed model.h5 --text 'a b' --json").out)["texts"][0];
  CHECK(answer["pieces"] == json::parse(R"(["a", "\\sb", "<|endoftext|>"])"));
}

TEST_CASE("translate: a coverage penalty adds what the alignment of a text says, and needs one") {
  const Reverser corpus;
  const std::string search = "printf 'a b c d\\n' | generate -q model.h5 --beam 5 --n-best 5 --jsonl ";
  std::map<std::string, double> plain;
  for (const json& text : json_lines(corpus.must(search).out)) plain[text["text"]] = text["score"].get<double>();
  CHECK(corpus.must(search + "--coverage-penalty 0").out == corpus.must(search).out);
  const auto covering = json_lines(corpus.must(search + "--coverage-penalty 2").out);
  std::size_t compared = 0;
  bool falls_short = false;
  for (const json& text : covering) {
    if (!plain.contains(text["text"])) continue;  // found later, or earlier
    ++compared;
    const std::string align = "inspect align model.h5 'a b c d' '" + text["text"].get<std::string>() + "' --json";
    const json map = parse_json(corpus.must(align).out);
    double covered = 0;
    for (std::size_t j = 0; j < map["source"].size(); ++j) {
      double sum = 0;
      for (const json& row : map["weights"]) sum += row[j].get<double>();
      covered += std::log(std::min(sum, 1.0));
    }
    CHECK(text["score"].get<double>() == doctest::Approx(plain[text["text"]] + 2 * covered).epsilon(1e-4));
    falls_short = falls_short || covered < -0.01;
  }
  CHECK(compared >= 3);
  CHECK(falls_short);
  corpus.must("pretrain -q --train train.h5 --layers 1 --width 16 --heads 2 --steps 2 -o decoder.h5");
  corpus.must("pretrain -q --train pairs.h5 --arch rnn:source-attention=none --width 16 --steps 2 -o fixed.h5");
  for (const std::string model : {"decoder.h5", "fixed.h5"}) {
    corpus.refused({"generate " + model + " -p 'a b' --beam 2 --coverage-penalty 0.2",
                    "--coverage-penalty: " + model + " does not attend to a source", 2});
  }
  corpus.refused({"generate model.h5 -p 'a b' --coverage-penalty 0.2", "has no effect without --beam", 2});
  corpus.refused({"generate model.h5 -p 'a b' --beam 2 --coverage-penalty -1", "--coverage-penalty", 2});
}

TEST_CASE("translate: a run resumes to the same bits, and batches of tokens are as good as batches of pairs") {
  const ReversedCorpus corpus;
  const std::string half = train + "--schedule constant --dropout 0.1 ";
  corpus.must(half + "-o parts.h5 --steps 20 --keep 1");
  corpus.must(half + "-o other.h5 --steps 40");
  corpus.must(half + "-o parts.h5 --steps 40 --resume parts.step-20.h5");
  CHECK(corpus.weights("parts.h5") == corpus.weights("other.h5"));
  corpus.must("pretrain -q --train pairs.h5 " + shape +
              "--objective translate:batch-tokens=64 --epochs 2 -o tokens.h5");
  corpus.must("inspect verify parts.h5 tokens.h5 pairs.h5");
  const auto out =
      corpus.must("pretrain --train pairs.h5 " + shape + "--objective translate:max-length=3 --steps 2 -o short.h5")
          .err;
  CHECK(contains(out, "pairs.h5: 150 of 600 pairs are too long and left out"));
}

TEST_CASE("translate: source and target may have tokenizers of their own, which the model's file keeps") {
  const ReversedCorpus corpus;
  corpus.must("tokenize -q --train --model char -o letters.h5 train.src");
  corpus.must("tokenize -q -t words.h5 --source-tokenizer letters.h5 --pairs -o two.h5 train.src train.tgt");
  const std::string own = "--arch encoder-decoder:share-embeddings=false --layers 1 --width 32 --heads 2 ";
  corpus.refused({"pretrain -q --train two.h5 " + shape + "-o model.h5 --steps 2",
                  "so they cannot share embeddings; give --arch encoder-decoder:share-embeddings=false", 2});
  corpus.must("pretrain -q --train two.h5 " + own + "-o model.h5 --steps 5");
  corpus.must("generate -q model.h5 -p 'a b'");
  corpus.must("convert -q model.h5 --dtype bf16 -o half.h5");
  CHECK(lines_of(corpus.must("generate -q half.h5 -p 'a b'").out).size() == 1);
  corpus.must("finetune -q --from model.h5 --task translate --train two.h5 --steps 3 -o more.h5");
  corpus.must("generate -q more.h5 -p 'a b'");
  corpus.must("tokenize -q --train --model byte -o bytes.h5");
  corpus.must("tokenize -q -t words.h5 --source-tokenizer bytes.h5 --pairs -o other-pairs.h5 train.src train.tgt");
  corpus.must("pretrain -q --train other-pairs.h5 " + own + "-o other.h5 --steps 1");
  const std::string score = "printf 'a b\\tb a\\n' | generate -q --score ";
  const auto scored = [&](const std::string& models) { return std::stod(corpus.must(score + models).out); };
  CHECK(scored("model.h5,more.h5") == doctest::Approx((scored("model.h5") + scored("more.h5")) / 2).epsilon(1e-6));
  corpus.refused({score + "model.h5,other.h5",
                  "other.h5: has another tokenizer than model.h5; models that score texts together need the same", 1});
}

TEST_CASE("translate: fine-tuning goes on with pairs as text, and an encoder's vectors serve a classifier") {
  const Reverser corpus;
  write_file(corpus.path("more.tsv"), "a b\tb a\nc d e\te d c\n");
  corpus.must("finetune -q --from model.h5 --task translate --train more.tsv --epochs 2 -o more.h5");
  CHECK(contains(corpus.must("generate -q more.h5 -p 'a b'").out, "a"));
  std::string labelled;
  for (int i = 0; i < 40; ++i) labelled += i % 2 == 0 ? "with\ta b a\n" : "without\tc d e\n";
  write_file(corpus.path("labelled.tsv"), labelled);
  corpus.must(
      "finetune -q --from model.h5 --task classify --train labelled.tsv --epochs 10 --learning-rate 1e-2 -o tuned.h5");
  CHECK(contains(corpus.must("printf 'b a b\\n' | classify tuned.h5").out, "with\t"));
  const auto before = corpus.weights("model.h5"), after = corpus.weights("tuned.h5");
  CHECK(before.at("decoder/0/attention/query/weight") == after.at("decoder/0/attention/query/weight"));
  write_file(corpus.path("bad.tsv"), "a b\tb a\nno tab\n");
  corpus.refused({"finetune --from model.h5 --task translate --train bad.tsv -o x.h5",
                  "bad.tsv:2: the number of columns is 1, not 2; a line is SOURCE, tab, TARGET", 1});
  corpus.must(
      "tokenize -q --train --model char -o letters.h5 train.src && "
      "tokenize -q -t letters.h5 --pairs -o spelled.h5 valid.src valid.tgt");
  for (const std::string files : {"spelled.h5", "pairs.h5,spelled.h5", "pairs.h5 --valid spelled.h5"}) {
    corpus.refused(
        {"finetune --from model.h5 --task translate -o x.h5 --train " + files, "does not match the model's", 1});
  }
}

TEST_CASE("translate: fine-tuning reads pairs in every form of table, several files as one, and holds out a part") {
  const Reverser corpus;
  std::string tsv[2], csv = "id,target,source\r\n", jsonl;
  const auto sources = lines_of(read_file(corpus.path("train.src"))),
             targets = lines_of(read_file(corpus.path("train.tgt")));
  for (std::size_t i = 0; i < 40; ++i) {
    tsv[i < 20 ? 0 : 1] += sources[i] + "\t" + targets[i] + "\n";
    csv += std::to_string(i) + ",\"" + targets[i] + "\"," + sources[i] + "\r\n";
    jsonl += "{\"from\": \"" + sources[i] + "\", \"target\": \"" + targets[i] + "\"}\n";
  }
  write_file(corpus.path("all.tsv"), tsv[0] + tsv[1]);
  write_file(corpus.path("first.tsv"), tsv[0]);
  write_file(corpus.path("second.txt"), tsv[1]);
  write_file(corpus.path("all.csv"), csv);
  write_file(corpus.path("all.jsonl"), jsonl);
  corpus.must("tokenize -q -t model.h5 --pairs -o second.h5 second.txt");
  const std::string tune =
      "finetune -q --from model.h5 --task translate --epochs 2 --batch-size 8 --valid 20% --train ";
  corpus.must(tune + "all.tsv -o expected.h5");
  const auto expected = corpus.weights("expected.h5");
  CHECK(expected != corpus.weights("model.h5"));
  for (const std::string form : {"all.csv", "all.jsonl --text-column from", "first.tsv,second.txt",
                                 "first.tsv --train second.h5", "all.csv --text-column 3,2"}) {
    CAPTURE(form);
    corpus.must(tune + form + " -o other.h5 --restart");
    CHECK(corpus.weights("other.h5") == expected);
  }
  const std::string report = corpus
                                 .must(
                                     "finetune --from model.h5 --task translate --epochs 1 --valid 20% -o held.h5 "
                                     "--train first.tsv,second.txt")
                                 .err;
  CHECK(contains(report, "validation loss"));
  CHECK_FALSE(contains(report, "40 pairs"));
  write_file(corpus.path("empty.tsv"), "a b\t\n");
  write_file(corpus.path("blank.tsv"), "a b\tb a\n\u00a0\tb\n");
  write_file(corpus.path("half.csv"), "source,target\na b\n");
  write_file(corpus.path("half.jsonl"), "{\"source\": \"a\"}\n");
  write_file(corpus.path("nothing.csv"), "source,target\n");
  write_file(corpus.path("wide.tsv"), "a\tb\tc\n");
  write_file(corpus.path("tagged.conll"), "a X\n");
  const std::string bad = "finetune --from model.h5 --task translate -o x.h5 --train ";
  for (const Refusal& refusal : std::vector<Refusal>{
           {bad + "empty.tsv", "empty.tsv:1: the target is empty", 1},
           {bad + "blank.tsv", "blank.tsv:2: the source is empty", 1},
           {bad + "all.tsv,half.csv", "half.csv:2: the number of columns is 1, not 2", 1},
           {bad + "half.jsonl", "half.jsonl:1: has no key 'target'", 1},
           {bad + "nothing.csv", "nothing.csv: no pair of texts", 1},
           {bad + "wide.tsv", "wide.tsv:1: the number of columns is 3, not 2; a line is SOURCE, tab, TARGET", 1},
           {bad + "tagged.conll", "this task needs pairs of texts: tsv, csv or jsonl", 2},
           {bad + "words.h5", "words.h5", 1},
           {bad + "all.tsv:2", "weights are for --task lm", 2},
           {bad + "all.csv --label-column 1", "--label-column", 2},
           {bad + "all.csv --text-column source,source", "are both column 3", 1},
           {bad + "all.csv --text-column origin", "has no column 'origin'", 1},
           {"finetune --from model.h5 --task lm -o x.h5 --train all.tsv --format csv", "--format", 2},
       }) {
    corpus.refused(refusal);
  }
}

TEST_CASE("translate: inspect align has a row for each target token, which sums to 1, in every form") {
  const Reverser corpus;
  const json map = parse_json(corpus.must("inspect align model.h5 'a b c' --json").out);
  REQUIRE(map["weights"].size() == 4);  // c, b, a, and the end
  CHECK(map["target"].size() == 4);
  for (const auto& row : map["weights"]) {
    REQUIRE(row.size() == map["source"].size());
    double sum = 0;
    for (const auto& weight : row) sum += weight.get<double>();
    CHECK(sum == doctest::Approx(1).epsilon(1e-5));
  }
  CHECK(lines_of(corpus.must("inspect align model.h5 'a b c' 'c b a'").out).size() == 4);
  corpus.must("inspect align model.h5 'a b c' -o map.svg && inspect align model.h5 'a b c' -o map.tsv");
  corpus.must("inspect align model.h5 'a b c' -o map.h5 && inspect verify map.h5");
  CHECK(lines_of(read_file(corpus.path("map.tsv"))).size() == 5);
  const json last = parse_json(corpus.must("inspect align model.h5 'a b c' --json --layer -1").out);
  CHECK(last == map);
  CHECK(parse_json(corpus.must("inspect align model.h5 'a b c' --json --layer all").out) == map);
  corpus.refused({"inspect align model.h5 'a b' --layer 0", "--layer 0: the model has layers 1 to 1", 2});
  corpus.refused({"inspect align model.h5 'a b' --layer 2",
                  "--layer 2: the model has layers 1 to 1, or from the last one -1 to -1", 2});
}

TEST_CASE("translate: inspect align shows each line of a file, with its own target, that of the other file, or none") {
  const Reverser corpus;
  const auto pairs_of = [&](const std::string& words) {
    return parse_json(corpus.must("inspect align model.h5 " + words + " --json").out)["pairs"];
  };
  write_file(corpus.path("lines.src"), "a b\n\nc d\n");
  write_file(corpus.path("lines.tgt"), "b a\nd c\n");
  write_file(corpus.path("both.tsv"), "a b\tb a\nc d\n");
  const json pairs = pairs_of("lines.src lines.tgt");
  REQUIRE(pairs.size() == 2);
  CHECK(pairs[0] == parse_json(corpus.must("inspect align model.h5 'a b' 'b a' --json").out));
  CHECK(pairs_of("both.tsv")[0] == pairs[0]);
  CHECK(pairs_of("both.tsv")[1] == pairs_of("lines.src")[1]);
  corpus.must(
      "inspect align model.h5 both.tsv -o both.html && inspect align model.h5 lines.src lines.tgt -o table.tsv");
  CHECK(contains(read_file(corpus.path("both.html")), "\"end\""));
  CHECK(lines_of(read_file(corpus.path("table.tsv"))).size() == 4 + 1 + 4);
  corpus.refused({"inspect align model.h5 lines.src 'b a'", "SOURCE has 2 sentences, and TARGET has 1", 1});
  corpus.refused({"inspect align model.h5 lines.src -o map.svg", "such a file shows one pair of sentences", 2});
}

TEST_CASE("translate: recurrent models learn to reverse, and resume to the same bits") {
  const ReversedCorpus corpus;
  const std::string pretrain = "pretrain -q --train pairs.h5 --width 32 --batch-size 32 --learning-rate 1e-2 ";
  corpus.must(pretrain + "--arch rnn -o model.h5 --steps 400");
  const std::string greedy = corpus.must("generate -q model.h5 valid.src").out;
  CHECK(corpus.must("generate -q model.h5 valid.src --beam 1").out == greedy);
  CHECK(corpus.must("generate -q model.h5 valid.src --batch-size 1").out == greedy);
  const json report =
      parse_json(corpus.must("generate -q model.h5 valid.src --evaluate valid.tgt --beam 3 --json").out);
  CHECK(report["exact"].get<double>() > 0.9);
  // The decoder attends to the letter that it writes.
  std::size_t found = 0, letters = 0;
  for (const char* text : {"a b c d", "e c a", "d b", "b e d c"}) {
    const json map = parse_json(corpus.must("inspect align model.h5 '" + std::string(text) + "' --json").out);
    const std::size_t count = (std::string(text).size() + 1) / 2;
    REQUIRE(map["weights"].size() == count + 1);
    for (std::size_t i = 0; i < count; ++i, ++letters) {
      const auto row = map["weights"][i].get<std::vector<double>>();
      const auto at = static_cast<std::size_t>(std::max_element(row.begin(), row.end()) - row.begin());
      found += at == count - 1 - i ? 1 : 0;
    }
  }
  CHECK(static_cast<double>(found) >= 0.9 * static_cast<double>(letters));
  const std::string half = pretrain + "--arch rnn:cell=lstm --schedule constant --dropout 0.1 --layers 2 ";
  corpus.must(half + "-o parts.h5 --steps 10 --keep 1");
  corpus.must(half + "-o whole.h5 --steps 20");
  corpus.must(half + "-o parts.h5 --steps 20 --resume parts.step-10.h5");
  CHECK(corpus.weights("parts.h5") == corpus.weights("whole.h5"));
  corpus.must("pretrain -q --train pairs.h5 --arch rnn:source-attention=none --width 16 --steps 5 -o fixed.h5");
  corpus.refused({"inspect align fixed.h5 'a b'", "fixed.h5", 1});
  corpus.must("finetune -q --from model.h5 --task translate --train pairs.h5 --steps 3 -o more.h5");
  corpus.must("convert -q model.h5 --dtype int8 -o small.h5");
  CHECK(lines_of(corpus.must("generate -q small.h5 -p 'a b'").out).size() == 1);
}

TEST_CASE("translate: with [CLS] and word pieces, texts begin without a space, and evaluation and scores agree") {
  const ReversedCorpus corpus;
  corpus.must(
      "cat train.src train.tgt > both.txt && tokenize -q --train --model wordpiece --vocab-size 60 -o pieces.h5 "
      "both.txt");
  corpus.must("tokenize -q -t pieces.h5 --pairs -o p.h5 train.src train.tgt");
  corpus.must("tokenize -q -t pieces.h5 --pairs -o v.h5 valid.src valid.tgt");
  corpus.must(
      "pretrain -q --train p.h5 --arch rnn --width 32 --batch-size 32 --learning-rate 5e-3 --steps 150 -o w.h5");
  std::size_t texts = 0;
  for (const std::string& line : lines_of(corpus.must("generate -q w.h5 valid.src").out)) {
    texts += line.empty() ? 0 : 1;
    CHECK_FALSE(line.starts_with(' '));
  }
  CHECK(texts > 50);
  const json whole = parse_json(corpus.must("inspect evaluate w.h5 v.h5 --json").out);
  double sum = 0;
  Index tokens = 0;
  for (const std::string& line :
       lines_of(corpus.must("paste valid.src valid.tgt | generate -q w.h5 --score --jsonl").out)) {
    const json score = parse_json(line);
    sum -= score["log_likelihood"].get<double>();
    tokens += score["tokens"].get<Index>();
  }
  CHECK(whole["tokens"] == tokens);
  CHECK(whole["nats_per_token"].get<double>() * static_cast<double>(tokens) == doctest::Approx(sum).epsilon(1e-5));
}

TEST_CASE("translate: BLEU of scripts without spaces comes with a warning that names what to use instead") {
  const Reverser corpus;
  write_file(corpus.path("two.src"), "a b\nc\n");
  write_file(corpus.path("two.zh"), "\u548c\u4e8c\u3002\n\u6811\u3002\n");
  write_file(corpus.path("two.tgt"), "b a\nc\n");
  const Outcome chinese = corpus.must("generate -q model.h5 two.src --evaluate two.zh");
  CHECK(contains(chinese.err, "BLEU"));
  CHECK(contains(chinese.err, "chrF2"));
  CHECK(contains(chinese.err, "inspect translations --tokenize zh or char"));
  CHECK(corpus.must("generate -q model.h5 two.src --evaluate two.tgt").err.empty());
}

TEST_CASE("translate: a backslash in a target is escaped, so that \\n is not a line end; in JSON it is what it is") {
  const ReversedCorpus corpus;
  corpus.must(
      "for i in $(seq 40); do printf 'a\\t\\\\n\\n'; done > slash.tsv && "
      "tokenize -q -t words.h5 --pairs -o slash.h5 slash.tsv && "
      "pretrain -q --train slash.h5 " +
      shape + "--batch-size 8 --optimizer adamw --learning-rate 1e-2 --steps 60 -o slash-model.h5");
  CHECK(corpus.must("echo a | generate -q slash-model.h5").out == "\\\\n\n");
  CHECK(parse_json(corpus.must("echo a | generate -q slash-model.h5 --jsonl").out)["text"] == "\\n");
}

TEST_CASE("translate: an empty or blank line stays empty; an empty target is not the model's own") {
  const Reverser corpus;
  CHECK(corpus.must("printf 'a b\\n\\nc\\n' | generate -q model.h5").out == "b a\n\nc\n");
  CHECK(corpus.must("printf ' \\n\\t\\n\\u3000\\r\\nc\\n' | generate -q model.h5").out == "\n\n\nc\n");
  const auto json_of = [&](const std::string& target) {
    return parse_json(corpus.must("inspect align model.h5 'a b' " + target + " --json").out);
  };
  CHECK(json_of("")["target"].size() == 3);
  CHECK(json_of("''")["target"].size() == 1);
}

namespace {

// A language in which every word has one translation, and a sentence the order of `order`: pairs of lines.
struct Sentences {
  std::string source, target;
  std::vector<std::vector<std::size_t>> order;  // for each target word, the source word that it translates
};

Sentences sentences(unsigned seed, unsigned count, bool reverses) {
  Sentences all;
  unsigned state = seed;
  const auto draw = [&state](unsigned below) {
    state = state * 1664525u + 1013904223u;
    return (state >> 16) % below;
  };
  for (unsigned i = 0; i < count; ++i) {
    const std::size_t length = 3 + draw(6);
    std::vector<std::string> source, target;
    for (std::size_t w = 0; w < length; ++w) {
      const char consonant = "bdfgklmn"[draw(8)], vowel = "aeiou"[draw(5)];
      source.push_back({consonant, vowel});
      target.push_back({vowel, 's', consonant});
    }
    std::vector<std::size_t>& order = all.order.emplace_back();
    for (std::size_t w = 0; w < length; ++w) {
      const std::size_t neighbour = w % 2 == 1 ? w - 1 : std::min(w + 1, length - 1);
      order.push_back(reverses ? length - 1 - w : neighbour);
    }
    for (std::size_t w = 0; w < length; ++w) {
      all.source += (w > 0 ? " " : "") + source[w];
      all.target += (w > 0 ? " " : "") + target[order[w]];
    }
    all.source += '\n';
    all.target += '\n';
  }
  return all;
}

}  // namespace

TEST_CASE("translate: a model whose own translation has no end is aligned up to its context") {
  const SmallCorpus corpus;
  const Sentences words = sentences(1, 50, true);
  write_file(corpus.path("words.src"), words.source);
  write_file(corpus.path("words.tgt"), words.target);
  corpus.must("tokenize -q --train --model word -o language.h5 words.src words.tgt");
  corpus.must("tokenize -q -t language.h5 --pairs -o pairs.h5 words.src words.tgt");
  corpus.must(
      "pretrain -q --train pairs.h5 --arch encoder-decoder --layers 1 --width 16 --heads 2 --context 12 --steps 1 "
      "--learning-rate 1e-12 -o model.h5");
  const std::string source = lines_of(words.source).front();
  const json map = parse_json(corpus.must("inspect align model.h5 '" + source + "' --json").out);
  CHECK(map["target"].size() <= 12);
  corpus.must("inspect attention model.h5 '" + source + "'");
}

TEST_CASE("translate: trained with additive attention, a model aligns each word with the one that it translates") {
  const SmallCorpus corpus;
  for (const bool reverses : {true, false}) {
    CAPTURE(reverses);
    const Sentences train = sentences(1, 3000, reverses), test = sentences(99, 40, reverses);
    write_file(corpus.path("words.src"), train.source);
    write_file(corpus.path("words.tgt"), train.target);
    corpus.must("tokenize -q --train --model word -o language.h5 words.src words.tgt");
    corpus.must("tokenize -q -t language.h5 --pairs -o language-pairs.h5 words.src words.tgt");
    corpus.must(
        "pretrain -q --train language-pairs.h5 --arch rnn --width 48 --batch-size 32 --learning-rate 1e-2 --steps 700 "
        "-o model.h5");
    const auto sources = lines_of(test.source), targets = lines_of(test.target);
    std::size_t right = 0, words = 0;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const std::string align = "inspect align model.h5 '" + sources[i] + "' '" + targets[i] + "' --json";
      const json map = parse_json(corpus.must(align).out);
      REQUIRE(map["weights"].size() == test.order[i].size() + 1);
      for (std::size_t w = 0; w < test.order[i].size(); ++w, ++words) {
        const auto row = map["weights"][w].get<std::vector<double>>();
        right += static_cast<std::size_t>(std::ranges::max_element(row) - row.begin()) == test.order[i][w] ? 1 : 0;
      }
    }
    CHECK(static_cast<double>(right) >= 0.9 * static_cast<double>(words));
  }
}

TEST_CASE("translate: a convolutional encoder learns, resumes to the same bits, and has no vectors of tokens") {
  const ReversedCorpus corpus;
  const std::string convolutional =
      "pretrain -q --train pairs.h5 --valid valid-pairs.h5 --arch "
      "rnn:source-encoder=convolution:kernel=3,cell=gru,source-attention=none,context-vector=every-step --width 48 "
      "--batch-size 32 --learning-rate 1e-2 ";
  corpus.must(convolutional + "-o model.h5 --steps 600");
  const std::string greedy = corpus.must("generate -q model.h5 valid.src").out;
  CHECK(corpus.must("generate -q model.h5 valid.src --beam 1").out == greedy);
  CHECK(corpus.must("generate -q model.h5 valid.src --batch-size 1").out == greedy);
  const json report = parse_json(corpus.must("generate -q model.h5 valid.src --evaluate valid.tgt --json").out);
  CHECK(report["exact"].get<double>() > 0.6);
  const std::string half = convolutional + "--schedule constant --dropout 0.1 --layers 2 ";
  corpus.must(half + "-o parts.h5 --steps 10 --keep 1");
  corpus.must(half + "-o whole.h5 --steps 20");
  corpus.must(half + "-o parts.h5 --steps 20 --resume parts.step-10.h5");
  CHECK(corpus.weights("parts.h5") == corpus.weights("whole.h5"));
  corpus.must("inspect verify model.h5 && convert -q model.h5 --dtype bf16 -o small.h5");
  CHECK(lines_of(corpus.must("generate -q small.h5 -p 'a b'").out).size() == 1);
  corpus.refused({"inspect align model.h5 'a b'", "model.h5", 1});
  write_file(corpus.path("more.tsv"), "a b\tb a\nc d e\te d c\n");
  corpus.must("finetune -q --from model.h5 --task translate --train more.tsv --epochs 2 -o more.h5");
  CHECK(lines_of(corpus.must("generate -q more.h5 -p 'a b'").out).size() == 1);
  corpus.refused({"inspect embed model.h5 valid.src", "gives a vector for each token of a text", 1});
  write_file(corpus.path("labelled.tsv"), "x\ta b\ny\tc d\n");
  corpus.refused({"finetune --from model.h5 --task classify --train labelled.tsv -o x.h5",
                  "gives a vector for each token of a text, of the architecture decoder or encoder or two-stream or "
                  "encoder-decoder or lstm or bilm or bag",
                  1});
  const auto refused = [&](const std::string& settings, const std::string& says) {
    corpus.refused({"pretrain --train pairs.h5 --arch rnn:" + settings + " --steps 2 -o x.h5", says, 2});
  };
  refused("source-encoder=convolution",
          "--arch rnn:source-attention=additive: the encoder convolution gives one vector");
  refused("source-encoder=convolution:kernel=x", "--arch rnn:source-encoder: convolution:kernel=x is not a number");
  refused("source-encoder=convolutions", "did you mean 'convolution'?");
  refused("source-encoder=convolution,encoder-layers=2,source-attention=none",
          "--arch rnn:encoder-layers: a convolutional encoder has as many levels as a source needs");
}

TEST_CASE("translate: what does not fit together is refused with what to do") {
  const Reverser corpus;
  corpus.must("pretrain -q --train train.h5 --layers 1 --width 16 --heads 2 --steps 2 -o decoder.h5");
  corpus.refused({"inspect align decoder.h5 'a' 'b'", "predicts a target text for a source text", 1});
  corpus.refused({"pretrain --train pairs.h5 --objective causal --layers 1 --width 16 --heads 2 --steps 2 -o x.h5",
                  "--objective causal is trained on text, not on pairs of texts", 2});
  corpus.refused(
      {"pretrain --train train.h5 " + shape + "--steps 2 -o x.h5", "train.h5: its tokenizer lacks the sentinels", 1});
  corpus.refused({"pretrain --objective translate --train train.h5 " + shape + "--steps 2 -o x.h5",
                  "--objective translate is trained on pairs of texts", 2});
  corpus.refused({"pretrain --train pairs.h5,pairs.h5 " + shape + "--steps 2 -o x.h5", "one, without a weight", 2});
  corpus.refused({"pretrain --train pairs.h5 " + shape + "--batch-size 3 --objective translate:batch-tokens=9 -o x.h5",
                  "--batch-size and batch-tokens of --objective both", 2});
  corpus.refused({"pretrain --train train.h5 --objective causal:batch-tokens=9 --steps 2 -o x.h5",
                  "--objective: causal has no key 'batch-tokens', which is one of translate, respond, denoise", 2});
  corpus.refused({"printf 'a b\\n' | generate model.h5 --score", "is not SOURCE, tab, TARGET", 1});
  corpus.refused({"head -5 valid.tgt > few && generate model.h5 valid.src --evaluate few -o kept",
                  "few: has 5 references for 60", 1});
  CHECK(lines_of(read_file(corpus.path("kept"))).size() == 60);
  corpus.refused(
      {"head -5 valid.src | generate model.h5 --evaluate valid.tgt", "more references than the 5 source texts", 1});
  corpus.refused({"generate model.h5 -p a --stream", "--stream", 2});
  corpus.must("tokenize -q -t words.h5 -o stream.h5 valid.src");
  corpus.refused(
      {"inspect evaluate model.h5 stream.h5",
       "model.h5: its objective, translate, reads pairs; evaluate it on a pairs file, or with --objective denoise", 1});
  corpus.refused({"inspect evaluate model.h5 stream.h5 --objective translate",
                  "--objective translate is trained on pairs of texts, not on text; ", 2});
  corpus.refused({"inspect evaluate model.h5 pairs.h5 --objective denoise",
                  "--objective denoise is trained on text, not on pairs of texts; ", 2});
  corpus.refused({"classify model.h5 --labels a,b --template '{}'", "predicts a target text", 1});
  // Bytes that are not UTF-8 shift no line.
  const auto lines = lines_of(corpus.must("printf 'a b\\nc\\n\\xff\\nd\\n' | generate -q model.h5").out);
  REQUIRE(lines.size() == 4);
  CHECK(lines[1] == "c");
  CHECK(lines[3] == "d");
}

}  // namespace translate_tests

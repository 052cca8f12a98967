// finetune and classify from outside.
#include <cmath>

#include "support/json.hpp"
#include "tools/labelled_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace finetune_tests {

TEST_CASE("finetune and classify: classes, with validation, the best model and equal bytes twice") {
  const Labelled corpus;
  const std::string command = "finetune --from model.h5 --task classify --train texts.tsv --valid texts.tsv -o ";
  corpus.must(command + "a.h5" + quick);
  corpus.must(command + "a2.h5" + quick + "--threads 1");
  CHECK(corpus.weights("a.h5") == corpus.weights("a2.h5"));
  CHECK(corpus.leftovers() == 0);
  const auto report = corpus.evaluated("classify a.h5 texts.tsv");
  CHECK(report["accuracy"] == 1.0);
  CHECK(report["classes"]["royal"]["f1"] == 1.0);
  CHECK(report["confusion"]["animal"]["royal"] == 0);
  const std::string lines = corpus.must("cut -f2 texts.tsv | classify a.h5").out;
  CHECK(lines_in(lines) == 120);
  CHECK(lines.starts_with("animal\t0."));
  CHECK(corpus.must("cut -f2 texts.tsv | classify a.h5 --batch-tokens 1").out == lines);
  const auto object = parse_json(corpus.must("echo 'my queen sees' | classify a.h5 --jsonl --top 2").out);
  CHECK(object["label"] == "royal");
  CHECK(object["top"].size() == 2);
  CHECK(contains(corpus.must("inspect verify a.h5").out, "no problem"));
}

TEST_CASE("finetune: Coupled Adam is AdamW, and says so, unless tokens are predicted") {
  const Labelled corpus;
  const std::string command = "finetune --from model.h5 --train texts.tsv -o ";
  const std::string coupled = " --optimizer coupled:beta2=0.999,weight-decay=0.01";  // as the adamw of finetune
  const std::string note = " coupled is adamw here: no output embeddings are trained";
  corpus.must(command + "adamw.h5" + quick);
  CHECK(contains(corpus.must(command + "coupled.h5" + coupled + quick).err, note));
  CHECK(corpus.weights("coupled.h5") == corpus.weights("adamw.h5"));
  const std::string with_text = " --auxiliary-weight 0.5" + quick;
  corpus.must(command + "text-adamw.h5" + with_text);
  CHECK_FALSE(contains(corpus.must(command + "text-coupled.h5" + coupled + with_text).err, note));
  CHECK(corpus.weights("text-coupled.h5") != corpus.weights("text-adamw.h5"));
  CHECK(corpus.weights("text-adamw.h5") != corpus.weights("adamw.h5"));
}

TEST_CASE("finetune: few examples are read up to twenty times, text without labels four times") {
  const Labelled corpus;
  const auto steps = [&](const std::string& options) {
    const auto plan = parse_json(corpus.must("finetune --from model.h5 --dry-run --json " + options).out);
    return plan["steps"].get<int>();
  };
  CHECK(steps("--train texts.tsv") == 150);  // 120 examples, 20 times, in batches of 16
  CHECK(steps("--train texts.tsv --batch-size 4") == 500);
  CHECK(steps("--train texts.tsv --batch-size 1") == 500);
  CHECK(steps("--train texts.tsv --epochs 2") == 15);
  CHECK(steps("--train texts.tsv --steps 7") == 7);
  CHECK(steps("--task lm --train train.h5") == steps("--task lm --train train.h5 --epochs 4"));
  // Texts that are too long are counted once, of training and validation, however often they are encoded.
  write_file(corpus.path("long.tsv"), "animal\tthe cat\nroyal\t" + repeated("my queen sees a dog ", 10) + "\n");
  for (const std::string run : {"--steps 1 -o l.h5", "--steps 1 --dry-run"}) {
    const std::string err =
        corpus.must("finetune --from model.h5 --train texts.tsv,long.tsv --valid long.tsv " + run).err;
    CHECK_MESSAGE(contains(err, "2 texts were longer than the context"), err);
    CHECK(err.find("longer than the context") == err.rfind("longer than the context"));
    CHECK_FALSE(
        contains(corpus.must("finetune --restart --from model.h5 --train texts.tsv " + run).err, "longer than"));
  }
  corpus.refused("pretrain --train train.h5 -o x.h5 --steps auto", 2, "--steps auto needs --epochs");
}

TEST_CASE("finetune and classify: an empty text is a text") {
  const Labelled corpus;
  corpus.must("finetune --from model.h5 --task classify --train texts.tsv -o a.h5 -q --epochs 1");
  CHECK(lines_in(corpus.must("printf 'my queen\\n\\nthe cat' | classify a.h5").out) == 3);
}

TEST_CASE("finetune and classify: pairs, tags, numbers") {
  const Labelled corpus;
  corpus.must("finetune --from model.h5 --task pair --train pairs.tsv -o p.h5" + quick);
  CHECK(corpus.evaluated("classify p.h5 pairs.tsv")["accuracy"] == 1.0);
  corpus.must("finetune --from model.h5 --task label --train tags.conll -o t.h5" + quick);
  CHECK(corpus.evaluated("classify t.h5 tags.conll")["accuracy"] == 1.0);
  CHECK(corpus.must("printf 'my\\nqueen\\nsees\\n\\nthe\\ncat\\n' | classify t.h5").out ==
        "my\tDET\nqueen\tNOUN\nsees\tVERB\n\nthe\tDET\ncat\tNOUN\n");
  corpus.must("sed 's/^animal/10/; s/^royal/20/' texts.tsv > numbers.tsv");
  corpus.must("finetune --from model.h5 --task regress --train numbers.tsv -o n.h5" + quick);
  CHECK(corpus.evaluated("classify n.h5 numbers.tsv")["pearson"] > 0.95);
  const double number = std::stod(corpus.must("echo 'the cat sees a dog.' | classify n.h5").out);
  CHECK(number > 8);
  CHECK(number < 12);
}

TEST_CASE("classify: answers come while the input is open, in order, whatever the parts it is read in") {
  const Labelled corpus;
  corpus.must("finetune --from model.h5 --task classify --train texts.tsv -o c.h5" + quick);
  corpus.must("finetune --from model.h5 --task label --train tags.conll -o t.h5" + quick);
  // The programs read on until their input is closed, which it is only after they have answered.
  const auto asked = [&](const std::string& command, const std::string& text, const std::string& reading) {
    return corpus
        .must("coproc " + command + "; exec {to}>&${COPROC[1]}- {from}<&${COPROC[0]}-; printf '" + text + "' >&$to; " +
              reading + "; printf '" + text + "' >&$to; exec {to}>&-; cat <&$from")
        .out;
  };
  const std::string line = "read -t 600 -r line <&$from || exit 9; echo \"$line\"";
  CHECK(lines_in(asked("classify c.h5", "my queen sees\\n", line)) == 2);
  CHECK(lines_in(asked("classify model.h5 --labels sees,the --template {}", "my queen\\n", line)) == 2);
  // The second sentence goes on when the input does.
  const std::string words = "my\\nqueen\\n\\nsees\\n";
  CHECK(asked("classify t.h5", words, line + "; " + line + "; " + line) ==
        corpus.must("printf '" + words + words + "' | classify t.h5").out);

  for (const char* dtype : {"f32", "int8"}) {
    corpus.must(concatenate("convert c.h5 --dtype ", dtype, " -o small.h5"));
    const std::string all = corpus.must("cut -f2 texts.tsv | classify small.h5").out;
    CHECK(corpus.must("cut -f2 texts.tsv | classify small.h5 --batch-tokens 2").out == all);
    CHECK(corpus.must("cut -f2 texts.tsv | classify small.h5 --batch-tokens 90").out == all);
  }
  CHECK(corpus.must("cut -f1 tags.conll | classify t.h5 --batch-tokens 1").out ==
        corpus.must("cut -f1 tags.conll | classify t.h5").out);
  const Outcome wrong = corpus.run(
      "(cut -f2 texts.tsv; yes 'a dog' | head -100 | tr '\\n' ' ') | classify c.h5 --overlong error --batch-tokens 8");
  CHECK(wrong.status == 1);
  CHECK(contains(wrong.err, "standard input:121"));
  CHECK(lines_in(wrong.out) > 60);
}

TEST_CASE("finetune and classify: spans") {
  const Labelled corpus;
  std::string lines;
  for (int i = 0; i < 60; ++i) {
    const std::string name = i % 2 == 0 ? "cät" : "dog";
    lines += "{\"question\": \"who sees\", \"context\": \"thé " + name + " sees\", \"answers\": [{\"text\": \"" + name +
             "\", \"answer_start\": 4}]}\n";
  }
  write_file(corpus.path("spans.jsonl"), lines);
  corpus.must("finetune --from model.h5 --task span --train spans.jsonl -o s.h5" + quick);
  CHECK(corpus.evaluated("classify s.h5 spans.jsonl")["exact_match"] > 0.95);
  // Where an answer begins and ends counts characters, of which é and ä are one.
  const std::string ask = "head -2 spans.jsonl | classify s.h5 - --format jsonl";
  const auto answered = lines_of(corpus.must(ask).out);
  REQUIRE(answered.size() == 2);
  CHECK(answered[0].starts_with("1\tcät\t4\t7\t"));
  CHECK(answered[1].starts_with("2\tdog\t4\t7\t"));
  for (const json& answer : json_lines(corpus.must(ask + " --jsonl").out)) CHECK(answer["top"][0]["answer_start"] == 4);
}

TEST_CASE("finetune: of questions that all have answers, an evaluation while training takes the best answer, too") {
  const Labelled corpus;
  std::string lines;
  // A word alone is the only answer to it, however probable a model finds that there is none.
  for (const char* const word : {"cat", "dog", "king", "queen", "old", "sees", "forgets", "follows"}) {
    lines += concatenate(R"({"question": "who sees", "context": ")", word, R"(", "answers": [{"text": ")", word,
                         R"(", "answer_start": 0}]})", "\n");
  }
  write_file(corpus.path("words.jsonl"), lines);
  for (const int seed : {1, 2, 3}) {
    corpus.must(
        "finetune -q --from model.h5 --task span --train words.jsonl --valid words.jsonl --steps 1 "
        "--learning-rate 1e-9 --metric token_f1 --restart -o s.h5 --seed " +
        std::to_string(seed));
    const json history = parse_json(corpus.must("inspect --history --json s.h5").out)["history"];
    const json judged = corpus.evaluated("classify s.h5 words.jsonl");
    CHECK(history["valid_token_f1"].back().get<double>() == doctest::Approx(judged["token_f1"].get<double>()));
  }
}

TEST_CASE("finetune: the dropout is the given one, 0 too, or what suits the task and the model") {
  const Labelled corpus;
  const auto dropout = [&](const std::string& options) {
    corpus.must("finetune -q --from model.h5 --steps 1 --restart -o d.h5 " + options);
    return parse_json(corpus.must("inspect --json d.h5").out)["config"]["dropout"].get<double>();
  };
  for (const auto& [task, usual] : {std::pair("--train texts.tsv ", 0.1), {"--task lm --train train.h5 ", 0.0}}) {
    CAPTURE(task);
    CHECK(dropout(task) == usual);
    for (const char* const given : {"0", "0.05", "0.3"}) {
      CHECK(dropout(std::string(task) + "--dropout " + given) == std::stod(given));
    }
  }
}

TEST_CASE("convert: a model that was fine-tuned for a task stays one") {
  const Labelled corpus;
  corpus.must("finetune --from model.h5 --task classify --train texts.tsv -o c.h5" + quick);
  const auto original = corpus.answers("c.h5", "texts.txt");
  const auto tensors = corpus.weights("c.h5");
  struct Case {
    std::string weights;
    double tolerance;
  };
  for (const Case& one : std::vector<Case>{{"keep", 1e-6}, {"f32", 1e-6}, {"bf16", 0.01}, {"int8", 0.03}}) {
    CAPTURE(one.weights);
    corpus.must("convert -q c.h5 --dtype " + one.weights + " -o x.h5");
    CHECK(contains(corpus.must("inspect verify x.h5").out, "no problem"));
    CHECK(contains(corpus.must("inspect x.h5").out, "fine-tuned for the task classify (animal, royal)"));
    check_alike(corpus.answers("x.h5", "texts.txt"), original, one.tolerance);
    if (one.weights == "keep" || one.weights == "f32") CHECK(corpus.weights("x.h5") == tensors);
  }
  corpus.must("finetune --from model.h5 --task label --train tags.conll -o t.h5" + quick);
  corpus.must("convert -q t.h5 --dtype bf16 -o t16.h5");
  CHECK(corpus.evaluated("classify t16.h5 tags.conll")["accuracy"] == 1.0);

  corpus.must("finetune --from model.h5 --task classify --train texts.tsv -o adapter.h5 --lora-rank 2 -q --epochs 1");
  const auto refused = [&](const std::string& command, int status, const std::string& says) {
    CHECK(lines_in(corpus.refused("convert " + command, status, says).err) == 1);
  };
  refused("c.h5 -o hf/", 1, "c.h5: was fine-tuned for the task classify");
  CHECK_FALSE(std::filesystem::exists(corpus.path("hf")));
  refused("adapter.h5 --dtype bf16 -o y.h5", 2, "adapter.h5: is an adapter; merge it with its base by --merge");
  refused("adapter.h5 -o hf/", 2, "--merge");
  refused("c.h5 --base model.h5 -o y.h5", 2, "--base has no effect without --merge");
  CHECK_FALSE(std::filesystem::exists(corpus.path("y.h5")));
  corpus.must("convert -q adapter.h5 --merge -o m.h5 && convert -q m.h5 --dtype bf16 -o m16.h5");
  CHECK(corpus.answers("m16.h5", "texts.txt").size() == original.size());

  // Models of one task have an average, those of other labels have none.
  corpus.must("convert -q c.h5 m.h5 --average -o mean.h5");
  CHECK(contains(corpus.must("inspect mean.h5").out, "fine-tuned for the task classify (animal, royal)"));
  const auto mean = corpus.weights("mean.h5"), merged = corpus.weights("m.h5");
  for (const auto& [name, values] : tensors) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      REQUIRE(mean.at(name)[i] == doctest::Approx((values[i] + merged.at(name)[i]) / 2).epsilon(1e-6));
    }
  }
  corpus.must("sed s/royal/regal/ texts.tsv > regal.tsv");
  corpus.must("finetune --from model.h5 --task classify --train regal.tsv -o r.h5 -q --epochs 1");
  refused("c.h5 r.h5 --average -o y.h5", 1, R"(r.h5: has labels ["animal","regal"], c.h5 ["animal","royal"]; only)");
  refused("c.h5 model.h5 --average -o y.h5", 1, "c.h5: was fine-tuned for a task, model.h5 was not");
  CHECK_FALSE(std::filesystem::exists(corpus.path("y.h5")));
}

TEST_CASE("classify: a language model is asked") {
  const Labelled corpus;
  const std::string lines =
      corpus.must("printf 'the cat\\nmy queen\\n' | classify model.h5 --labels 'sees,the' --template '{}'").out;
  CHECK(lines.starts_with("sees\t"));
  CHECK(lines_in(lines) == 2);
}

TEST_CASE("classify: a label's score is its log-likelihood or the mean of its tokens', less that after --neutral") {
  const SmallCorpus corpus;
  // Bytes, so that a prompt and a label are the tokens of their text, of 2 and 5 tokens with the space.
  corpus.must("tokenize -q --train --model byte --end-of-text none -o bytes.h5 train.txt");
  corpus.must("tokenize -q -t bytes.h5 -o byte_tokens.h5 train.txt");
  corpus.must(
      "pretrain -q --train byte_tokens.h5 -o bytes_model.h5 --steps 20 --layers 1 --width 32 "
      "--heads 2 --context 32 --batch-size 4");
  std::vector<double> scores;
  for (const std::string prompt : {"my queen sees", "a dog sees"}) {
    write_file(corpus.path("lines.txt"), prompt + "\n" + prompt + " a\n" + prompt + " king\n");
    for (const json& line : json_lines(corpus.must("generate -q --score --jsonl bytes_model.h5 lines.txt").out)) {
      scores.push_back(line["log_likelihood"]);
    }
  }
  REQUIRE(scores.size() == 6);
  const double a = scores[1] - scores[0], king = scores[2] - scores[0];
  const double neutral_a = scores[4] - scores[3], neutral_king = scores[5] - scores[3];
  for (const auto& [options, difference] :
       {std::pair<std::string, double>{"--label-score sum", a - king},
        {"--label-score mean", a / 2 - king / 5},
        {"--label-score sum --neutral 'a dog'", a - neutral_a - (king - neutral_king)},
        {"--label-score mean --neutral 'a dog'", (a - neutral_a) / 2 - (king - neutral_king) / 5}}) {
    CAPTURE(options);
    const json answer = parse_json(
        corpus
            .must("echo 'my queen' | classify bytes_model.h5 --labels a,king --template '{} sees' --jsonl --top 2 " +
                  options)
            .out);
    for (const json& label : answer["top"]) {
      const double probability = 1 / (1 + std::exp(label[0] == "a" ? -difference : difference));
      CHECK(label[1].get<double>() == doctest::Approx(probability).epsilon(1e-4));
    }
  }
}

TEST_CASE("finetune and classify: what is wrong is said in one line") {
  const Labelled corpus;
  const auto refused = [&](const std::string& command, int status, const std::string& says) {
    CHECK(lines_in(corpus.refused(command, status, says).err) == 1);
  };
  const std::string start = "finetune -q --from model.h5 -o x.h5 --train ";
  refused("finetune", 2, "--from");
  refused(start + "none.tsv", 1, "none.tsv");
  refused("cat texts.tsv | " + start + "-", 2, "must be files");
  refused("cat texts.tsv | " + start + "texts.tsv --valid -", 2, "must be files");
  corpus.must("gzip -k texts.tsv");
  refused(start + "texts.tsv.gz", 1, "texts.tsv.gz: is compressed with gzip; decompress it first");
  refused("classify model.h5 --labels a,b --template '{}' < texts.tsv.gz", 1, "standard input: is compressed");
  // An escape sequence that would change a terminal.
  write_file(corpus.path("escape.tsv"), "a\x1b[31m\tone\n");
  refused(start + "escape.tsv", 1, "escape.tsv:1: the label 'a\\x1b[31m' is not UTF-8 text without control");
  write_file(corpus.path("bad.tsv"), "a\tone\nno tab\n");
  refused(start + "bad.tsv", 1, "bad.tsv:2");
  write_file(corpus.path("one.tsv"), "a\tone\na\ttwo\n");
  refused(start + "one.tsv", 1, "'a'");
  refused(start + "texts.tsv --folds 2 --fold 3", 2, "--fold 3: there are 2 folds");
  refused(start + "texts.tsv --pooling first", 2, "pooling");
  refused(start + "texts.tsv --lora-rank 2 --lora-targets queries", 2, "queries");
  refused(start + "texts.tsv --valid texts.tsv --metric f2", 2, "accuracy");
  write_file(corpus.path("long.tsv"), "a\t" + std::string(300, 'x') + "\nb\tshort\na\tshort\nb\tshort\n");
  refused(start + "long.tsv --overlong error", 1, "long.tsv:1");
  refused(start + "texts.tsv --task label", 2, "--format");
  CHECK(!std::filesystem::exists(corpus.path("x.h5")));
  corpus.must(
      "cp model.h5 kept.h5 && cp model.h5 m.best-5.h5 && cp model.h5 n.checkpoint.h5 && ln -s model.h5 link.h5");
  refused("finetune -q --from model.h5 --train texts.tsv -o model.h5", 2, "another name");
  refused("finetune -q --from model.h5 --train texts.tsv -o ./link.h5", 2, "another name");
  refused("finetune -q --from model.h5 --train texts.tsv -o texts.tsv", 2, "another name");
  refused("finetune -q --from model.h5 --train texts.tsv -o y.h5 --log texts.tsv", 2, "another name");
  refused("finetune -q --from m.best-5.h5 --train texts.tsv --valid texts.tsv -o m.h5", 2, "another name");
  refused("finetune -q --from n.checkpoint.h5 --train texts.tsv -o n.h5", 2, "another name");
  refused("pretrain -q --train train.h5 -o train.h5" + tiny_model, 2, "another name");
  refused("generate model.h5 -p x -o model.h5", 2, "another name");
  refused("classify model.h5 texts.tsv -o texts.tsv", 2, "another name");
  refused("inspect embed model.h5 --text x -o ./link.h5", 2, "another name");
  corpus.must("cmp model.h5 kept.h5");
  for (const char* part : {"bogus", "encoder/", "decoder/0,", "task", "decoder/00"}) {
    refused(start + "texts.tsv --freeze " + part, 2, "--freeze");
  }
  // Before any training, which would take minutes.
  refused("timeout 600 finetune -q --from model.h5 --train texts.tsv --epochs 100000 -o none/x.h5", 1, "none/");
  refused("timeout 600 pretrain -q --train train.h5 --steps 10000000 -o none/x.h5" + tiny_model, 1, "none/");
  refused("echo x | classify model.h5", 1, "finetune");
  refused("echo x | classify model.h5 --labels a,b", 2, "--template");
  corpus.must("finetune -q --from model.h5 -o x.h5 --train texts.tsv --epochs 1");
  write_file(corpus.path("other.tsv"), "plant\tthe cat\nplant\ta tree\n");
  refused("classify x.h5 other.tsv --evaluate", 1, "plant");
  refused("classify x.h5 texts.tsv --evaluate --base model.h5", 2, "--base");
  refused("generate train.h5 -p x", 1, "train.h5");
}

}  // namespace finetune_tests

// classify from outside: what it does with odd inputs, and what it says of its own metrics.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "support/json.hpp"
#include "tools/small_corpus.hpp"
#include "tools/watching.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace classify_tests {

namespace {

// A model, sentences of animals and of royals, and words with their tags.
struct Labelled : SmallCorpus {
  Labelled() {
    begin_with("model", [&] { must("pretrain -q --train train.h5 -o model.h5 --steps 60" + tiny_model); });
    std::string texts, tags;
    for (const std::string verb : {"sees", "follows", "forgets"}) {
      for (int i = 0; i < 20; ++i) {
        texts += "animal\tthe cat " + verb + " a dog.\nroyal\tmy queen " + verb + " a dog.\n";
        tags += "the\tDET\ncat\tNOUN\n" + verb + "\tVERB\n\nmy\tDET\nqueen\tNOUN\n" + verb + "\tVERB\n\n";
      }
    }
    write_file(path("texts.tsv"), texts);
    write_file(path("tags.conll"), tags);
  }
};

const std::string quick = " -q --learning-rate 5e-3 --batch-size 8 --epochs 8 ";

nlohmann::json evaluated(const SmallCorpus& corpus, const std::string& command) {
  return parse_json(corpus.must(command + " --evaluate --json").out);
}

std::ptrdiff_t count_lines(const std::string& text) {
  return std::count(text.begin(), text.end(), '\n');
}

std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of('\n'), begin = text.rfind('\n', end);
  return text.substr(begin + 1, end - begin);
}

std::string tag_examples() {
  return repeated("the\tB-x\ncat\tI-x\nsees\tO\n\nmy\tB-x\nqueen\tI-x\nsees\tO\n\n", 20);
}

// Questions "who sees", with contexts that the model reads in several parts if they are long.
std::string span_examples() {
  std::string lines;
  for (int i = 0; i < 60; ++i) {
    const std::string name = i % 2 == 0 ? "cat" : "dog";
    lines += "{\"question\": \"who sees\", \"context\": \"the " + name + " sees\", \"answers\": [{\"text\": \"" + name +
             "\", \"answer_start\": 4}]}\n";
  }
  return lines;
}

}  // namespace

TEST_CASE("classify: words beyond the context get no tag, or O; they count as wrong, and are counted") {
  const Labelled corpus;
  write_file(corpus.path("long"), repeated("my\nqueen\n", 12));
  corpus.must("finetune --from model.h5 --task label --train tags.conll -o t.h5" + quick);
  const Outcome cut = corpus.must("classify t.h5 long --overlong truncate");
  CHECK(count_lines(cut.out) == 24);
  CHECK(cut.out.starts_with("my\tDET\nqueen\tNOUN\n"));
  CHECK(last_line(cut.out) == "queen\t_");
  const auto unseen = std::count(cut.out.begin(), cut.out.end(), '_');
  CHECK(contains(cut.err, "classify: " + std::to_string(unseen) +
                              " words are outside the context or without a token, and got no tag\n"));
  const auto object = parse_json(corpus.must("classify t.h5 long --overlong truncate --jsonl").out);
  CHECK(object["tags"].size() == 24);
  CHECK(object["tags"].back().is_null());
  const Outcome whole = corpus.must("classify t.h5 long --overlong split");
  CHECK(last_line(whole.out) == "queen\tNOUN");
  CHECK_FALSE(contains(whole.out, "_"));
  CHECK_FALSE(contains(whole.err, "words"));
  // DET is the first of the tags, and would be right by chance.
  write_file(corpus.path("gold"), repeated("my\tDET\n", 24));
  const auto report = evaluated(corpus, "classify t.h5 gold --overlong truncate");
  CHECK(report["examples"] == 24);
  CHECK(report["unanswered"].get<int>() > 2);
  CHECK(report["accuracy"].get<double>() <= 1 - report["unanswered"].get<double>() / 24 + 1e-9);

  write_file(corpus.path("names"), tag_examples());
  corpus.must("finetune --from model.h5 --task label --train names --format conll -o n.h5" + quick);
  const Outcome outside = corpus.must("classify n.h5 long --overlong truncate");
  CHECK(last_line(outside.out) == "queen\tO");
  CHECK(contains(outside.err, "and got the tag O\n"));
  write_file(corpus.path("gold"), repeated("my\tB-x\nqueen\tI-x\n", 12));
  const auto entities = evaluated(corpus, "classify n.h5 gold --format conll --overlong truncate");
  CHECK(entities["unanswered"] == 0);
  CHECK(entities["confusion"]["B-x"]["O"].get<int>() + entities["confusion"]["I-x"]["O"].get<int>() >= unseen);
}

TEST_CASE("classify: entities that are right, found and wanted are counted whole, as by hand") {
  const SmallCorpus corpus;
  corpus.must(
      "pretrain -q --train train.h5 -o model.h5 --steps 20 --layers 1 --width 32 --heads 2 "
      "--context 32 --batch-size 4");
  // Its answers, and the gold tags: 4 of 10 entities found and 8 wanted are right.
  struct Line {
    std::string word, answer, gold;
  };
  const std::vector<std::vector<Line>> sentences{
      {{"old", "B-per", "B-per"},
       {"king", "I-per", "I-per"},
       {"sees", "O", "O"},
       {"my", "B-loc", "B-loc"},
       {"queen", "I-loc", "I-loc"}},
      {{"dog", "B-per", "B-loc"}, {"the", "O", "O"}, {"my", "B-loc", "B-loc"}, {"queen", "I-loc", "O"}},
      {{"sees", "O", "B-per"},
       {"my", "B-loc", "I-per"},
       {"queen", "I-loc", "I-per"},
       {"the", "O", "O"},
       {"dog", "B-per", "B-per"}},
      {{"my", "B-loc", "B-loc"},
       {"queen", "I-loc", "I-loc"},
       {"sees", "O", "O"},
       {"old", "B-per", "O"},
       {"king", "I-per", "O"}},
      {{"dog", "B-per", "B-per"}, {"dog", "B-per", "I-per"}}};
  std::string words, answers, gold;
  for (const auto& sentence : sentences) {
    for (const Line& line : sentence) {
      words += line.word + "\n";
      answers += line.word + "\t" + line.answer + "\n";
      gold += line.word + "\t" + line.gold + "\n";
    }
    for (std::string* const text : {&words, &answers, &gold}) *text += "\n";
  }
  write_file(corpus.path("lessons.conll"), repeated(answers, 15));
  corpus.must(
      "finetune --from model.h5 --task label --train lessons.conll -o t.h5 -q --learning-rate 5e-3 --batch-size 8 "
      "--epochs 12");
  write_file(corpus.path("words.txt"), words);
  write_file(corpus.path("gold.conll"), gold);
  CHECK(corpus.must("classify t.h5 words.txt").out == answers);
  const auto entities = evaluated(corpus, "classify t.h5 gold.conll")["entities"];
  const auto check = [](const nlohmann::json& scores, double precision, double recall, int support) {
    CHECK(scores["precision"].get<double>() == doctest::Approx(precision));
    CHECK(scores["recall"].get<double>() == doctest::Approx(recall));
    CHECK(scores["f1"].get<double>() == doctest::Approx(2 * precision * recall / (precision + recall)));
    CHECK(scores["support"] == support);
  };
  check(entities, 4.0 / 10, 4.0 / 8, 8);
  check(entities["types"]["per"], 2.0 / 6, 2.0 / 4, 4);
  check(entities["types"]["loc"], 2.0 / 4, 2.0 / 4, 4);
  CHECK(entities["f1"].get<double>() == doctest::Approx(4.0 / 9));
}

TEST_CASE("classify: long contexts are read in parts; long questions are refused, or cut and counted") {
  const Labelled corpus;
  write_file(corpus.path("spans.jsonl"), span_examples());
  corpus.must("finetune --from model.h5 --task span --train spans.jsonl -o s.h5" + quick);
  const auto ask = [&](const std::string& question, const std::string& context, const std::string& options) {
    write_file(corpus.path("asked.jsonl"),
               "{\"id\": \"q\\t1\\n\\\\\", \"question\": \"" + question + "\", \"context\": \"" + context + "\"}\n");
    return corpus.run("classify s.h5 asked.jsonl " + options);
  };
  const Outcome context = ask("who sees", "the cat sees" + repeated(" a dog", 12), "");
  CHECK(context.status == 0);
  CHECK(context.err.empty());
  // The id keeps to its field and line.
  CHECK(context.out.starts_with("q\\t1\\n\\\\\t"));
  CHECK(count_lines(context.out) == 1);
  const std::string question = repeated("who sees ", 12);
  for (const char* options : {"--overlong error", "--overlong split"}) {
    const Outcome refused = ask(question, "the cat sees", options);
    CHECK(refused.status == 1);
    CHECK(contains(refused.err, "asked.jsonl: question 'q\\t1\\n\\\\': a question of "));
    CHECK(count_lines(refused.err) == 1);
  }
  const Outcome cut = ask(question, "the cat sees", "");
  CHECK(cut.status == 0);
  CHECK(contains(cut.err, "classify: 1 question was longer than half of the context, and truncated\n"));
  CHECK(contains(cut.out, "\tcat\t4\t7\t"));
}

TEST_CASE("classify: the lines before a bad one have their answers") {
  const Labelled corpus;
  write_file(corpus.path("two.tsv"), "a\tthe cat\nb\ta dog\na\tmy cat\nb\tmy dog\n");
  corpus.must("finetune --from model.h5 --train two.tsv -o t.h5" + quick);
  write_file(corpus.path("texts"), "the cat\na dog\n" + repeated("the cat sees ", 40) + "\nmy cat\n");
  const Outcome outcome = corpus.run("classify t.h5 texts --overlong error");
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.err, "texts:3: "));
  CHECK(outcome.out == corpus.must("head -n 2 texts | classify t.h5").out);
}

TEST_CASE("classify: a full disk is named, with one line or many") {
  const Labelled corpus;
  write_file(corpus.path("two.tsv"), "a\tthe cat\nb\ta dog\na\tmy cat\nb\tmy dog\n");
  corpus.must("finetune --from model.h5 --train two.tsv -o t.h5" + quick);
  for (const char* lines : {"the cat\n", "the cat\na dog\nmy cat\n"}) {
    write_file(corpus.path("texts"), lines);
    CHECK(corpus.refused("classify t.h5 texts > /dev/full", 1, "").err ==
          "classify: standard output: cannot write: No space left on device\n");
  }
}

TEST_CASE("classify: prompts that are too long are refused, or cut and counted") {
  const Labelled corpus;
  write_file(corpus.path("texts"), "the cat\n" + repeated("the cat ", 12) + "\n");
  const std::string command = "classify model.h5 texts --labels sees,the --template '{}' ";
  const Outcome refused = corpus.run(command + "--overlong error");
  CHECK(refused.status == 1);
  CHECK(contains(refused.err, "texts:2: the prompt has "));
  const Outcome cut = corpus.must(command);
  CHECK(count_lines(cut.out) == 2);
  CHECK(contains(cut.err, "classify: 1 prompt was longer than the context, and truncated at the beginning\n"));
  const Outcome split = corpus.run(command + "--overlong split");
  CHECK(split.status == 2);
  CHECK(contains(split.err, "--overlong split"));
  // The answer is that for the end alone.
  write_file(corpus.path("texts"), repeated("my queen sings to a dog. ", 4) + "the old king sees\n");
  corpus.must(
      "tokenize -t tokenizer.h5 texts | tr ' ' '\\n' | tail -n 15 | tr '\\n' ' ' | tokenize -t tokenizer.h5 --decode > "
      "end");
  const auto whole = parse_json(corpus.must(command + "--jsonl").out);
  const auto end =
      parse_json(corpus.must("classify model.h5 end --labels sees,the --template '{}' --overlong error --jsonl").out);
  CHECK(whole["label"] == end["label"]);
  CHECK(whole["probability"].get<double>() == doctest::Approx(end["probability"].get<double>()).epsilon(1e-6));
}

TEST_CASE("classify: templates have special tokens and the text as often as they say; texts have no special tokens") {
  const Labelled corpus;
  const auto ask = [&](const std::string& text, const std::string& pattern) {
    return corpus.run("echo '" + text + "' | classify model.h5 --labels sees,the --overlong error --template '" +
                      pattern + "'");
  };
  // As tokens these fit the context, as text they do not.
  const std::string ends = repeated("<|endoftext|>", 8);
  CHECK(ask("the cat", ends + "{}").status == 0);
  CHECK(contains(ask(ends, "{}").err, "standard input:1: the prompt has "));
  CHECK(ask("the", "{} cat {}").out == ask("the cat the", "{}").out);
  CHECK(ask("the {}", "{}").status == 0);
}

TEST_CASE("classify: --labels with adapters and encoders works, or says what is wrong") {
  const Labelled corpus;
  corpus.must("finetune -q --from model.h5 --task lm --train train.h5 -o l.h5 --lora-rank 2 --steps 3");
  const std::string asked = " --labels sees,the --template 'a {}'";
  CHECK(count_lines(corpus.must("echo dog | classify l.h5" + asked).out) == 1);
  CHECK(corpus.must("mkdir d && cp model.h5 d/b.h5; echo dog | classify l.h5 --base d/b.h5" + asked).out ==
        corpus.must("echo dog | classify l.h5" + asked).out);
  corpus.must("finetune -q --from model.h5 --task classify --train texts.tsv -o a.h5 --lora-rank 2 --epochs 1");
  const Outcome adapter = corpus.run("echo dog | classify a.h5" + asked);
  CHECK(adapter.status == 1);
  CHECK(contains(adapter.err,
                 "a.h5: is an adapter for the task classify, not for a language model; use it with "
                 "classify, without --labels\n"));
  const EncoderCorpus other;
  other.must("pretrain -q --train train.h5 -o e.h5 --steps 2" + tiny_encoder);
  const Outcome encoder = other.run("echo dog | classify e.h5" + asked);
  CHECK(encoder.status == 1);
  CHECK(contains(encoder.err,
                 "e.h5: is of the architecture encoder, which predicts masked tokens; --labels needs a model that "
                 "predicts next tokens, of the architecture decoder or lstm\n"));
}

TEST_CASE("classify: tables are aligned by what a terminal shows of labels, not by their bytes") {
  const Labelled corpus;
  corpus.must("sed 's/^animal/größer/; s/^royal/日本/' texts.tsv > labels.tsv");
  corpus.must("finetune -q --arch bag --task classify --train labels.tsv -o bag.h5");
  const std::vector<std::string> lines = lines_of(corpus.must("classify bag.h5 labels.tsv --evaluate").out);
  REQUIRE(lines.size() > 8);
  CHECK(lines[0] == "        precision   recall       F1  support");
  CHECK(lines[1] == "größer     1.0000   1.0000   1.0000       60");
  CHECK(lines[2] == "日本       1.0000   1.0000   1.0000       60");
  const auto gold = std::ranges::find(lines, "gold \\ predicted");
  REQUIRE(lines.end() - gold > 3);
  CHECK(gold[1] == "          größer    日本");
  CHECK(gold[2] == "größer        60       0");
  CHECK(gold[3] == "日本           0      60");
}

TEST_CASE("classify: the interval is that of the metric named first, over what was drawn together") {
  const Labelled corpus;
  corpus.must("finetune --from model.h5 --task classify --train texts.tsv -o c.h5" + quick);
  // Half of the royals are called animals, so that accuracy and correlation differ.
  corpus.must("awk -F'\\t' -v OFS='\\t' 'NR % 4 == 0 { $1 = \"animal\" } { print }' texts.tsv > wrong.tsv");
  for (const std::string metric : {"accuracy", "macro_f1", "matthews"}) {
    CAPTURE(metric);
    const auto report = evaluated(corpus, "classify c.h5 wrong.tsv --metric " + metric);
    const auto interval = report["interval"];
    CHECK(interval["metric"] == metric);
    CHECK(interval["low"].get<double>() < report[metric].get<double>());
    CHECK(interval["high"].get<double>() > report[metric].get<double>());
  }
  CHECK(evaluated(corpus, "classify c.h5 wrong.tsv --metric matthews")["interval"]["high"].get<double>() <
        evaluated(corpus, "classify c.h5 wrong.tsv")["interval"]["high"].get<double>());
  const auto drawn = [&](const std::string& options) {
    return evaluated(corpus, "classify c.h5 wrong.tsv --metric " + options)["interval"];
  };
  CHECK(drawn("macro_f1 --seed 2") == drawn("macro_f1 --seed 2"));
  CHECK(drawn("macro_f1 --seed 2") != drawn("macro_f1 --seed 1"));
  CHECK(drawn("accuracy --seed 2") == drawn("accuracy --seed 1"));  // its interval is exact

  // A sentence that is all right and one that is all wrong: a quarter of the samples has only the one, or the other.
  corpus.must("finetune --from model.h5 --task label --train tags.conll -o t.h5" + quick);
  write_file(corpus.path("two"), "my\tDET\nqueen\tNOUN\nsees\tVERB\n\nthe\tVERB\ncat\tVERB\nsees\tNOUN\n");
  const auto tags = evaluated(corpus, "classify t.h5 two --format conll");
  CHECK(tags["accuracy"] == 0.5);
  CHECK(tags["interval"]["low"] == 0.0);
  CHECK(tags["interval"]["high"] == 1.0);

  corpus.must(
      "awk -F'\\t' -v OFS='\\t' '{ $1 = ($1 == \"royal\" ? 20 : 10) + NR % 7 } { print }' texts.tsv > numbers.tsv");
  corpus.must("finetune --from model.h5 --task regress --train numbers.tsv -o n.h5" + quick);
  for (const std::string metric : {"pearson", "spearman", "mean_squared_error"}) {
    const auto report = evaluated(corpus, "classify n.h5 numbers.tsv --metric " + metric);
    CHECK(report["interval"]["metric"] == metric);
    CHECK(report["interval"]["low"].get<double>() < report[metric].get<double>());
    CHECK(report["interval"]["high"].get<double>() > report[metric].get<double>());
  }
}

TEST_CASE("classify: scores of labels are sums or means over their tokens, less those after the neutral text") {
  const Labelled corpus;
  const std::vector<std::string> labels{" sees", " sings to the old king", " forgets my"};
  // The log-likelihoods of a label's tokens after a text, as --score has them.
  const auto score = [&](const std::string& text, const std::string& label, bool mean) {
    write_file(corpus.path("scored"), text + "\n" + text + label + "\n");
    const auto lines = json_lines(corpus.must("generate -q model.h5 scored --score --jsonl").out);
    const auto &all = lines[1]["log_probabilities"], &given = lines[0]["log_probabilities"];
    double sum = 0;
    for (std::size_t i = given.size(); i < all.size(); ++i) sum += all[i].get<double>();
    return mean ? sum / static_cast<double>(all.size() - given.size()) : sum;
  };
  write_file(corpus.path("texts"), "the cat\n");
  for (const bool mean : {false, true}) {
    for (const bool prior : {false, true}) {
      CAPTURE(mean);
      CAPTURE(prior);
      std::vector<double> expected;
      double total = 0;
      for (const std::string& label : labels) {
        const double value = score("the cat", label, mean) - (prior ? score("a dog", label, mean) : 0);
        total += expected.emplace_back(std::exp(value));
      }
      const auto top =
          json_lines(corpus
                         .must("classify model.h5 texts --template '{}' --jsonl --top 3 "
                               "--labels 'sees,sings to the old king,forgets my'" +
                               std::string(mean ? " --label-score mean" : "") + (prior ? " --neutral 'a dog'" : ""))
                         .out)
              .front()["top"];
      REQUIRE(top.size() == 3);
      for (const auto& entry : top) {
        const auto at = std::find(labels.begin(), labels.end(), " " + entry[0].get<std::string>()) - labels.begin();
        CHECK(entry[1].get<double>() == doctest::Approx(expected[static_cast<std::size_t>(at)] / total).epsilon(1e-4));
      }
    }
  }
}

TEST_CASE("classify: after a template that ends in white space, no space comes before a label") {
  const Labelled corpus;
  const std::vector<std::string> labels{"the", "a", "my queen"};
  std::map<std::string, double> expected;
  double total = 0;
  for (const std::string& label : labels) {
    const std::string scored = corpus.must("generate -q model.h5 --score -p $'the cat.\\n" + label + "'").out;
    total += expected[label] = std::exp(std::stod(scored));
  }
  const auto answer = parse_json(
      corpus
          .must("echo 'the cat' | classify model.h5 --template $'<|endoftext|>{}.\\n' --labels 'the,a,my queen' "
                "--jsonl --top 3")
          .out);
  REQUIRE(answer["top"].size() == 3);
  for (const auto& entry : answer["top"]) {
    CHECK(entry[1].get<double>() == doctest::Approx(expected[entry[0]] / total).epsilon(1e-4));
  }
}

TEST_CASE("classify: F1 counts whole entities") {
  const Labelled corpus;
  write_file(corpus.path("names"), tag_examples());
  corpus.must("finetune --from model.h5 --task label --train names --format conll -o n.h5" + quick);
  const std::string sentences = "the\ncat\nsees\n\nmy\nqueen\nsees\n\nthe\ncat\nsees\n";
  write_file(corpus.path("words"), sentences);
  REQUIRE(corpus.must("classify n.h5 words").out ==
          "the\tB-x\ncat\tI-x\nsees\tO\n\nmy\tB-x\nqueen\tI-x\nsees\tO\n\nthe\tB-x\ncat\tI-x\nsees\tO\n");
  // One found; one whose end is missed; one found beside one that is not.
  write_file(corpus.path("gold"),
             "the\tB-x\ncat\tI-x\nsees\tO\n\nmy\tB-x\nqueen\tO\nsees\tO\n\nthe\tB-x\ncat\tI-x\nsees\tB-x\n");
  const auto report = evaluated(corpus, "classify n.h5 gold --format conll");
  const auto& entities = report["entities"];
  CHECK(entities["precision"].get<double>() == doctest::Approx(2.0 / 3));  // 3 are predicted
  CHECK(entities["recall"].get<double>() == doctest::Approx(2.0 / 4));     // 4 are gold
  CHECK(entities["f1"].get<double>() == doctest::Approx(4.0 / 7));
  CHECK(entities["types"]["x"]["f1"].get<double>() == doctest::Approx(4.0 / 7));
  CHECK(report["accuracy"].get<double>() == doctest::Approx(7.0 / 9));  // fraction of words
  CHECK(contains(corpus.must("classify n.h5 gold --format conll --evaluate").out, "entity_f1           0.5714\n"));
}

TEST_CASE("finetune: the best model by the mean squared error is the one with the least") {
  const Labelled corpus;
  corpus.must(
      "awk -F'\\t' -v OFS='\\t' '{ $1 = ($1 == \"royal\" ? 20 : 10) + NR % 7 } { print }' texts.tsv > numbers.tsv");
  corpus.must(
      "finetune --from model.h5 --task regress --train numbers.tsv --valid numbers.tsv --eval-every 6 "
      "--metric mean_squared_error --log log -o n.h5" +
      quick);
  std::vector<double> errors;
  for (const auto& line : json_lines(read_file(corpus.path("log")))) {
    if (line.contains("valid_mean_squared_error")) errors.push_back(line["valid_mean_squared_error"].get<double>());
  }
  REQUIRE(errors.size() > 5);
  const auto [least, most] = std::ranges::minmax(errors);
  REQUIRE(least < 0.5 * most);
  CHECK(evaluated(corpus, "classify n.h5 numbers.tsv")["mean_squared_error"].get<double>() ==
        doctest::Approx(least).epsilon(1e-4));
}

TEST_CASE("classify: questions without an answer are told which threshold serves them best") {
  const Labelled corpus;
  std::string lines = span_examples();
  for (int i = 0; i < 30; ++i) {
    lines += "{\"question\": \"who sings\", \"context\": \"the cat sees\", \"answers\": [], \"is_impossible\": true}\n";
  }
  write_file(corpus.path("spans.jsonl"), lines);
  corpus.must("finetune --from model.h5 --task span --train spans.jsonl -o s.h5" + quick);
  const auto report = evaluated(corpus, "classify s.h5 spans.jsonl --null-threshold -1000");
  const auto best = report["best_null_threshold"];
  CHECK(best["token_f1"].get<double>() > report["token_f1"].get<double>());
  CHECK(evaluated(corpus, "classify s.h5 spans.jsonl --null-threshold " + best["threshold"].dump())["token_f1"] ==
        best["token_f1"]);
}

TEST_CASE("classify, generate, inspect: a signal leaves no file behind") {
  const Labelled corpus;
  corpus.must("finetune --from model.h5 --task classify --train texts.tsv -o c.h5 -q --epochs 1");
  for (const std::string command : {"classify c.h5 -o out", "generate model.h5 -o out --max-tokens 3"}) {
    for (const auto& [signal, status] : std::vector<std::pair<std::string, int>>{{"TERM", 143}, {"HUP", 129}}) {
      CAPTURE(command);
      const Outcome outcome =
          corpus.run(watching + "coproc " + command + "; run=$COPROC_PID\n" +
                     "await $run 'ls -A | grep -q ^[.]out.tmp'; kill -" + signal + " $run; wait $run");
      CHECK(outcome.status == status);
      CHECK(corpus.leftovers() == 0);
    }
  }
}

TEST_CASE("classify: below --threshold a text has no label, and figures are of those that have one") {
  const Labelled corpus;
  const std::string asked = "classify model.h5 --labels sees,the,dog --template 'a {}' ";
  write_file(corpus.path("gold.tsv"), "sees\tcat\nthe\tdog sees\ndog\tking\nthe\tqueen forgets\nsees\tdog\n");
  const std::string texts = "cut -f 2 gold.tsv | " + asked;
  const auto all = json_lines(corpus.must(texts + "--jsonl --top 3").out);
  REQUIRE(all.size() == 5);
  std::vector<double> best;
  for (const auto& line : all) best.push_back(line["probability"].get<double>());
  std::sort(best.begin(), best.end());
  REQUIRE(best[1] < best[2]);
  const std::string threshold = " --threshold " + nlohmann::json((best[1] + best[2]) / 2).dump();
  const auto cut = json_lines(corpus.must(texts + "--jsonl --top 3" + threshold).out);
  const auto lines = lines_of(corpus.must(texts + threshold).out);
  const auto top = lines_of(corpus.must(texts + "--top 3" + threshold).out);
  const std::vector<std::string> gold{"sees", "the", "dog", "the", "sees"};
  REQUIRE(cut.size() == 5);
  REQUIRE(lines.size() == 5);
  int right = 0;
  for (std::size_t i = 0; i < 5; ++i) {
    const bool has_label = all[i]["probability"].get<double>() >= best[2];
    CHECK(cut[i]["label"] == (has_label ? all[i]["label"] : nlohmann::json()));
    CHECK(cut[i]["probability"] == all[i]["probability"]);
    CHECK(cut[i]["top"] == all[i]["top"]);
    CHECK(lines[i].starts_with((has_label ? all[i]["label"].get<std::string>() : "") + "\t0."));
    CHECK(lines[i] == (best[2] > 0.5 || !has_label ? top[i] : top[i].substr(0, lines[i].size())));
    right += has_label && all[i]["label"] == gold[i] ? 1 : 0;
  }
  const auto report = evaluated(corpus, asked + "gold.tsv" + threshold);
  CHECK(report["coverage"].get<double>() == doctest::Approx(0.6));
  CHECK(report["answered"] == 3);
  CHECK(report["accuracy"].get<double>() == doctest::Approx(right / 3.0));
  CHECK(contains(corpus.must(asked + "gold.tsv --evaluate" + threshold).out,
                 "coverage            0.6000 (3 of 5 texts)\n"));
  const auto none = evaluated(corpus, asked + "gold.tsv --threshold 1");
  CHECK(none["coverage"] == 0);
  CHECK(none["answered"] == 0);
  CHECK_FALSE(none.contains("accuracy"));
  CHECK(evaluated(corpus, asked + "gold.tsv --threshold 0")["coverage"] == 1);
  CHECK_FALSE(evaluated(corpus, asked + "gold.tsv").contains("coverage"));
  corpus.refused(asked + "gold.tsv --threshold 1.5", 2, "from 0 to 1");
}

TEST_CASE("classify: --baseline compares with that model, also above a threshold, and for answers") {
  const Labelled corpus;
  const std::string bag = "finetune -q --arch bag --task classify --train ";
  write_file(corpus.path("three.tsv"), "animal\tthe cat\nanimal\tthe dog\nroyal\tmy queen\n");
  write_file(corpus.path("reversed.tsv"), "royal\tthe cat\nroyal\tthe dog\nanimal\tmy queen\n");
  corpus.must(bag + "three.tsv -o a.h5 && " + bag + "reversed.tsv -o b.h5");
  const std::string all = "classify a.h5 three.tsv --baseline b.h5";
  CHECK(evaluated(corpus, all)["baseline"]["value"] == 0);
  const auto sure = evaluated(corpus, all + " --threshold 0.5");
  CHECK(sure["answered"] == 3);
  CHECK(sure["baseline"]["what"] == "b.h5");
  CHECK(sure["baseline"]["value"] == 0);
  CHECK(evaluated(corpus, "classify a.h5 three.tsv --threshold 0.5")["baseline"]["what"] == "always 'animal'");
  write_file(corpus.path("spans.jsonl"), span_examples());
  corpus.must("finetune --from model.h5 --task span --train spans.jsonl -o s.h5" + quick);
  corpus.must("finetune -q --from model.h5 --task span --train spans.jsonl -o untrained.h5 --steps 1");
  const double alone = evaluated(corpus, "classify untrained.h5 spans.jsonl")["token_f1"];
  const auto compared = evaluated(corpus, "classify s.h5 spans.jsonl --baseline untrained.h5");
  CHECK(compared["baseline"]["value"] == alone);
  CHECK(compared["baseline"]["difference"].get<double>() ==
        doctest::Approx(compared["token_f1"].get<double>() - alone));
}

TEST_CASE("classify: --threshold is refused for tags, answers and numbers, with the reason") {
  const Labelled corpus;
  write_file(corpus.path("spans.jsonl"), span_examples());
  write_file(corpus.path("numbers.tsv"), "1\tthe cat\n2\ta dog\n");
  for (const auto& [train, reason] : std::vector<std::pair<std::string, std::string>>{
           {"--task label --train tags.conll", "the tags of a sentence belong together"},
           {"--task span --train spans.jsonl", "questions have --null-threshold"},
           {"--task regress --train numbers.tsv", "its numbers have no probabilities"}}) {
    corpus.must("finetune -q --from model.h5 --steps 1 --batch-size 2 -o t.h5 " + train);
    corpus.refused("classify t.h5 --threshold 0.5 < /dev/null", 2, reason);
    corpus.must("rm t.h5");
  }
}

TEST_CASE("classify: a sentence is answered before the next is there, and those before a bad one are") {
  const Labelled corpus;
  corpus.must("finetune --from model.h5 --task label --train tags.conll -o t.h5" + quick);
  const Outcome waiting = corpus.must(
      "coproc classify -q t.h5\nprintf 'the\\ncat\\n\\nmy\\n' >&${COPROC[1]}\n"
      "for i in 1 2 3; do read -t 600 answer <&${COPROC[0]}; echo \"got $answer\"; done\nexec {COPROC[1]}>&-\nwait");
  CHECK(waiting.out == "got the\tDET\ngot cat\tNOUN\ngot \n");
  write_file(corpus.path("long"), "the\ncat\n\n" + repeated("sees\n", 40) + "\nmy\n");
  const Outcome outcome = corpus.run("classify t.h5 long --overlong error");
  CHECK(outcome.status == 1);
  CHECK(outcome.out == "the\tDET\ncat\tNOUN\n\n");
}

TEST_CASE("classify: a model without a limit of positions reads 4,096 tokens of a text, a bag of words all") {
  const Labelled corpus;
  const std::string task = " --task label --train tags.conll -o t.h5" + quick;
  write_file(corpus.path("long"), repeated("cat ", 5000) + "\n");
  corpus.must("tokenize -q --train --model word --vocab-size 300 -o words.h5 long");
  corpus.must("finetune --arch encoder:layers=1,width=4,heads=1 -t words.h5" + task);
  Outcome outcome = corpus.must("classify t.h5 long --raw");
  CHECK(count_lines(outcome.out) == 5001);
  CHECK(contains(outcome.err, "1 text was longer than the context, and truncated\n"));
  CHECK(contains(outcome.err, "classify: 905 words are outside the context"));  // the token at the end is in it
  outcome = corpus.must("classify t.h5 long --raw --overlong split");
  CHECK_FALSE(contains(outcome.err, "outside the context"));
  corpus.must("rm t.h5");
  corpus.must("finetune --arch bag" + task);
  CHECK(corpus.must("classify t.h5 long --raw").err.empty());
}

TEST_CASE("classify: sentences are tagged as they are, with the places of their words") {
  const Labelled corpus;
  corpus.must("finetune --from model.h5 --task label --train tags.conll -o t.h5" + quick);
  write_file(corpus.path("raw"), "the cat, sees\n\n  my\u00a0queen\u2019s \u00e9t\u00e9\r\n-DOCSTART- #1");
  const Outcome outcome = corpus.must("classify t.h5 raw --raw");
  CHECK(outcome.out.starts_with("the\t0\t3\tDET\ncat\t4\t7\tNOUN\n,\t7\t8\t"));
  CHECK(contains(outcome.out, "\nsees\t9\t13\t"));
  CHECK(contains(outcome.out, "\n\n\nmy\t2\t4\tDET\nqueen\u2019s\t5\t12\t"));
  CHECK(contains(outcome.out, "\n\u00e9t\u00e9\t13\t16\t"));
  CHECK(contains(outcome.out, "\n-\t0\t1\t"));
  CHECK_FALSE(contains(outcome.err, "warning"));
  // The tags are those of the same words, one per line.
  CHECK(contains(corpus.must("printf 'the\\ncat\\n,\\nsees\\n' | classify t.h5").out, "the\tDET\ncat\tNOUN\n,\t"));
  const std::string objects = corpus.must("classify t.h5 raw --raw --jsonl").out;
  CHECK(count_lines(objects) == 4);
  const auto first = parse_json(objects.substr(0, objects.find('\n')));
  CHECK(first["text"] == "the cat, sees");
  CHECK(first["words"] == nlohmann::json{"the", "cat", ",", "sees"});
  CHECK(first["begins"] == nlohmann::json{0, 4, 7, 9});
  CHECK(first["ends"] == nlohmann::json{3, 7, 8, 13});
  CHECK(first["tags"][0] == "DET");
  // Warns of input that is no plain text.
  write_file(corpus.path("objects"), "{\"text\": \"the cat\"}\n");
  CHECK(contains(corpus.must("classify t.h5 objects --raw").err, "warning: objects:1: looks like JSON"));
  write_file(corpus.path("words"), "# text = the cat\n1\tthe\tthe\tDET\n2\tcat\tcat\tNOUN\n");
  const std::string told = corpus.must("classify t.h5 words --raw").err;
  CHECK(contains(told, "warning: words:2: looks like a CoNLL row"));
  CHECK_FALSE(contains(told, "words:3"));
  corpus.must("finetune --from model.h5 --train texts.tsv -o c.h5 -q --epochs 1");
  corpus.refused({"classify c.h5 raw --raw", "--raw has no effect for a model of the task classify", 2});
  corpus.refused({"classify t.h5 raw --raw --evaluate", "--raw reads text without tags", 2});
  corpus.refused({"classify t.h5 raw --raw --format conllu", "--format has no effect with --raw", 2});
}

}  // namespace classify_tests

// Behaviour of all tools with their options: --print-config reads back as the same command, what has no effect is
// refused, and defaults are those that --help tells.
#include <map>
#include <sstream>

#include "support/json.hpp"
#include "tools/small_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;
using nlohmann::json;

namespace options_tests {

namespace {

const std::string tiny = " --layers 1 --width 16 --heads 2 --context 16 --batch-size 2 --log-every 1 ";

// A decoder, an encoder and labelled files for each task.
struct Everything : SmallCorpus {
  Everything() {
    must("pretrain -q --train train.h5 -o decoder.h5 --steps 3" + tiny);
    must("tokenize -q --train --model wordpiece --vocab-size 200 -o pieces.h5 train.txt");
    must("tokenize -q -t pieces.h5 -o masked.h5 train.txt");
    must("pretrain -q --train masked.h5 -o encoder.h5 --steps 3 --arch encoder" + tiny);
    std::string texts, pairs, numbers, tags, spans, words;
    for (int i = 0; i < 24; ++i) {
      const std::string name = i % 2 == 0 ? "cat" : "king", number = std::to_string(i % 5);
      texts += name + "\tthe " + name + " sees\n";
      words += "the " + name + " sees\n";
      pairs += name + "\tthe " + name + "\tsees\n";
      numbers += number + "\tthe " + name + " sees\n";
      tags += "the\tDET\n" + name + "\tNOUN\n\n";
      spans += R"({"question": "who", "context": "the )" + name + R"( sees", "answers": [{"text": ")" + name +
               R"(", "answer_start": 4}]})" + "\n";
    }
    for (const auto& [name, text] : {std::pair("texts.tsv", texts),
                                     {"pairs.tsv", pairs},
                                     {"numbers.tsv", numbers},
                                     {"tags.conll", tags},
                                     {"spans.jsonl", spans},
                                     {"words.txt", words}}) {
      write_file(path(name), text);
    }
    must("finetune -q --from encoder.h5 --train texts.tsv -o tuned.h5 --steps 2");
    must("finetune -q --from encoder.h5 --train texts.tsv -o adapter.h5 --steps 2 --lora-rank 2");
  }

  // Output of a command or, if it writes out.h5, output of `look` for it.
  std::string result(const std::string& command, const std::string& look) const {
    run("rm -f out.h5");
    const Outcome outcome = must(command);
    return look.empty() ? outcome.out : outcome.out + must(look).out;
  }
};

struct Command {
  std::string tool, operands, options, look = "";
};

const std::string history = "inspect out.h5 --history --json";

const std::vector<Command> commands{
    {"pretrain", "",
     "--train train.h5 -o out.h5 --preset gpt2 --layers 4 --width 16 --heads 2 --context 16 --batch-size 2 "
     "--steps 3 --log-every 1",
     history},
    {"pretrain", "", "--train train.h5 --valid valid.h5 -o out.h5 --steps 4 --warmup 1% --eval-every 2" + tiny,
     history},
    {"pretrain", "",
     "--train masked.h5 -o out.h5 --steps 3 --arch encoder:segments=2 --objective masked:whole-words=true" + tiny,
     history},
    {"finetune", "", "--from encoder.h5 --train texts.tsv --valid texts.tsv --metric macro_f1 -o out.h5", history},
    {"finetune", "", "--from decoder.h5 --train texts.tsv --folds 2 --fold 1 -o out.h5 --steps 3 --log-every 1",
     history},
    {"finetune", "", "--from encoder.h5 --train texts.tsv -o out.h5 --lora-rank 2 --lora-alpha 16 --log-every 1",
     history},
    {"finetune", "", "--from encoder.h5 --task pair --train pairs.tsv -o out.h5 --log-every 1 --pooling mean", history},
    {"finetune", "", "--from encoder.h5 --task regress --train numbers.tsv -o out.h5 --log-every 1", history},
    {"finetune", "", "--from encoder.h5 --task label --train tags.conll --label-column 2 -o out.h5 --log-every 1",
     history},
    {"finetune", "", "--from encoder.h5 --task span --train spans.jsonl -o out.h5 --log-every 1", history},
    {"finetune", "", "--from decoder.h5 --task lm --train train.h5 --valid valid.h5 -o out.h5 --steps 3 --log-every 1",
     history},
    {"finetune", "",
     "--from encoder.h5 --task lm --train masked.h5 -o out.h5 --steps 3 --log-every 1 --objective "
     "masked:probability=0.3 "
     "--optimizer adamw:beta2=0.95 --schedule linear:final=0.2 --weight-decay 0.1",
     history},
    {"classify", "tuned.h5 words.txt", ""},
    {"classify", "tuned.h5 words.txt", "--top 2 --jsonl"},
    {"classify", "tuned.h5 texts.tsv", "--evaluate --folds 2"},
    {"classify", "adapter.h5 texts.tsv", "--evaluate --json --base encoder.h5 --metric matthews"},
    {"classify", "decoder.h5 words.txt", "--labels ' cat, king' --template '{} is a' --neutral ''"},
    {"generate", "decoder.h5", "-p 'the cat' --max-tokens 5 --stop 'a\\,b' --seed 3"},
    {"generate", "decoder.h5 words.txt", "--max-tokens 5 --jsonl"},
    {"generate", "decoder.h5 words.txt", "--max-tokens 5 --beam 3 --n-best 2 --length-penalty 1"},
    {"generate", "decoder.h5 words.txt", "-q --score --jsonl --overlong truncate"},
    {"generate", "encoder.h5", "-p 'the [MASK] sees'"},
    {"generate", "encoder.h5", "-p 'the [MASK] sees' --top 5"},
    {"tokenize", "train.txt", "-q --train --vocab-size 290 -o out.h5", "tokenize -t out.h5 valid.txt"},
    {"tokenize", "train.txt", "-q --train --model wordpiece --cased -o out.h5", "tokenize -t out.h5 valid.txt"},
    {"tokenize", "valid.txt", "-q -t tokenizer.h5 --documents line -o out.h5", "inspect out.h5 --tokens --json"},
    {"tokenize", "valid.txt", "-t tokenizer.h5 --pieces"},
    {"tokenize", "valid.h5", "--decode"},
    {"inspect", "decoder.h5", ""},
    {"inspect", "decoder.h5", "--config --json"},
    {"inspect evaluate", "decoder.h5 valid.h5", "--sequence-length 8"},
    {"inspect", "", "--preset nano --weights"},
    {"inspect embed", "encoder.h5 words.txt", "--pooling mean --layer 0,1"},
    {"inspect neighbours", "encoder.h5 cat", "--top 3"},
    {"inspect history", "decoder.h5", "-o history.tsv", "cat history.tsv"},
    {"convert", "decoder.h5", "-q --dtype bf16 -o out.h5", "generate out.h5 -p the --temperature 0 --max-tokens 4"},
    {"convert", "adapter.h5", "-q --merge -o out.h5", "classify out.h5 words.txt"},
};

// The values of a field, by step, of those records that have it.
std::map<Index, double> by_step(const std::string& log, const char* field) {
  std::map<Index, double> values;
  std::istringstream stream(log);
  for (std::string line; std::getline(stream, line);) {
    const json record = parse_json(line);
    if (record.contains(field)) values[record["step"]] = record[field];
  }
  return values;
}

}  // namespace

TEST_CASE("options: what --print-config prints is the same command, as a file") {
  const Everything all;
  for (const auto& [tool, operands, options, look] : commands) {
    CAPTURE(tool);
    CAPTURE(options);
    const std::string command = tool + " " + operands + " " + options;
    const std::string direct = all.result(command, look);
    all.must(command + " --print-config > c.ini");
    const std::string by_file = "HEDDLE_CONFIG=c.ini " + tool + " " + operands;
    CHECK(all.result(by_file, look) == direct);
    CHECK(all.must(by_file + " --print-config").out == read_file(all.path("c.ini")));
  }
}

TEST_CASE("options: the command line before the environment before the file before the default, whichever are given") {
  const SmallCorpus corpus;
  struct Setting {
    std::string option, variable, line;  // as each place gives it
    // By the name in the configuration: the default, then what file, environment and command line say.
    std::map<std::string, std::vector<json>> values;
  };
  const std::vector<Setting> settings{
      {"--layers 3", "HEDDLE_PRETRAIN_LAYERS=2", "layers = 1", {{"layers", {4, 1, 2, 3}}}},
      {"--arch decoder:activation=silu,bias=false",
       "HEDDLE_PRETRAIN_ARCH=decoder:activation=gelu,bias=true,norm-epsilon=1e-4",
       "[arch]\nname = decoder\nactivation = relu\nbias = false",
       {{"activation", {"gelu-tanh", "relu", "gelu", "silu"}}, {"bias", {true, false, true, false}}}}};
  const std::string rest =
      "pretrain -q --train train.h5 -o m.h5 --width 16 --heads 2 --context 16 --batch-size 2 --steps 1 ";
  for (unsigned given = 0; given < 8; ++given) {
    CAPTURE(given);
    std::string file = "[Model]\n", command;
    for (const Setting& setting : settings) {
      if ((given & 1) != 0) file += setting.line + "\n";
      if ((given & 2) != 0) command += setting.variable + " ";
    }
    command += rest;
    for (const Setting& setting : settings) command += (given & 4) != 0 ? setting.option + " " : "";
    write_file(corpus.path("c.ini"), file);
    corpus.must(command + "--config c.ini");
    const json config = parse_json(corpus.must("inspect m.h5 --json").out)["config"];
    const std::size_t decides = (given & 4) != 0 ? 3 : (given & 2) != 0 ? 2 : (given & 1) != 0 ? 1 : 0;
    for (const Setting& setting : settings) {
      for (const auto& [key, values] : setting.values) {
        CAPTURE(key);
        CHECK(config[key] == values[decides]);
      }
    }
    // Settings that one place gives and no other one stay.
    CHECK(config["norm_epsilon"] == ((given & 2) != 0 ? 1e-4 : 1e-5));
  }
}

TEST_CASE("options: what has no effect is refused before any work, and the message says what to do") {
  const Everything all;
  const std::string tune = "finetune --from encoder.h5 -o x.h5 --train ",
                    train = "pretrain --train train.h5 -o x.h5" + tiny;
  const std::vector<std::pair<std::string, std::string>> cases{
      {tune + "texts.tsv --metric accuracy",
       "--metric has no effect without --valid, --folds or --ensemble; add one of them"},
      {tune + "texts.tsv --patience 2", "--patience has no effect without --valid or --folds"},
      {tune + "texts.tsv --eval-every 5", "--eval-every has no effect without --valid or --folds"},
      {tune + "texts.tsv --fold 1", "--fold has no effect without --folds; add it or leave --fold out"},
      {tune + "texts.tsv --lora-alpha 8", "--lora-alpha has no effect without --lora-rank"},
      {tune + "texts.tsv --lora-targets up", "--lora-targets has no effect without --lora-rank"},
      {tune + "texts.tsv --lora-dropout 0.1", "--lora-dropout has no effect without --lora-rank"},
      {tune + "texts.tsv --text-b-column 2", "unknown option --text-b-column; it is called --text-column"},
      {tune + "pairs.tsv --task pair --text-column 2,", "--text-column: '2,' lacks a name; write A,B"},
      {tune + "train.h5 --task lm --bad-records skip", "--bad-records: is for labelled examples"},
      {tune + "tags.conll --task label --pooling mean",
       "--pooling has no effect without --task classify, pair, multilabel or regress"},
      {tune + "numbers.tsv --task regress --class-weights auto",
       "--class-weights has no effect without --task classify"},
      {tune + "texts.tsv --optimizer adamw:momentum=0.5",
       "--optimizer: adamw has no key 'momentum', which is one of sgd, muon; it has beta1, "},
      {tune + "texts.tsv --momentum 0.5", "unknown option --momentum; write --optimizer sgd:momentum=X ("},
      {tune + "texts.tsv --objective masked", "--objective: is for --task lm and translate"},
      {tune + "texts.tsv --steps 3 --epochs 2", "--steps and --epochs both set the length of the training"},
      {tune + "texts.tsv --valid ''", "--valid: the FILE|N% is empty"},
      {tune + "texts.tsv --valid texts.tsv --metric f1",
       "--metric: the task has no metric 'f1'; it has accuracy, macro_f1, matthews"},
      {tune + "numbers.tsv --task regress --valid numbers.tsv --metric f1",
       "--metric: the task has no metric 'f1'; it has pearson"},
      {tune + "tags.conll --task label --valid tags.conll --metric f1",
       "--metric: the task has no metric 'f1'; it has accuracy"},
      {tune + "spans.jsonl --task span --folds 2 --metric f1",
       "--metric: the task has no metric 'f1'; it has token_f1"},
      {tune + "texts.tsv --lora-rank 17", "--lora-rank 17 is more than 16, the smaller side of"},
      {tune + "texts.tsv --lora-rank 100000", "--lora-rank 100000 is more than 16"},
      {tune + "texts.tsv --lora-rank 2 --lora-targets q", "--lora-targets: 'q' is none of query"},
      {train + "--objective causal:masking=static",
       "--objective: causal has no key 'masking', which is one of detect, masked, permute; it has none"},
      {train + "--objective causal:whole-words=true", "--objective: causal has no key 'whole-words', which is one of "},
      {train + "--whole-words", "unknown option --whole-words; write --objective detect:whole-words=true ("},
      {train + "--optimizer adamw:beta1=0.8 --optimizer adamw:beta2=0.9",
       "--optimizer is given twice; give one name, with all settings"},
      {train + "--optimizer adamw:beta2", "'beta2' is not a setting; write NAME:KEY=VALUE,"},
      {train + "--optimizer adamw:beta2=x", "--optimizer: beta2: 'x' is not a number; it must be from 0 to 0.999999"},
      {train + "--optimizer adamw:beta2=1", "--optimizer: beta2: 1 is out of range; it must be from 0 to 0.999999"},
      {train + "--optimizer adamx",
       "--optimizer: 'adamx' is not one of adamw, coupled, adam, adagrad, adadelta, sgd, lion, muon, learned; did you "
       "mean 'adamw'?"},
      {train + "--optimizer ''", "--optimizer: '' is not one of adamw, coupled, "},
      {train + "--json", "--json has no effect without --dry-run"},
      {train + "--eval-tokens 5", "--eval-tokens has no effect without --valid"},
      {train + "--steps 5 --epochs 2", "--steps and --epochs both set the length of the training"},
      {train + "--heads 3", "--width 16 is not divisible by --heads 3"},
      {train + "--schedule constant:final=0",
       "--schedule: constant has no key 'final', which is one of cosine, linear, wsd; it has warmup"},
      {"classify tuned.h5 words.txt --metric accuracy", "--metric has no effect without --evaluate"},
      {"classify tuned.h5 words.txt --json", "--json has no effect without --evaluate"},
      {"classify tuned.h5 texts.tsv --evaluate --fold 1", "--fold has no effect without --folds"},
      {"classify tuned.h5 texts.tsv --evaluate --metric f1", "--metric: the task has no metric 'f1'"},
      {"classify tuned.h5 words.txt --bad-records skip", "--bad-records skip: is for --evaluate"},
      {"convert tokenizer.h5 --bad-records skip -o out", "--bad-records: is for --split"},
      {"classify tuned.h5 words.txt --null-threshold 2",
       "--null-threshold has no effect for a model of the task classify"},
      {"classify tuned.h5 words.txt --neutral x", "--neutral has no effect without --labels"},
      {"generate decoder.h5 -p the --temperature 0 --top-k 3", "--top-k has no effect with --temperature 0"},
      {"inspect encoder.h5 --pooling mean", "inspect show has no option --pooling, but inspect embed has it"},
      {"inspect encoder.h5 --top 3", "--top has no effect without --tokens"},
      {"inspect encoder.h5 --layer 1",
       "inspect show has no option --layer, but inspect embed, senses, bias, attention, align, positions, kernels have "
       "it"},
      {"inspect embed encoder.h5 --text the --voters 3",
       "inspect embed has no option --voters, but inspect senses has it"},
      {"inspect senses encoder.h5 texts.tsv --gold", "unknown option --gold; it is called --evaluate ("},
      {"inspect bias encoder.h5 texts.tsv --partitions 3",
       "unknown option --partitions; it is called --permutations ("},
      {"convert encoder.h5 --weights bf16 -o x.h5", "unknown option --weights; it is called --dtype ("},
      {tune + "texts.tsv --lr 1e-3", "unknown option --lr; it is called --learning-rate ("},
      {tune + "texts.tsv --auto", "unknown option --auto; write --ensemble auto ("},
      {tune + "texts.tsv --cross-validate 5", "unknown option --cross-validate; write --folds K --fold all ("},
      {"echo 'cv = 5' > c.ini; " + tune + "texts.tsv --config c.ini",
       "c.ini:1: unknown option cv; write --folds K --fold all"},
      {train + "--auto", "unknown option --auto (pretrain --help"},
      {train + "--max-steps 3", "unknown option --max-steps; it is called --steps ("},
      {train + "--warmup-ratio 0.1", "unknown option --warmup-ratio; it is called --warmup ("},
      {train + "--schedule linear:final=2", "--schedule: final: 2 is out of range; it must be from 0 to 1"},
      {train + "--preset bert-base --arch decoder",
       "--arch decoder: the preset is of the architecture encoder; leave out --arch or --preset"},
      {"tokenize --train train.txt -o x.h5 --special-tokens '<a>,<a>'", "special token '<a>' is listed twice"},
      {"generate decoder.h5 -p the --num-beams 2", "unknown option --num-beams; it is called --beam ("},
      {train + "--foo 3", "unknown option --foo (pretrain --help=all lists them)"},
      {"inspect --config show.ini encoder.h5",
       "unexpected argument 'encoder.h5'; --config is a part of the file here, and HEDDLE_CONFIG names a file with"},
      {"inspect embed encoder.h5 --text ''", "--text: the TEXT is empty"},
      {"inspect neighbours encoder.h5 ''", "the WORD is empty"},
      {"inspect explain tuned.h5 ''", "the TEXT is empty"},
      {"inspect tokens tokenizer.h5 ''", "the TEXT is empty"},
      {"inspect surprise decoder.h5 ''", "the TEXT is empty"},
      {"inspect senses encoder.h5 texts.tsv texts.tsv --evaluate --jsonl", "--jsonl has no effect with --evaluate"},
      {"inspect verify encoder.h5 --json --jsonl", "--json and --jsonl are two forms of the answer"},
      {"tokenize --train train.txt -o x.h5 --cased", "--cased has no effect without --model wordpiece"},
      {"tokenize --train train.txt -o x.h5 --no-byte-fallback",
       "--no-byte-fallback has no effect without --model char"},
      {"tokenize --train train.txt -o x.h5 --vocab-size 20", "--vocab-size 20 must be at least"},
      {"tokenize -t tokenizer.h5 train.txt --vocab-size 300", "--vocab-size has no effect without --train"},
      {"convert decoder.h5 -o x.h5 --base encoder.h5", "--base has no effect without --merge"},
      {tune + "texts.tsv --column 2", "unknown option --column; it is called --label-column ("},
      {train + "--norm-position pre", "unknown option --norm-position; write --arch decoder:block=ORDER ("},
      {train + "--batch 2", "unknown option --batch; did you mean --batch-size? "},
      {tune + "texts.tsv --rate 0.1", "unknown option --rate; did you mean --learning-rate? "},
      {tune + "texts.tsv --resume auto", "--resume auto: the same command resumes by itself now; leave --resume out"},
      {train + "--resume=auto", "--resume auto: the same command resumes by itself now; leave --resume out"},
      {train + "--attention dots", "pretrain: --attention: 'dots' is not one of dot, gaussian, "},
      {train + "--attention dot:x=1", "pretrain: --attention: dot has no setting 'x'"},
      {train + "--positions learnt", "pretrain: --positions: 'learnt' is not one of learned, "},
      {"pretrain --train train.h5 -o -" + tiny,
       "pretrain: -o needs a file: a training run keeps its checkpoint beside"},
      {"pretrain --dry-run --train train.h5 -o -" + tiny, "pretrain: -o needs a file"},
      {"finetune --from encoder.h5 --train texts.tsv -o -", "finetune: -o needs a file"},
      {"generate decoder.h5 -p the --beam 0", "--beam: 0 is out of range; it must be from 1 to 10000, or none"},
      {"generate decoder.h5 -p the --no-repeat-ngram-size 0", "it must be from 1 to 1000000, or none"},
      {train + "--keep 0", "--keep: 0 is out of range; it must be from 1 to 1000000, or none"},
      {train + "--checkpoint-every soon",
       "--checkpoint-every: 'soon' is not a number of steps (500), a duration (10m)"},
      {"echo 'checkpoint-every = soon' > c.ini; " + train + "--config c.ini",
       "c.ini:1: checkpoint-every: 'soon' is not"},
      {"echo 'max-time = soon' > c.ini; " + train + "--config c.ini", "c.ini:1: max-time: 'soon' is not a duration"},
  };
  for (const auto& [command, message] : cases) {
    CAPTURE(command);
    const Outcome outcome = all.run(command);
    CAPTURE(outcome.err);
    CHECK(outcome.status == 2);
    CHECK(contains(outcome.err, message));
    const auto errors = lines_of(outcome.err);
    CHECK(std::ranges::count_if(errors, [](const auto& line) { return !contains(line, ": warning: "); }) == 1);
    CHECK_FALSE(std::filesystem::exists(all.path("x.h5")));
  }
}

TEST_CASE(
    "finetune: an evaluation an epoch, a tenth of the steps for the warm-up, a rate that falls to 0, as its help "
    "says") {
  const Everything all;
  all.must(
      "finetune -q --from encoder.h5 --train texts.tsv --valid texts.tsv -o x.h5 --batch-size 2 --epochs 2 "
      "--learning-rate 1e-3 --log-every 1 --log log.jsonl");
  const std::string log = read_file(all.path("log.jsonl"));
  const auto accuracies = by_step(log, "valid_accuracy"), rates = by_step(log, "learning_rate");
  REQUIRE(accuracies.size() == 2);
  CHECK((accuracies.contains(12) && accuracies.contains(24)));
  CHECK(rates.at(1) == doctest::Approx(0.5e-3));
  CHECK(rates.at(2) == doctest::Approx(1e-3));
  CHECK(rates.at(13) == doctest::Approx(0.5e-3));  // half-way from step 2 to step 24
  CHECK(rates.at(24) == 0);
  const std::string settings = all.must("finetune --from encoder.h5 --train texts.tsv -o x.h5 --print-config").out;
  for (const char* setting : {"steps = auto", "batch-size = 16", "learning-rate = auto", "name = linear",
                              "warmup = 10%", "final = 0", "name = adamw", "beta2 = 0.999", "weight-decay = 0.01"}) {
    CAPTURE(setting);
    CHECK(contains(settings, "\n# " + std::string(setting) + "\n"));
  }
  for (const char* rate : {"", "--learning-rate auto "}) {
    all.must(
        "finetune -q --from encoder.h5 --train texts.tsv -o own.h5 --restart --steps 4 --warmup 2 --log-every 1 "
        "--log own.jsonl " +
        std::string(rate));
    CHECK(by_step(read_file(all.path("own.jsonl")), "learning_rate").at(2) == doctest::Approx(0.08 / 16));
  }
  const std::string help = all.must("finetune --help=all | tr -d '`' | tr -s ' \\n' ' '").out;
  for (const char* part :
       {"--steps N steps; auto: by ", "epochs (default auto)", "passes over the data; auto: by ",
        "steps (default auto)", "epoch: one after each (default epoch)", "a percentage of all steps; 4% with cosine, ",
        "(default 10%)", "auto: by model (default auto)", "sequences in a micro-batch (default 16)",
        "(default 0.01)"}) {
    CAPTURE(part);
    CHECK(contains(help, part));
  }
  CHECK(contains(all.must("finetune --from encoder.h5 --train texts.tsv -o y.h5 --steps 3").err, "y.h5: step 3, loss"));
}

}  // namespace options_tests

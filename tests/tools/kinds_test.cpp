// Choices by name with settings, --arch rnn:cell=lstm: texts that are none are refused in one line that says what to
// write. Also how much the tools' help and options come to.
#include <algorithm>

#include "formats/heddle/load_model.hpp"
#include "tools/option_list.hpp"
#include "tools/shells.hpp"
#include "tools/small_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace kinds_tests {

namespace {

// Run record of a finished model, from before runs were stored as a specification.
struct FormerRun {
  Index steps = 2, seed = 1;
  double learning_rate = 1e-3;
  std::string optimizer = "adamw";

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("steps", ""), self.steps);
    visitor(Field("seed", ""), self.seed);
    visitor(Field("learning_rate", ""), self.learning_rate);
    visitor(Field("optimizer", ""), self.optimizer);
  }
};

// A model again, with the record of a former version: of a finished run, or of one that goes on.
void write_former(const SmallCorpus& corpus, const std::string& name, const std::string& as, bool is_finished) {
  const formats::ModelFile file(corpus.path(name));
  formats::ModelWriter writer(corpus.path(as));
  writer.config(file.config<models::ModelConfig>());
  writer.tokenizer(file.tokenizer_model());
  writer.weights(file.weights().read());
  if (is_finished) {
    writer.part("run", FormerRun());
  } else {
    writer.training(FormerRun(), std::vector<formats::NamedTensor>());
  }
  writer.commit(formats::start_provenance("pretrain"));
}

void check_refused(const SmallCorpus& corpus, const std::string& command, const std::vector<std::string>& parts) {
  const Outcome outcome = corpus.run(command);
  CAPTURE(command);
  CAPTURE(outcome.err);
  CHECK(outcome.status == 2);
  CHECK(lines_in(outcome.err) == 1);
  CHECK(outcome.out.empty());
  for (const std::string& part : parts) CHECK_MESSAGE(contains(outcome.err, part), part);
}

}  // namespace

TEST_CASE("kinds: texts that are no name with settings are refused in a line that says what to write") {
  const SmallCorpus corpus;
  const std::string train = "pretrain --train train.h5 -o x.h5 ", how = "write NAME:KEY=VALUE,…";
  for (const auto& [options, parts] : std::vector<std::pair<std::string, std::vector<std::string>>>{
           {"--arch rnn:,", {"--arch: 'rnn:,': '' is not a setting; " + how}},
           {"--arch rnn:cell", {"--arch: 'rnn:cell': 'cell' is not a setting; " + how}},
           {"--arch rnn:=lstm", {"'=lstm' is not a setting; " + how}},
           {"--arch rnn:cell=lstm,", {"'' is not a setting; " + how}},
           {"--arch decoder:window=1,5", {"'5' is not a setting; " + how, R"(a comma inside a value as \,)"}},
           {"--arch rnn:cell=lstm,cell=gru", {"--arch: ", "cell is given twice"}},
           {"--arch rnn:cell=lstm --arch rnn:layers=2", {"--arch is given twice; give one name, with all settings"}},
           {"--arch rnn:cell=foo", {"--arch: cell: 'foo' is not one of tanh, gru, cho, lstm"}},
           {"--arch rnn:cell=ltsm", {"--arch: cell: 'ltsm'", "did you mean 'lstm'"}},
           {"--arch rnn:cell=", {"--arch: cell: '' is not one of tanh, gru"}},
           {"--arch rnm", {"--arch: 'rnm' is not one of decoder", "did you mean 'rnn'"}},
           {"--arch :layers=2", {"--arch: '' is not one of decoder"}},
           {"--arch ''", {"--arch: '' is not one of decoder"}},
           {"--arch decoder:layers=many", {"'many' is not a whole number"}},
           {"--arch decoder:gated=perhaps", {"--arch: gated: ", "'perhaps'"}},
           {"--arch decoder:dropout=2", {"2 is out of range"}},
           {"--optimizer adamw:beta2=1.5", {"--optimizer: beta2: 1.5 is out of range"}},
           {"--schedule linear:final=half", {"--schedule: final: 'half' is not a number"}},
           {"--objective auto", {"--objective: 'auto' is not one of mixed, causal"}},
           {"--weight-decay auto", {"--weight-decay: 'auto' is not a number"}}}) {
    check_refused(corpus, train + options, parts);
  }
  CHECK_FALSE(std::filesystem::exists(corpus.path("x.h5")));
}

TEST_CASE("kinds: a comma in a value has a backslash, and long and short names are the same settings") {
  const SmallCorpus corpus;
  const auto shown = [&](const std::string& options) {
    return corpus.must("pretrain --train train.h5 -o x.h5 --print-config " + options).out;
  };
  CHECK(contains(shown(R"(--arch 'decoder:positions=rope:base=500\,scaling=linear\,factor=4')"),
                 "\npositions = rope:base=500,scaling=linear,factor=4\n"));
  const std::string expected = shown("--arch rnn --layers 2 --dropout 0.1 --weight-decay 0.2");
  CHECK(contains(expected, "\n[arch]\nname = rnn\nlayers = 2\n"));
  CHECK(shown("--arch rnn:layers=2,dropout=0.1 --optimizer adamw --weight-decay 0.2") ==
        shown("--layers 2 --arch rnn:dropout=0.1 --optimizer adamw:weight-decay=0.2"));
  write_file(corpus.path("run.ini"), expected);
  CHECK(corpus.must("pretrain --config run.ini --print-config").out == expected);
  // Underscores are dashes.
  CHECK(shown("--arch rnn:encoder_layers=2") == shown("--arch rnn:encoder-layers=2"));
}

TEST_CASE("kinds: a key of another one says whose it is, and what this one has") {
  const SmallCorpus corpus;
  const std::string train = "pretrain --train train.h5 -o x.h5 ";
  for (const auto& [options, parts] : std::vector<std::pair<std::string, std::vector<std::string>>>{
           {"--arch decoder:cell=lstm",
            {"decoder has no key 'cell', which is one of lstm, bilm, rnn, lstm-rule; it has layers"}},
           {"--arch lstm --heads 2", {"--heads: lstm has no key 'heads', which is one of decoder, encoder, "}},
           {"--arch rnn:memory=3", {"--arch: rnn has no key 'memory', which is one of decoder; "}},
           {"--arch rnn:cel=lstm", {"--arch: rnn has no key 'cel'; it has ", "did you mean 'cell'"}},
           {"--optimizer sgd:beta2=0.9", {"--optimizer: sgd has no key 'beta2', which is one of adamw"}},
           {"--schedule constant:final=0", {"--schedule: constant has no key 'final', which is one of cosine"}},
           {"--objective causal:masking=static", {"--objective: causal has no key 'masking', which is one of "}}}) {
    check_refused(corpus, train + options, parts);
  }
}

TEST_CASE("kinds: a flag and a key that disagree are refused; the command line is above environment and file") {
  const SmallCorpus corpus;
  const std::string train = "pretrain --train train.h5 -o x.h5 ";
  check_refused(corpus, train + "--arch decoder:layers=2 --layers 3",
                {"--layers 3 and layers=2 of --arch disagree; give one of them"});
  check_refused(corpus, train + "--layers 3 --arch decoder:layers=2", {"--layers ", " disagree"});
  check_refused(corpus, train + "--optimizer sgd:weight-decay=1 --weight-decay 2",
                {"--weight-decay 2 and weight-decay=1 of --optimizer disagree"});
  check_refused(corpus, train + "--warmup 3 --schedule linear:warmup=4", {"--warmup ", " disagree"});
  write_file(corpus.path("run.ini"), "[arch]\nname = rnn\ncell = cho\nlayers = 2\n");
  const auto shown = [&](const std::string& before, const std::string& options) {
    return corpus.must(before + train + "--config run.ini --print-config " + options).out;
  };
  CHECK(contains(shown("", "--layers 3"), "\nname = rnn\nlayers = 3\n"));
  CHECK(contains(shown("", "--arch rnn:cell=gru"), "\ncell = gru\n"));
  CHECK(contains(shown("HEDDLE_PRETRAIN_ARCH=rnn:cell=tanh ", ""), "\ncell = tanh\n"));
  // Another architecture leaves the file's behind, with its settings.
  const std::string other = shown("", "--arch lstm");
  CHECK(contains(other, "\n[arch]\nname = lstm\n"));
  CHECK_FALSE(contains(other, "cell = cho"));
  // Errors name their place.
  check_refused(corpus, "HEDDLE_PRETRAIN_ARCH=rnn:cell=foo " + train,
                {"pretrain: HEDDLE_PRETRAIN_ARCH: cell: 'foo' is not one of tanh"});
  check_refused(corpus, "HEDDLE_PRETRAIN_LAYERS=many " + train,
                {"pretrain: HEDDLE_PRETRAIN_LAYERS: 'many' is not a whole number"});
  write_file(corpus.path("wrong.ini"), "[arch]\nname = rnn\ncell = foo\n");
  check_refused(corpus, train + "--config wrong.ini", {"pretrain: wrong.ini:3: cell: 'foo' is not one of tanh"});
  write_file(corpus.path("wrong.ini"), "[arch]\nname = rnn\nmemory = 3\n");
  check_refused(corpus, train + "--config wrong.ini",
                {"pretrain: wrong.ini:3: memory: rnn has no key 'memory', which"});
  check_refused(corpus, "HEDDLE_PRETRAIN_ARCH=rnn:memory=3 " + train,
                {"pretrain: HEDDLE_PRETRAIN_ARCH: rnn has no key 'memory', which"});
  check_refused(corpus, train + "--arch rnn:memory=3", {"pretrain: --arch: rnn has no key 'memory', which"});
  write_file(corpus.path("wrong.ini"), "[optimizer]\n# of the default\nrho = 0.5\n");
  check_refused(corpus, train + "--config wrong.ini",
                {"pretrain: wrong.ini:3: rho: muon has no key 'rho', which is one of adadelta"});
  write_file(corpus.path("wrong.ini"), "heads = 3\nkv-heads = 2\n\n[arch]\nname = bilm\n");
  check_refused(corpus, train + "--config wrong.ini", {"pretrain: wrong.ini:1: heads: bilm has no key 'heads', which"});
  write_file(corpus.path("wrong.ini"), "[arch]\nname = bag\nheads = 3\n");
  check_refused(corpus, "finetune --train train.txt -o x.h5 --config wrong.ini",
                {"finetune: wrong.ini:3: heads: bag has no key 'heads', which"});
}

TEST_CASE("kinds: options and files of former names say what to write") {
  const SmallCorpus corpus;
  const std::string train = "pretrain --train train.h5 -o x.h5 ";
  for (const auto& [option, value, now] : std::vector<std::tuple<std::string, std::string, std::string>>{
           {"cell", "lstm", "--arch lstm:cell=NAME"},
           {"activation", "relu", "--arch decoder:activation=NAME"},
           {"embedding-width", "9", "--arch encoder:embedding-width=N"},
           {"beta2", "0.9", "--optimizer adamw:beta2=X"},
           {"momentum", "0.9", "--optimizer sgd:momentum=X"},
           {"final-learning-rate", "1e-4", "--schedule cosine:final=X"},
           {"mask-probability", "0.3", "--objective detect:probability=P"},
           {"noise-density", "0.3", "--objective denoise:density=P"},
           {"detection-weight", "3", "--objective detect:weight=X"},
           {"batch-tokens", "99", "--objective translate:batch-tokens=N"}}) {
    check_refused(corpus, train + "--" + option + " " + value, {"unknown option --" + option + "; write " + now});
    write_file(corpus.path("former.ini"), "# of a former version\n[Model]\n" + option + " = " + value + "\n");
    check_refused(corpus, train + "--config former.ini", {"former.ini:3: unknown option " + option + "; write " + now});
  }
  check_refused(corpus, train + "--gated", {"unknown option --gated; write --arch decoder:gated=true"});
  check_refused(corpus, train + "--no-bias", {"unknown option --no-bias; write --arch decoder:bias=false"});
  check_refused(corpus, train + "--random-roll", {"write --objective denoise:random-roll=true"});
  check_refused(corpus, "finetune --arch bag --train train.txt -o x.h5 --layers 2",
                {"unknown option --layers; write --arch decoder:layers=N"});
  for (const char* gone : {"--layer-decay 0.9", "--reset-layers 1", "--token-dropout 0.1", "--ema-decay 0.9"}) {
    check_refused(corpus, std::string("finetune --from m.h5 --train t.tsv -o x.h5 ") + gone, {"unknown option --"});
  }
}

TEST_CASE("kinds: a run of a former version cannot be continued, and its model is read") {
  const SmallCorpus corpus;
  corpus.must("pretrain -q --train train.h5 -o model.h5 --steps 2" + tiny_model);
  write_former(corpus, "model.h5", "former.h5", true);
  write_former(corpus, "model.h5", "x.checkpoint.h5", false);
  const std::string train = "pretrain --train train.h5 --steps 2" + tiny_model;
  const std::string says =
      ": is of a run of an earlier version of heddle, which cannot be continued; give -o another "
      "name, or --restart to train it anew with the same command";
  for (const std::string options : {"-o x.h5", "-o y.h5 --resume x.checkpoint.h5", "-o x.h5 --dry-run"}) {
    CAPTURE(options);
    CHECK(lines_in(corpus.refused(train + options, 1, "x.checkpoint.h5" + says).err) == 1);
  }
  corpus.refused(train + "-o y.h5 --resume former.h5", 1, "former.h5: is a finished model");
  for (const char* model : {"former.h5", "x.checkpoint.h5"}) {
    const std::string name = model;
    CHECK(corpus.must("generate -q -p 'the cat' --temperature 0 --max-tokens 5 " + name).out ==
          corpus.must("generate -q -p 'the cat' --temperature 0 --max-tokens 5 model.h5").out);
    CHECK(contains(corpus.must("inspect " + name).out, "decoder"));
    CHECK(contains(corpus.must("inspect verify " + name).out, "no problem"));
    corpus.must("inspect evaluate " + name + " valid.h5");
    write_file(corpus.path("texts.tsv"), "a\tthe cat\nb\tmy queen\n");
    corpus.must("finetune -q --restart --from " + name + " --train texts.tsv --steps 1 -o tuned.h5");
  }
  // As its output, it is replaced like the model of any other run.
  const Outcome again = corpus.must(train + "-o former.h5");
  CHECK(contains(again.err, "former.h5: is of a run of an earlier version of heddle"));
  CHECK(contains(again.err, "the new model will replace it"));
  CHECK(corpus.weights("former.h5") == corpus.weights("model.h5"));
  corpus.must(train + "-o x.h5 --restart");
}

TEST_CASE("kinds: defaults that help and --print-config tell are those of the tool") {
  const SmallCorpus corpus;
  const std::string pretrain = corpus.must("pretrain --help=all").out,
                    finetune = corpus.must("finetune --help=all").out;
  const auto entry = [](const std::string& help, const std::string& option) {
    const std::size_t begin = help.find("      --" + option + " ");
    REQUIRE(begin != std::string::npos);
    std::istringstream words(help.substr(begin, help.find("\n      --", begin + 1) - begin));
    std::string line;
    for (std::string word; words >> word;) line += " " + word;
    return line;
  };
  for (const auto& [option, of_pretrain, of_finetune] : std::vector<std::tuple<std::string, std::string, std::string>>{
           {"optimizer", "default: muon with decoder, encoder, encoder-decoder; else adamw (", "default adamw)"},
           {"schedule", "default: linear with decoder, encoder, encoder-decoder; else cosine (", "linear)"},
           {"weight-decay", "0.1)", "0.01)"},
           {"warmup", "4%)", "10%)"},
           {"steps", "2000)", "auto)"},
           {"batch-size", "12)", "16)"},
           {"learning-rate", "auto)", "auto)"},
           {"eval-every", "250)", "epoch)"}}) {
    CAPTURE(option);
    CHECK(contains(entry(pretrain, option), of_pretrain));
    CHECK(contains(entry(finetune, option), of_finetune));
  }
  const std::string config = corpus.must("finetune --from m.h5 --train t.tsv -o x.h5 --print-config").out;
  for (const char* line : {"# steps = auto", "# batch-size = 16", "# eval-every = epoch", "# beta2 = 0.999",
                           "# weight-decay = 0.01", "[schedule]\n# name = linear\n# warmup = 10%\n# final = 0\n"}) {
    CHECK_MESSAGE(contains(config, line), line);
  }
}

TEST_CASE("kinds: shells complete the settings of a name") {
  using Offers = std::vector<std::string>;
  const Shells shells(std::string(HEDDLE_TOOLS) + "/pretrain", "pretrain");
  CHECK(shells.bash("--arch rnn : cel") == Offers{"cell="});
  CHECK(shells.bash("--arch = rnn : cell = lstm,lay") == Offers{"lstm,layers="});
  CHECK(shells.bash("--optimizer adamw : bet") == Offers{"beta1=", "beta2="});
  CHECK(shells.bash("--optimizer ada") == Offers{"adadelta", "adagrad", "adam", "adamw"});
  if (is_there("fish")) {
    CHECK(shells.fish("pretrain --arch rnn:cel") == Offers{"rnn:cell="});
    CHECK(shells.fish("pretrain --schedule linear:warmup=3,fi") == Offers{"linear:warmup=3,final="});
  }
  if (is_there("zsh")) CHECK(shells.zsh("pretrain --arch rnn:cel") == "pretrain --arch rnn:cell=\n");
}

TEST_CASE("kinds: options are few and help is short") {
  const SmallCorpus corpus;
  CHECK(own_options(corpus, "pretrain").size() <= 50);
  CHECK(own_options(corpus, "finetune").size() <= 57);
  std::vector<std::string> tools{"tokenize", "pretrain", "finetune", "classify", "generate", "inspect", "convert"};
  const std::string verbs = corpus.must("inspect --help").out;
  std::size_t at = verbs.find("Verbs:\n");
  REQUIRE(at != std::string::npos);
  for (const std::string& line : lines_of(verbs.substr(at + 7))) {
    if (line.empty()) break;
    if (line[2] != ' ') tools.push_back("inspect " + line.substr(2, line.find(' ', 2) - 2));
  }
  CHECK(tools.size() > 20);
  for (const std::string& tool : tools) {
    CAPTURE(tool);
    CHECK(lines_in(corpus.must(tool + " --help").out) <= 60);
    CHECK(lines_in(corpus.must(tool + " --help=all").out) <= 170);
  }
}

}  // namespace kinds_tests

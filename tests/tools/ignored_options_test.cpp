// No option is ignored in silence: every option of a tool, beside every kind of model, task or format, is refused in a
// line that names it, or changes what the tool writes.
#include <algorithm>
#include <map>
#include <set>

#include "formats/heddle/content.hpp"
#include "tools/labelled_corpus.hpp"
#include "tools/option_list.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace ignored_options_tests {

namespace {

// Values unlike those of the commands below. Where `others` has an option, another test shows what it does, whatever
// the kind.
struct Walk {
  std::string tool;
  std::map<std::string, std::string> values;
  std::set<std::string> others;
};

// Inputs and outputs; how long a run goes on, what it reports, keeps and selects; what ends the others' part.
const std::set<std::string> control{"--train",   "--tasks",    "--valid",      "--output",      "--log",
                                    "--dry-run", "--json",     "--eval-every", "--eval-tokens", "--log-every",
                                    "--select",  "--patience", "--resume",     "--restart",     "--checkpoint-every",
                                    "--keep",    "--max-time", "--on-usr1",    "--metric",      "--steps",
                                    "--ranks"};

std::set<std::string> with(std::set<std::string> some, const std::set<std::string>& more) {
  some.insert(more.begin(), more.end());
  return some;
}

const Walk& pretraining() {
  static const Walk walk{"pretrain",
                         {{"--preset", "nano"},
                          {"--layers", "1"},
                          {"--width", "16"},
                          {"--heads", "1"},
                          {"--kv-heads", "1"},
                          {"--ffn-width", "24"},
                          {"--positions", "alibi"},
                          {"--context", "3"},
                          {"--attention", "performer:features=8"},
                          {"--vocab-size", "400"},
                          {"--sequence-length", "7"},
                          {"--dropout", "0.3"},
                          {"--optimizer", "sgd"},
                          {"--weight-decay", "7"},
                          {"--schedule", "constant"},
                          {"--warmup", "2"},
                          {"--precision", "bf16"},
                          {"--epochs", "0.5"},
                          {"--budget", "1e9flop"},
                          {"--batch-size", "3"},
                          {"--accumulate", "2"},
                          {"--learning-rate", "3e-2"},
                          {"--clip-norm", "1e-3"},
                          {"--ema-decay", "0.5"},
                          {"--label-smoothing", "0.3"},
                          {"--tensor-parallel", "2"}},
                         with(control, {"--arch", "--objective", "--tokenizer", "--documents"})};
  return walk;
}

const Walk& tuning() {
  static const Walk walk{"finetune",
                         {{"--tokenizer", "pieces.h5"},  {"--folds", "2"},
                          {"--overlong", "split"},       {"--pooling", "mean"},
                          {"--layer-mix", ""},           {"--class-weights", "auto"},
                          {"--auxiliary-weight", "0.5"}, {"--dropout", "0.3"},
                          {"--freeze", "embeddings"},    {"--marks", "remove"},
                          {"--text-column", "9"},        {"--label-column", "9"},
                          {"--header", "true"},          {"--lora-rank", "2"},
                          {"--optimizer", "sgd"},        {"--weight-decay", "7"},
                          {"--schedule", "constant"},    {"--warmup", "2"},
                          {"--precision", "bf16"},       {"--epochs", "2"},
                          {"--budget", "1e9flop"},       {"--batch-size", "3"},
                          {"--accumulate", "2"},         {"--learning-rate", "3e-2"},
                          {"--clip-norm", "1e-3"},       {"--label-smoothing", "0.3"},
                          {"--tensor-parallel", "2"}},
                         with(control, {"--from", "--arch", "--ensemble", "--task", "--format", "--bad-records",
                                        "--objective", "--fold", "--lora-alpha", "--lora-targets", "--lora-dropout"})};
  return walk;
}

const Walk& generation() {
  static const Walk walk{"generate",
                         {{"--stop", " "},
                          {"--num-samples", "2"},
                          {"--answer-after", "e"},
                          {"--stream", ""},
                          {"--top", "2"},
                          {"--kv-cache", "bf16"},
                          {"--jsonl", ""},
                          {"--max-tokens", "2"},
                          {"--no-repeat-ngram-size", "1"},
                          {"--min-tokens", "9"},
                          {"--temperature", "3"},
                          {"--top-k", "2"},
                          {"--top-p", "0.3"},
                          {"--min-p", "0.5"},
                          {"--repetition-penalty", "3"},
                          {"--beam", "2"},
                          {"--length-penalty", "3"},
                          {"--coverage-penalty", "3"},
                          {"--n-best", "2"}},
                         {"--output", "--base", "--prompt", "--score", "--evaluate", "--json", "--batch-size",
                          "--overlong", "--stream", "--kv-cache", "--precision", "--verify"}};
  return walk;
}

const Walk& answers() {
  static const Walk walk{"classify",
                         {{"--top", "2"},
                          {"--threshold", "0.99"},
                          {"--raw", ""},
                          {"--jsonl", ""},
                          {"--metric", "macro-f1"},
                          {"--folds", "2"},
                          {"--fold", "2"},
                          {"--max-answer-length", "1"},
                          {"--null-threshold", "-100"},
                          {"--text-column", "9"},
                          {"--label-column", "9"},
                          {"--header", "true"},
                          {"--labels", "a,b"},
                          {"--template", "{} is"},
                          {"--label-score", "mean"},
                          {"--neutral", "N"}},
                         {"--output", "--base", "--baseline", "--evaluate", "--json", "--batch-tokens", "--overlong",
                          "--precision", "--format", "--bad-records"}};
  return walk;
}

const Walk& tokenizers() {
  static const Walk walk{"tokenize",
                         {{"--pieces", ""},
                          {"--offsets", ""},
                          {"--jsonl", ""},
                          {"--decode", ""},
                          {"--check", ""},
                          {"--pairs", ""},
                          {"--source-tokenizer", "pieces.h5"},
                          {"--documents", "line"},
                          {"--compress", ""},
                          {"--vocab-size", "270"},
                          {"--min-frequency", "1000"},
                          {"--no-byte-fallback", ""},
                          {"--cased", ""},
                          {"--marks", "remove"},
                          {"--end-of-text", "<end>"},
                          {"--unknown", "<none>"},
                          {"--special-tokens", "<more>"},
                          {"--sentinels", "3"}},
                         {"--train", "--tokenizer", "--output", "--model", "--invalid", "--bad-records", "--special"}};
  return walk;
}

// Results of a command: the weights of a model or the content of another file, and its output.
std::string left_by(const std::string& output, const Outcome& outcome) {
  std::string left = outcome.out + '\0' + outcome.err + '\0';
  if (!std::filesystem::exists(output)) return left;
  if (!read_file(output).starts_with("\x89HDF")) return left + read_file(output);
  const formats::FileKind kind = formats::kind_of(output);
  if (kind != formats::FileKind::model && kind != formats::FileKind::adapter) {
    return left + formats::content_checksum(formats::InputFile(output));
  }
  for (const formats::NamedTensor& tensor : formats::ModelFile(output, kind).weights().read()) {
    const std::vector<float> elements = tensor.value.elements();
    left += tensor.name;
    left.append(reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(float));
  }
  return left;
}

using Options = std::map<std::string, std::string>;

std::string command_of(const std::string& beginning, const Options& options) {
  std::string command = beginning;
  for (const auto& [name, value] : options) command += " " + name + (value.empty() ? "" : "='" + value + "'");
  return command;
}

// Runs the command with each option of the walk in turn: each must be refused by name, or change what is left.
void walk_beside(const SmallCorpus& corpus, const Walk& walk, const std::string& beginning, const Options& base,
                 const std::set<std::string>& unused = {}) {
  const auto run = [&](const std::string& command) {
    std::filesystem::remove(corpus.path("out.h5"));
    return corpus.run(command);
  };
  const std::string first = command_of(walk.tool + " -q " + beginning, base);
  CAPTURE(first);
  const Outcome plain = run(first);
  CAPTURE(plain.err);
  REQUIRE(plain.status == 0);
  const std::string left = left_by(corpus.path("out.h5"), plain);
  for (const auto& [name, value] : walk.values) {
    if (unused.contains(name)) continue;
    Options options = base;
    options[name] = value;
    if (name == "--epochs") options.erase("--steps");
    const Outcome outcome = run(command_of(walk.tool + " -q " + beginning, options));
    CAPTURE(name + " " + value);
    CAPTURE(outcome.err);
    // Messages about a line of a file name what it lacks.
    const std::string word = name == "--header" ? "column" : name.substr(name.find_last_of('-') + 1);
    if (outcome.status == 0) {
      CHECK(left_by(corpus.path("out.h5"), outcome) != left);
    } else {
      REQUIRE_FALSE(outcome.err.empty());
      const std::string last = lines_of(outcome.err).back();
      CHECK((contains(last, name) || contains(last, " " + word)));
    }
  }
}

}  // namespace

TEST_CASE("ignored options: the walk has every option of these tools") {
  const SmallCorpus corpus;
  for (const Walk* const walk : {&pretraining(), &tuning(), &generation(), &answers(), &tokenizers()}) {
    CAPTURE(walk->tool);
    std::set<std::string> known = walk->others;
    for (const auto& [name, value] : walk->values) known.insert(name);
    for (const std::string& name : own_options(corpus, walk->tool)) CHECK_MESSAGE(known.erase(name) == 1, name);
    for (const std::string& name : known) CHECK_MESSAGE(control.contains(name), name, " is no option");
  }
}

TEST_CASE("ignored options: pretrain, beside every architecture") {
  const EncoderCorpus corpus;
  corpus.must("tokenize -q -t pieces.h5 --pairs -o pairs.h5 train.txt train.txt");
  const Options base{{"--steps", "4"}, {"--batch-size", "4"}, {"--layers", "2"}, {"--width", "32"}};
  for (const std::string arch : {"decoder", "encoder", "two-stream", "lstm", "bilm", "encoder-decoder", "rnn"}) {
    const bool reads_pairs = arch == "encoder-decoder" || arch == "rnn";
    Options options = base;
    if (!reads_pairs) options["--sequence-length"] = "16";
    walk_beside(corpus, pretraining(),
                "--arch " + arch + " --train " + (reads_pairs ? "pairs.h5" : "train.h5") + " -o out.h5", options);
  }
}

namespace {

// Labelled files in which every option has something to act on: classes of unequal size, texts that are longer than the
// context, marks that only some scripts have, numbers, questions; and models for them.
struct Everything : Labelled {
  Everything() {
    begin_with("everything", [&] { write(); });
  }

 private:
  void write() const {
    std::string texts, numbers, pairs, objects;
    for (int i = 0; i < 24; ++i) {
      const bool is_rare = i % 4 == 0;
      const std::string label = is_rare ? "rare" : "usual", word = is_rare ? "cat" : "queen";
      const std::string text = "the " + word + " forgets a " + (i % 5 == 0 ? "कुल" : "कल") + " dog" +
                               (i % 3 == 0 ? repeated(" and my old king", 9) : "");
      texts += label + "\t" + text + "\n";
      numbers += std::to_string(i % 5) + "\t" + text + "\n";
      pairs += label + "\t" + text + "\tthe dog sees " + word + "\n";
      objects += json{{"label", label}, {"text", text}}.dump() + "\n";
    }
    write_file(path("texts.tsv"), texts);
    write_file(path("numbers.tsv"), numbers);
    write_file(path("pairs.tsv"), pairs);
    write_file(path("texts.jsonl"), objects);
    std::string tags;
    for (int i = 0; i < 12; ++i) {
      tags += "the\tDET\n" + repeated("queen\tNOUN\nकुल\tNOUN\n", i % 2 == 0 ? 9 : 1) + "कल\tVERB\n\n";
    }
    write_file(path("tags.conll"), tags);
    must("cut -f2 texts.tsv > lines.txt; (echo label,text; tr '\\t' , < texts.tsv) > texts.csv");
    json paragraphs;
    for (int i = 0; i < 6; ++i) {
      const json answer{{"text", i % 2 == 0 ? "queen" : "king"}, {"answer_start", i % 2 == 0 ? 8 : 19}};
      paragraphs.push_back({{"context", "the old queen sees king, a dog and the cat"},
                            {"qas", {{{"id", std::to_string(i)}, {"question", "who sees?"}, {"answers", {answer}}}}}});
    }
    write_file(path("questions.json"), json{{"data", {{{"title", ""}, {"paragraphs", paragraphs}}}}}.dump());
    must("tokenize -q --train --model wordpiece --vocab-size 200 -o pieces.h5 train.txt");
    must("pretrain -q -t pieces.h5 --train train.txt -o encoder.h5 --steps 2 --optimizer adamw" + tiny_encoder);
  }
};

struct LabelledCase {
  std::string task, model, data;
};

const std::vector<LabelledCase>& labelled_cases() {
  static const std::vector<LabelledCase> cases{
      {"classify", "--arch bag", "texts.tsv"},      {"label", "--arch bag", "tags.conll"},
      {"classify", "--arch lstm", "texts.csv"},     {"classify", "--from model.h5", "texts.jsonl"},
      {"pair", "--from encoder.h5", "pairs.tsv"},   {"regress", "--from model.h5", "numbers.tsv"},
      {"label", "--from encoder.h5", "tags.conll"}, {"span", "--from encoder.h5", "questions.json"},
      {"lm", "--from model.h5", "train.txt"}};
  return cases;
}

}  // namespace

namespace {

// With values that are not the defaults of the file: only CSV has a header, and its texts and questions are short
// enough for the models that read them.
Walk suited(Walk walk, const std::string& data) {
  if (data.ends_with(".csv")) walk.values["--header"] = "false";
  if (data.ends_with(".json") || data.ends_with(".csv")) walk.values.erase("--overlong");
  return walk;
}

}  // namespace

TEST_CASE("ignored options: finetune, beside every task and format of labelled data") {
  const Everything corpus;
  for (const auto& [task, model, data] : labelled_cases()) {
    Walk walk = suited(tuning(), data);
    if (contains(model, "encoder")) walk.values["--pooling"] = "first";  // the mean is the default
    walk_beside(corpus, walk, model + " --task " + task + " --train " + data + " -o out.h5",
                {{"--steps", "3"}, {"--batch-size", "4"}});
  }
}

TEST_CASE("ignored options: classify, beside every task and format of labelled data") {
  const Everything corpus;
  int number = 0;
  for (const auto& [task, model, data] : labelled_cases()) {
    if (task == "lm") continue;
    const std::string name = "tuned" + std::to_string(++number) + ".h5";
    corpus.must("finetune -q " + model + " --task " + task + " --train " + data + " -o " + name +
                " --steps 3 --batch-size 4");
    walk_beside(corpus, suited(answers(), data), name + " " + data + " --evaluate", {});
  }
  walk_beside(corpus, answers(), "tuned1.h5 lines.txt", {});
}

TEST_CASE("ignored options: generate, beside every kind of model") {
  const Everything corpus;
  corpus.must("tokenize -q -t pieces.h5 --pairs -o pairs.h5 train.txt train.txt");
  corpus.must("tokenize -q -t pieces.h5 -o train.h5 train.txt");
  write_file(corpus.path("masks.txt"), "the [MASK] sees a [MASK].\n");
  write_file(corpus.path("prompts.txt"), "the cat\nmy queen\n");
  for (const std::string arch : {"decoder", "encoder", "lstm", "encoder-decoder", "rnn"}) {
    const bool reads_pairs = arch == "encoder-decoder" || arch == "rnn", fills = arch == "encoder";
    corpus.must(
        "pretrain -q --arch " + arch + " --train " + (reads_pairs ? "pairs.h5" : "train.h5") +
        " -o made.h5 --restart --steps 30 --layers 1 --width 32 --batch-size 4 --optimizer adamw --learning-rate 1e-2");
    const std::string beginning = std::string("made.h5 --jsonl ") + (fills ? "masks.txt" : "prompts.txt");
    walk_beside(corpus, generation(), beginning, fills ? Options{} : Options{{"--max-tokens", "6"}}, {"--jsonl"});
    const std::set<std::string> unused{"--jsonl", "--beam"};
    if (!fills)
      walk_beside(corpus, generation(), beginning, {{"--max-tokens", "6"}, {"--beam", "3"}, {"--n-best", "3"}}, unused);
  }
}

TEST_CASE("ignored options: tokenize, beside every kind of tokenizer and of output") {
  const SmallCorpus corpus;
  corpus.must("tokenize -q --train --model wordpiece --vocab-size 200 -o pieces.h5 train.txt");
  corpus.must("(cat train.txt; printf 'él कुल a dog\\n\\n\\n\\nmy queen\\n\\n\\n\\n') > parts.txt");
  for (const std::string model : {"bpe", "byte", "char", "word", "wordpiece", "unigram"}) {
    // Line ends and letters of one byte are no pieces of char, but bytes.
    const auto unused = model == "char" ? std::set<std::string>{"--documents"} : std::set<std::string>{};
    walk_beside(corpus, tokenizers(), "--train --model " + model + " -o out.h5 parts.txt", {}, unused);
  }
  walk_beside(corpus, tokenizers(), "-t tokenizer.h5 train.txt", {});
  // The same tokens, whichever way they are stored; and pairs have other lines.
  walk_beside(corpus, tokenizers(), "-t tokenizer.h5 -o out.h5 train.txt", {}, {"--compress", "--pairs"});
}

}  // namespace ignored_options_tests

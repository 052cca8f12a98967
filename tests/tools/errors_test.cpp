// Messages about files that tools cannot read: which, where, and what to do; and that damage is noticed.
#include "formats/heddle/load_model.hpp"
#include "formats/huggingface/load_tokenizer.hpp"
#include "libcore/models/task.hpp"
#include "tools/small_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace errors_tests {

namespace {

const std::string tiny = " --layers 1 --width 16 --heads 2 --context 16 --batch-size 2 --steps 2 ";

// An encoder, and models that were made of it for a task.
struct Tuned : SmallCorpus {
  Tuned() {
    must("tokenize -q --train --model wordpiece --vocab-size 200 -o pieces.h5 train.txt");
    must("tokenize -q -t pieces.h5 -o masked.h5 train.txt");
    must("pretrain -q --train masked.h5 -o encoder.h5 --arch encoder" + tiny);
    write_file(path("texts.tsv"), "cat\tthe cat\nking\tthe king\n");
  }
  void refused(const std::string& command, const std::string& message) const {
    CAPTURE(command);
    const Outcome outcome = run(command);
    CAPTURE(outcome.err);
    CHECK(outcome.status == 1);
    CHECK(contains(outcome.err, message));
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
  }
};

// The file again, with a bit of its last weights changed.
void flip_a_bit(const SmallCorpus& corpus, const std::string& name, const std::string& as, formats::FileKind kind) {
  std::string bytes = read_file(corpus.path(name));
  bytes[static_cast<std::size_t>(formats::ModelFile(corpus.path(name), kind).weights().tensors().back().offset)] ^= 1;
  write_file(corpus.path(as), bytes);
}

}  // namespace

TEST_CASE("convert --merge: damage of the adapter or of its base is found before it gets a new checksum") {
  const Tuned corpus;
  corpus.must("finetune -q --from encoder.h5 --train texts.tsv -o adapter.h5 --lora-rank 2");
  corpus.must("convert -q adapter.h5 --merge -o whole.h5");
  flip_a_bit(corpus, "adapter.h5", "bad.h5", formats::FileKind::adapter);
  corpus.refused("convert bad.h5 --merge -o x.h5", "the checksum does not match");
  flip_a_bit(corpus, "encoder.h5", "encoder.h5", formats::FileKind::model);
  corpus.refused("convert adapter.h5 --merge -o x.h5", "the checksum does not match");
  CHECK_FALSE(std::filesystem::exists(corpus.path("x.h5")));
}

TEST_CASE("classify: a tokenizer with more pieces than the model has embeddings is refused") {
  const Tuned corpus;
  corpus.must("finetune -q --from encoder.h5 --train texts.tsv -o tuned.h5");
  const formats::ModelFile tuned(corpus.path("tuned.h5"));
  formats::ModelWriter writer(corpus.path("mixed.h5"));
  writer.config(tuned.config<models::ModelConfig>());
  writer.tokenizer(formats::load_tokenizer(corpus.path("tokenizer.h5")).model());
  writer.part("task", tuned.part<models::TaskConfig>("task"));
  writer.weights(tuned.weights().read());
  writer.commit(formats::start_provenance("test"));
  corpus.refused("echo cat | classify mixed.h5", "mixed.h5: a tokenizer of 300 pieces with a model of");
}

TEST_CASE("classify: labels that no task has are the file's damage, for inspect verify, too") {
  const Tuned corpus;
  corpus.must("finetune -q --from encoder.h5 --train texts.tsv -o tuned.h5");
  const formats::ModelFile tuned(corpus.path("tuned.h5"));
  auto task = tuned.part<models::TaskConfig>("task");
  REQUIRE(task.labels.size() == 2);
  task.labels[1] = task.labels[0];
  formats::ModelWriter writer(corpus.path("forged.h5"));
  writer.config(tuned.config<models::ModelConfig>());
  writer.tokenizer(tuned.tokenizer_model());
  writer.part("task", task);
  writer.weights(tuned.weights().read());
  writer.commit(formats::start_provenance("test"));
  const std::string twice = "forged.h5: /task/labels: the label '" + task.labels[0] + "' comes twice";
  corpus.refused("echo cat | classify forged.h5", twice);
  corpus.refused("inspect forged.h5", twice);
  const Outcome verified = corpus.run("inspect verify forged.h5");
  CHECK(verified.status == 1);
  CHECK(contains(verified.out, twice));
}

TEST_CASE("convert: an encoder that no directory can hold is compared with encoders") {
  const Tuned corpus;
  corpus.refused("convert encoder.h5 -o hf/", "bert has no ");
  corpus.refused("convert encoder.h5 -o hf/", "; write a heddle file: -o NAME.h5");
}

TEST_CASE("text inputs: a file of heddle's own is refused by its kind") {
  const Tuned corpus;
  corpus.must("finetune -q --from encoder.h5 --train texts.tsv -o tuned.h5");
  for (const char* command :
       {"classify tuned.h5 masked.h5", "generate encoder.h5 masked.h5", "inspect embed encoder.h5 masked.h5 -o x.h5",
        "tokenize --train -o x.h5 masked.h5", "tokenize -t pieces.h5 masked.h5",
        "finetune --from encoder.h5 --train masked.h5 -o x.h5"}) {
    corpus.refused(command, "masked.h5: is a token file; text is needed");
  }
  corpus.refused("tokenize -t pieces.h5 < masked.h5", "standard input: is an HDF5 file; text is needed");
}

TEST_CASE("inspect evaluate: the message names the file that is wrong, and what to do") {
  const Tuned corpus;
  corpus.must("head -n 4 train.txt > some.txt; tokenize -q -t pieces.h5 --pairs -o pairs.h5 some.txt some.txt");
  corpus.must("pretrain -q --train pairs.h5 --arch encoder-decoder -o both.h5" + tiny);
  corpus.refused("inspect evaluate encoder.h5 pairs.h5",
                 "encoder.h5: its objective, masked, reads text; evaluate it on a token file");
  corpus.refused(
      "inspect evaluate both.h5 masked.h5",
      "both.h5: its objective, translate, reads pairs; evaluate it on a pairs file, or with --objective denoise");
  corpus.refused("inspect evaluate encoder.h5 train.txt",
                 "train.txt: is plain text, not a heddle file; encode text with the model's tokenizer: tokenize -t "
                 "encoder.h5 -o tokens.h5 TEXT");
  corpus.refused("finetune --from encoder.h5 --task translate --train pairs.h5 -o x.h5",
                 "encoder.h5: is of the architecture encoder; --task translate needs a sequence-to-sequence model");
}

TEST_CASE("tokenizers: text that is read as a vocabulary is not only a repeated piece") {
  const Tuned corpus;
  write_file(corpus.path("text.txt"), "a line\nanother\na line\n");
  for (const char* command : {"tokenize -t text.txt train.txt", "inspect text.txt", "convert text.txt -o x.h5"}) {
    corpus.refused(
        command, "is already in line 1; the file was read as BERT's vocab.txt, one piece per line: is it plain text?");
  }
}

TEST_CASE("convert: a model whose context is that of its training windows can be written as a directory") {
  const Tuned corpus;
  corpus.must(
      "pretrain -q --train train.h5 -o decoder.h5 --layers 1 --width 16 --heads 2 --sequence-length 16 --positions "
      "learned "
      "--steps 2");
  corpus.must("convert -q decoder.h5 -o hf/");
  CHECK(contains(read_file(corpus.path("hf/config.json")), "\"n_positions\": 16"));
}

TEST_CASE("classify: a tab in a .tsv file without --text-column is reported once") {
  const Tuned corpus;
  corpus.must("finetune -q --from encoder.h5 --train texts.tsv -o tuned.h5");
  corpus.must("sed 's/^/x/' texts.tsv > others.tsv");
  const std::string warning =
      "warning: others.tsv:1: the whole line, with its tab, is the text; --text-column reads one column\n";
  CHECK(corpus.must("classify tuned.h5 others.tsv").err == "classify: " + warning);
  CHECK(corpus.must("classify tuned.h5 texts.tsv --text-column 2").err.empty());
  CHECK(corpus.must("classify tuned.h5 < others.tsv").err.empty());
}

TEST_CASE("errors: what repeats a very long value has its beginning and its end") {
  const SmallCorpus corpus;
  write_file(corpus.path("long.tsv"), std::string(100000, 'x') + "\tthe text\n");
  const Outcome outcome = corpus.run("finetune --arch bag --task regress --train long.tsv -o x.h5");
  CHECK(outcome.status == 1);
  CHECK(outcome.err.starts_with("finetune: long.tsv:1: "));
  CHECK(contains(outcome.err, "xxx … xxx"));
  CHECK(outcome.err.size() < 10000);
}

TEST_CASE(
    "finetune: nothing is announced before the options are valid, and the log of another run is not lost silently") {
  const Tuned corpus;
  const std::string command = "finetune --from encoder.h5 --train texts.tsv -o tuned.h5 --log log.jsonl ";
  corpus.must(command);
  CHECK(corpus.run(command + "--steps 3 --freeze nothing --dry-run").status == 2);
  const Outcome wrong = corpus.run(command + "--steps 3 --freeze nothing");
  CHECK(wrong.status == 2);
  CHECK(contains(wrong.err, "--freeze: 'nothing' matches no part of the model"));
  CHECK_FALSE(contains(wrong.err, "will replace it"));
  const Outcome other = corpus.must(command + "--steps 3");
  CHECK(contains(other.err, "the new model will replace it"));
  CHECK(contains(other.err, "log.jsonl: replacing the log of an earlier run"));
  corpus.must("rm log.jsonl");
  CHECK_FALSE(contains(corpus.must(command + "--steps 4").err, "replacing the log"));
}

TEST_CASE("inspect embed: an input without text is reported by its name") {
  const Tuned corpus;
  corpus.refused("inspect embed encoder.h5 -o x.h5 < /dev/null",
                 "standard input: has no text to embed; give texts, one per line");
  corpus.refused(": > none.txt; inspect embed encoder.h5 -o x.h5 none.txt", "none.txt: has no text to embed");
}

TEST_CASE("classify: line ends of the input, \\n or \\r\\n, are those of the output's lines or of none") {
  const Tuned corpus;
  write_file(corpus.path("tags.conll"), "the\tDET\r\ncat\tNOUN\r\n\r\nthe\tDET\r\nking\tNOUN\r\n");
  corpus.must(
      "finetune -q --from encoder.h5 --task label --train tags.conll -o tagger.h5 && cut -f1 tags.conll > words.txt");
  for (const char* options : {"", " --jsonl"}) {
    const std::string out =
        corpus.must("printf 'the\\r\\ncat\\r\\n\\r\\nking\\r' | classify tagger.h5" + std::string(options)).out;
    CHECK_FALSE(contains(out, "\r"));
    CHECK(out == corpus.must("printf 'the\\ncat\\n\\nking\\n' | classify tagger.h5" + std::string(options)).out);
  }
}

}  // namespace errors_tests

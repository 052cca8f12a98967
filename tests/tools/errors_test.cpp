// What tools say of files that they cannot take: which, where, and what to do; and that damage does not go by unseen.
#include "heddle/formats/heddle/load_model.hpp"
#include "heddle/formats/heddle/tokenizer_file.hpp"
#include "heddle/models/task.hpp"
#include "tools/small_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;

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

TEST_CASE("convert: an encoder that no directory can hold is compared with encoders") {
  const Tuned corpus;
  corpus.refused("convert encoder.h5 -o hf/", "bert has no ");
  corpus.refused("convert encoder.h5 -o hf/", "give -o the name of a model file");
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

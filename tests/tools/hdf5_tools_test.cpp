// Files of every kind pass through the programs of others: HDF5's own tools, with and without filters, h5py and
// PyTables, where these are installed.
#include "formats/heddle/file.hpp"
#include "support/skips.hpp"
#include "tools/labelled_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace hdf5_tools_tests {

namespace {

// A file of each kind, by the name that the kind has.
struct EveryKind : Labelled {
  EveryKind() {
    begin_with("every kind", [&] { write(); });
  }

  static std::vector<std::string> names() {
    std::vector<std::string> names;
    for (const auto& [kind, name] : Names<formats::FileKind>::list) names.push_back(std::string(name) + ".h5");
    for (const char* const other : {"compressed.h5", "bf16.h5", "int8.h5", "maps.h5", "tuned.h5"}) {
      names.emplace_back(other);
    }
    return names;
  }

 private:
  void write() const {
    must(
        "tokenize -q -t tokenizer.h5 -o tokens.h5 train.txt; tokenize -q -t tokenizer.h5 --compress -o compressed.h5 "
        "train.txt; tokenize -q -t tokenizer.h5 --pairs -o pairs.h5 train.txt train.txt");
    must("convert model.h5 -o bf16.h5 --dtype bf16; convert model.h5 -o int8.h5 --dtype int8");
    for (const char* const more : {"-o tuned.h5", "-o other.h5 --seed 2", "-o adapter.h5 --lora-rank 2"}) {
      must("finetune -q --from model.h5 --train texts.tsv --steps 2 " + std::string(more));
    }
    must("finetune -q --ensemble tuned.h5,other.h5 --valid texts.tsv -o ensemble.h5");
    must(
        "printf 'id,kind,other,size,label\\n1,a,x,2,p\\n2,b,x,3,q\\n3,,y,4,p\\n' > nodes.csv; printf "
        "'source,target,length\\n1,2,1.5\\n2,3,2\\n' > edges.csv; convert -q --nodes nodes.csv --edges edges.csv -o "
        "graphs.h5");
    must("inspect embed model.h5 valid.txt -o tensors.h5; inspect attention model.h5 'the cat' -o maps.h5");
  }
};

bool has(const SmallCorpus& corpus, const std::string& command) {
  const bool runs = corpus.run(command + " >/dev/null 2>&1").status == 0;
  if (!runs) skipped("`" + command + "` does not run here");
  return runs;
}

}  // namespace

TEST_CASE("HDF5's tools: files of every kind are repacked with any filter, compared, counted and copied") {
  const EveryKind corpus;
  if (!has(corpus, "h5repack --version")) return;
  for (const std::string& name : EveryKind::names()) {
    CAPTURE(name);
    corpus.must("h5stat " + name + " > stat.txt");
    for (const char* const options : {"-f SHUF -f GZIP=1 -L", "-f FLET", "-l CHUNK=3"}) {
      CAPTURE(options);
      corpus.must("rm -f again.h5; h5repack " + std::string(options) + " " + name + " again.h5");
      CHECK(corpus.must("h5diff " + name + " again.h5").out.empty());
      corpus.must("inspect verify --trust again.h5");
      if (name != "tensors.h5" && name != "maps.h5") {  // inspect diff leaves these to h5diff
        CHECK(contains(corpus.must("inspect diff --trust " + name + " again.h5").out, "the same content"));
      }
      // Without trust, what heddle does not write is refused with the way to read it.
      if (const Outcome outcome = corpus.run("inspect verify again.h5"); outcome.status != 0) {
        CHECK(contains(outcome.out + outcome.err, "which heddle does not write; --trust reads"));
      }
    }
  }
  corpus.must("h5copy -i model.h5 -o part.h5 -s /weights -d /weights && h5diff model.h5 part.h5 /weights /weights");
}

TEST_CASE("h5py and PyTables read and change files of every kind") {
  const EveryKind corpus;
  if (!has(corpus, "/usr/bin/python3 -c 'import h5py, tables'")) return;
  write_file(corpus.path("read.py"), R"(
import sys, h5py, tables
for name in sys.argv[1:]:
    with h5py.File(name) as file:
        parts = []
        file.visititems(lambda path, part: parts.append((path, part[()] if isinstance(part, h5py.Dataset) else None)))
        arrays = sum(value is not None for path, value in parts)
        assert file.attrs["format"] == b"heddle"
    with tables.open_file(name) as file:
        assert sum(1 for node in file.walk_nodes("/", "Leaf") if node.read() is not None) == arrays, name
    with h5py.File(name, "r+") as file:
        file["provenance"].move("command_line", "moved")
        file["provenance"].move("moved", "command_line")
print("all read")
)");
  std::string names;
  for (const std::string& name : EveryKind::names()) names += " " + name;
  CHECK(corpus.must("/usr/bin/python3 read.py" + names).out == "all read\n");
  for (const std::string& name : EveryKind::names()) corpus.must("inspect verify --trust " + name);
}

}  // namespace hdf5_tools_tests
